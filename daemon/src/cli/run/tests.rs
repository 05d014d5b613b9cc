//! What a person reads whose input has to wait.

use super::waits;

#[test]
fn an_input_that_waits_says_for_what_and_how_a_paused_run_goes_on() {
    assert_eq!(waits(0, None), "… waits for the run under way");
    assert_eq!(waits(1, None), "… waits for the run under way, and one input before it");
    let behind_paused =
        "… waits for a run that is paused, and 2 inputs before it: `ropewalk resume t-1` lets that one go on";
    assert_eq!(waits(2, Some("ropewalk resume t-1")), behind_paused);
}
