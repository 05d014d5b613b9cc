//! Moments as people type them.

use super::{duration_ms, in_or_at};

#[test]
fn a_duration_is_a_number_and_a_unit() {
    assert_eq!(
        (duration_ms("90s"), duration_ms("2h"), duration_ms("7d")),
        (Some(90_000), Some(7_200_000), Some(604_800_000))
    );
    for other in ["", "h", "-1h", "1.5h", "0m", "1w", "99999999999999d", "2 h", "é"] {
        assert_eq!(duration_ms(other), None, "{other}");
    }
}

#[test]
fn a_moment_may_be_written_out() {
    assert_eq!(in_or_at("2026-12-24T18:00:00Z").unwrap().to_string(), "2026-12-24T18:00:00Z");
    assert!(in_or_at("tomorrow").unwrap_err().contains("`2h`"));
}
