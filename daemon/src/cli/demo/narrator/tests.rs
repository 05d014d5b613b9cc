//! What is told.

use super::*;
use crate::cli::out::testing::captured;

#[test]
fn whoever_speaks_is_named_once() {
    let (out, stdout, _) = captured(false);
    say(&out, "you", "say hello\ncall ring_bell");
    ring(&out, "ding");
    let expected = "\
you        say hello
           call ring_bell
bell       ding
           (rung by a function of this process)
";
    assert_eq!(stdout.text(), expected);
}
