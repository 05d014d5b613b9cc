//! Limits and defaults a program may have been built on: raised at will, never lowered (APP-207).

use std::{env, fs, path::Path};

use ropewalk_protocol::{Limits, Settings};
use serde_json::{Map, Value};

/// What was promised.
const GOLDEN: &str = "tests/it/limits.json";

/// Settings that may be without a value: no bound, which stands as null.
const MAY_BE_UNBOUNDED: [&str; 6] =
    ["approvalMs", "inputMs", "runMaxToolCalls", "runMaxTokens", "runMaxMs", "idleExitMs"];

/// Every number of the limits and of the default settings.
fn numbers() -> Map<String, Value> {
    let of = |name: &str, object: Value| {
        let Value::Object(fields) = object else { panic!("{name} is an object") };
        let named = fields.into_iter().filter(|(field, value)| value.is_u64() && field != "revision");
        named.map(|(field, value)| (format!("{name}.{field}"), value)).collect::<Vec<_>>()
    };
    let limits = serde_json::to_value(Limits::default()).unwrap();
    let settings = serde_json::to_value(Settings::default()).unwrap();
    let unbounded = MAY_BE_UNBOUNDED.iter().map(|field| (format!("settings.{field}"), Value::Null));
    unbounded.chain(of("limits", limits)).chain(of("settings", settings)).collect()
}

/// Whether a bound has become tighter: no bound is the widest of all.
fn is_lowered(promised: &Value, now: &Value) -> bool {
    match (promised.as_u64(), now.as_u64()) {
        (Some(promised), Some(now)) => now < promised,
        (None, Some(_)) => true,
        (_, None) => false,
    }
}

#[test]
fn app_207_no_limit_and_no_default_is_lower_than_it_once_was() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    let now = numbers();
    let golden: Map<String, Value> =
        fs::read(&path).map_or_else(|_| Map::new(), |text| serde_json::from_slice(&text).unwrap());
    let lowered: Vec<_> = golden
        .iter()
        .filter(|(name, promised)| now.get(*name).is_some_and(|now| is_lowered(promised, now)))
        .map(|(name, promised)| format!("{name}: {promised} was promised, {} it is", now[name]))
        .collect();
    assert!(lowered.is_empty(), "a limit is only ever raised: {lowered:#?}");
    let gone: Vec<_> = golden.iter().filter(|(name, value)| value.is_u64() && !now.contains_key(*name)).collect();
    assert!(gone.iter().all(|(name, _)| name.starts_with("settings.")), "a limit is published for good: {gone:?}");
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, format!("{}\n", serde_json::to_string_pretty(&now).unwrap())).unwrap();
    } else {
        assert_eq!(golden, now, "run with UPDATE=1 to promise what was raised or added");
    }
}

#[test]
fn app_209_a_message_of_a_model_carries_1024_calls() {
    assert_eq!(Limits::default().tool_calls_per_message, 1_024);
}
