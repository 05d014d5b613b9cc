//! What is learned of models, and what is not.

use crate::context::gauges::{Gauges, Measure, ModelKey};

fn key(revision: u64) -> ModelKey {
    let endpoint = serde_json::json!({
        "endpointId": "en-1", "name": "e", "provider": "openaiCompatible", "model": "m", "isDefault": true,
        "forSubtasks": false, "enabled": true, "capability": null, "hasCredential": false, "builtin": false,
        "revision": revision,
    });
    ModelKey::of(&serde_json::from_value(endpoint).unwrap())
}

fn measure(estimated: u64) -> Measure {
    Measure { key: key(1), chain: Some(("br-1".into(), None)), estimated }
}

#[test]
fn what_was_counted_of_a_chain_counts_and_only_what_came_since_is_estimated() {
    let gauges = Gauges::default();
    assert_eq!(gauges.expected(&measure(1_000)), 1_000, "nothing is known yet");
    gauges.counted(&measure(1_000), 1_500);
    assert_eq!(gauges.expected(&measure(1_000)), 1_500);
    assert_eq!(gauges.expected(&measure(1_200)), 1_800, "what came since is estimated as this model counts");
    let other = Measure { chain: Some(("br-1".into(), Some("summary".into()))), ..measure(1_000) };
    assert_eq!(gauges.expected(&other), 1_500, "a compacted chain is another one: its estimate is corrected");
    let changed = Measure { key: key(2), ..measure(1_000) };
    assert_eq!(gauges.expected(&changed), 1_000, "another configuration is another model");
}

#[test]
fn a_ratio_grows_at_once_shrinks_slowly_and_has_bounds() {
    let gauges = Gauges::default();
    gauges.counted(&measure(1_000), 2_000);
    assert_eq!(gauges.ratio_percent(&key(1)), 200);
    gauges.counted(&measure(1_000), 1_000);
    assert_eq!(gauges.ratio_percent(&key(1)), 175);
    gauges.counted(&measure(1_000), 1_000_000);
    assert_eq!(gauges.ratio_percent(&key(1)), 300, "no provider is believed without limit");
    for _ in 0..100 {
        gauges.counted(&measure(100_000), 1);
    }
    assert!((60..=62).contains(&gauges.ratio_percent(&key(1))), "{}", gauges.ratio_percent(&key(1)));
    gauges.counted(&measure(10), 500);
    assert!(gauges.ratio_percent(&key(1)) <= 62, "a short request says nothing about how text is counted");
    gauges.counted(&measure(1_000), 0);
    assert!(gauges.ratio_percent(&key(1)) <= 62, "a count of nothing is none");
}

#[test]
fn a_refusal_teaches_the_window_it_names_and_else_half_of_what_did_not_fit() {
    let table = [
        ("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.", 8_192),
        ("prompt is too long: 21000 tokens > 20,000 maximum", 20_000),
        ("The input token count (60000) exceeds the maximum number of tokens allowed (16384).", 16_384),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4_096),
        ("input is too long", 30_000),
        ("maximum context length is 7 tokens", 30_000),
    ];
    for (says, window) in table {
        let gauges = Gauges::default();
        gauges.refused(&measure(60_000), 128_000, says);
        assert_eq!(gauges.window(&key(1)), Some(window), "{says}");
    }
    let gauges = Gauges::default();
    gauges.refused(&measure(300_000), 400_000, "prompt is too long: 210000 tokens > 200,000 maximum");
    assert_eq!(gauges.window(&key(1)), Some(200_000));
    gauges.refused(&measure(190_000), 200_000, "no");
    gauges.refused(&measure(300_000), 400_000, "prompt is too long: 210000 tokens > 200,000 maximum");
    assert_eq!(gauges.window(&key(1)), Some(95_000), "a window never grows again");
}

#[test]
fn a_short_request_that_is_refused_teaches_nothing() {
    let gauges = Gauges::default();
    gauges.refused(&measure(500), 128_000, "context_length_exceeded");
    assert_eq!(gauges.window(&key(1)), None);
}

#[test]
fn l24_a_refusal_of_what_was_counted_as_short_ends_the_belief_in_the_counts() {
    let gauges = Gauges::default();
    gauges.counted(&measure(7_000), 11);
    gauges.refused(&measure(8_200), 8_000, "prompt is too long");
    assert_eq!(gauges.expected(&measure(8_200)), 8_200);
    assert_eq!(gauges.window(&key(1)), Some(4_000));
    gauges.counted(&measure(4_000), 11);
    assert_eq!(gauges.expected(&measure(4_000)), 4_000, "what was wrong once is not learned again");
    assert_eq!(gauges.expected(&Measure { key: key(2), ..measure(500) }), 500);
}
