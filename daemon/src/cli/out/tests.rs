//! What is written while a question stands at the terminal.

use super::testing::captured;

#[test]
fn nothing_is_written_into_a_question_and_nothing_is_lost() {
    let (out, stdout, stderr) = captured(true);
    out.hold();
    out.print("answer");
    out.note("note");
    out.say_now("question ");
    assert_eq!((stdout.text(), stderr.text()), (String::new(), "question ".to_owned()));
    out.release();
    assert_eq!((stdout.text(), stderr.text()), ("answer".to_owned(), "question note\n".to_owned()));
    out.release();
    out.print("!");
    assert_eq!(stdout.text(), "answer!");
}

#[test]
fn what_is_held_back_has_a_bound() {
    let (out, stdout, _) = captured(true);
    out.hold();
    out.print(&"x".repeat(super::HELD_BYTES));
    assert_eq!(stdout.text(), "");
    out.print("y");
    assert_eq!(stdout.text(), "y");
}
