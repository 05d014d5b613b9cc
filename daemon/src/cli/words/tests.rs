//! Spelling there and back.

use ropewalk_protocol::{PolicyLevel, Provider};

use super::*;

#[test]
fn words_of_the_wire_have_one_spelling_here() {
    assert_eq!(spelled(&Provider::OpenaiCompatible), "openai-compatible");
    assert_eq!(spelled(&PolicyLevel::Global), "global");
    assert_eq!(camel_case("openai-compatible"), "openaiCompatible");
}

#[test]
fn a_number_may_be_left_unlimited() {
    assert_eq!(number_or_never("never"), Ok(Patch::Clear));
    assert_eq!(number_or_never("5"), Ok(Patch::Set(5)));
    assert!(number_or_never("-5").is_err());
}
