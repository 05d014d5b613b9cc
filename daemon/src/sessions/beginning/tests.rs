//! Beginnings of messages, and of what looks like one.

use super::Beginning;

fn read(head: &str) -> (Option<String>, bool) {
    let Beginning { id, is_answer } = Beginning::of(head.as_bytes());
    (id, is_answer)
}

#[test]
fn k08_only_what_stands_in_the_message_itself_counts() {
    let three = Some("3".to_owned());
    assert_eq!(read(r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"te"#), (three.clone(), true));
    assert_eq!(read(r#" { "id" : "3" , "result" : { "id": 9"#), (three, true));
    assert_eq!(read(r#"{"result":{"content":[{"text":"\"},\"id\":7,"#), (None, true));
    assert_eq!(read(r#"{"result":{"id":7,"content":[1,{"id":8}]},"jsonrpc":"2"#), (None, true));
    assert_eq!(read(r#"{"method":"notifications/message","params":{"id":7,"data":"aa"#), (None, false));
    assert_eq!(read(r#"{"id":4,"method":"ping","params":{"#), (None, false));
    for junk in ["", "aaaa", "[{\"id\":3", "{id:3", "\u{fffd}{\"id\":3"] {
        assert_eq!(read(junk), (None, false), "{junk}");
    }
}
