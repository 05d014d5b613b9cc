//! The reading thread, over a pipe in the place of a terminal.

use std::io::Write;

use super::*;

#[tokio::test]
async fn a_line_that_came_before_the_question_is_no_answer_to_it() {
    let (reader, mut writer) = io::pipe().unwrap();
    let mut terminal = Terminal::reading(BufReader::new(reader), || {});
    {
        let mut first = terminal.next();
        assert!(futures::poll!(&mut first).is_pending());
    }
    writer.write_all(b"too late\n").unwrap();
    // The line has arrived when the reading thread has handed it over.
    while terminal.lines.is_empty() {
        tokio::task::yield_now().await;
    }
    terminal.forget();
    writer.write_all(b"in time\n").unwrap();
    assert_eq!(terminal.next().await.as_deref(), Some("in time\n"));
    drop(writer);
    assert_eq!(terminal.next().await, None);
}
