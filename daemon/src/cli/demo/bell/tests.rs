//! The bell is rung as on ships.

use super::*;

#[test]
fn bells_are_struck_in_pairs() {
    assert_eq!(sound(1), "ding");
    assert_eq!(sound(6), "ding-ding  ding-ding  ding-ding");
    assert_eq!(sound(5), "ding-ding  ding-ding  ding");
}

#[test]
fn bells_tell_the_time_of_the_watch() {
    let time = |bells| time_of_watch(bells).map_err(|error| error.to_string());
    assert_eq!(time(1).unwrap(), "One bell: the watch is half an hour old.");
    assert_eq!(time(5).unwrap(), "Five bells: the watch is 2 and a half hours old.");
    assert_eq!(time(6).unwrap(), "Six bells: the watch is 3 hours old.");
    assert!(time(0).is_err());
    assert!(time(9).is_err());
}
