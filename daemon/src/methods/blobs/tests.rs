//! Parts of payloads as clients get them.

use super::*;

fn part(bytes: &[u8]) -> (Option<String>, Option<String>) {
    let part = as_text_or_data(bytes.to_vec(), 9);
    (part.text, part.data)
}

#[test]
fn a_part_is_text_unless_it_is_none() {
    assert_eq!(part("grün".as_bytes()), (Some("grün".to_owned()), None));
    assert_eq!(part(b""), (Some(String::new()), None));
    assert_eq!(part(&[0xFF, 0xFE]), (None, Some("//4=".to_owned())));
}

#[test]
fn a_character_that_is_cut_at_the_end_belongs_to_the_next_part() {
    let thread = "a🧵".as_bytes();
    assert_eq!(part(&thread[..4]), (Some("a".to_owned()), None));
    assert_eq!(part(&thread[1..]), (Some("🧵".to_owned()), None));
    assert_eq!(part(&thread[2..]), (None, Some("n6e1".to_owned())), "whoever begins within one gets bytes");
    assert_eq!(part(&thread[1..3]), (None, Some("8J8=".to_owned())), "and so does who asks for less than one");
}
