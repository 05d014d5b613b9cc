//! What a terminal is shown of text others wrote.

use super::*;

#[test]
fn nothing_in_a_text_steers_the_terminal() {
    assert_eq!(printable("a\x1b[2Jb\u{9b}1mc\rd"), "a\\u{1b}[2Jb\\u{9b}1mc\\u{d}d");
    assert_eq!(printable("safe\u{202e}txt.exe"), "safe\\u{202e}txt.exe");
    assert_eq!(printable("two\nlines\tand a tab: ü 🔔"), "two\nlines\tand a tab: ü 🔔");
}

#[test]
fn a_line_stays_a_line_and_is_cut_with_a_sign() {
    assert_eq!(one_line("a\n  b\tc", 10), "a b c");
    assert_eq!(one_line("abcdef", 4), "abc…");
    assert_eq!(one_line("abcd", 4), "abcd");
}

#[test]
fn numbers_are_said_in_units_people_use() {
    assert_eq!(duration(Some(900_000)), "15 min");
    assert_eq!(duration(Some(2_000)), "2 s");
    assert_eq!(duration(Some(1_500)), "1500 ms");
    assert_eq!(duration(None), "never");
    assert_eq!(bytes(1_610_612_736), "1.5 GiB");
    assert_eq!(bytes(12), "12 bytes");
    let at = Timestamp::from_millis;
    assert_eq!(ago(at(0), at(59_999)), "just now");
    assert_eq!(ago(at(0), at(7_200_000)), "2 h ago");
}

#[test]
fn columns_of_a_table_are_aligned_and_lines_have_no_blanks_at_their_ends() {
    let rows = [vec!["id".to_owned(), "name".to_owned()], vec!["12345".to_owned(), String::new()]];
    assert_eq!(table(&rows), "id     name\n12345\n");
}
