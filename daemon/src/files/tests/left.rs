//! What is left of grants when some were taken back.

use ropewalk_protocol::Capability::{self, Read, Write};

use crate::files::{Grant, what_is_left};

fn grant(path: &str, capabilities: &[Capability]) -> Grant {
    Grant { path: path.to_owned(), capabilities: capabilities.to_vec() }
}

fn left(of: &[Grant], now: &[Grant]) -> Vec<Grant> {
    what_is_left(of, now)
}

#[test]
fn app_170_what_is_added_changes_nothing() {
    let of = [grant("/a", &[Read, Write])];
    assert_eq!(left(&of, &of), of);
    assert_eq!(left(&of, &[grant("/", &[Read, Write]), grant("/a/b", &[Read])]), of, "a wider one allows all of it");
    assert_eq!(left(&of, &[grant("/a", &[Read]), grant("/", &[Write])]), of, "two together do");
}

#[test]
fn app_166_what_is_taken_back_is_gone_and_the_rest_stays() {
    let of = [grant("/a", &[Read, Write]), grant("/b", &[Read])];
    assert_eq!(left(&of, &[]), []);
    assert_eq!(left(&of, &[grant("/a", &[Read]), grant("/b", &[Read])]), [grant("/a", &[Read]), grant("/b", &[Read])]);
    assert_eq!(left(&of, &[grant("/b", &[Read])]), [grant("/b", &[Read])]);
    assert_eq!(left(&of, &[grant("/b", &[Write])]), []);
}

#[test]
fn app_166_a_grant_that_became_narrower_or_wider_leaves_what_both_allow() {
    let of = [grant("/a", &[Read, Write])];
    assert_eq!(left(&of, &[grant("/a/b", &[Read, Write])]), [grant("/a/b", &[Read, Write])]);
    assert_eq!(left(&of, &[grant("/", &[Read])]), [grant("/a", &[Read])]);
    assert_eq!(left(&of, &[grant("/ab", &[Read, Write])]), [], "a name that begins alike is another directory");
}
