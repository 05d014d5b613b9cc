//! What holds of every text that may be JSON, and of every schema. Tried here with fixed seeds, and by the fuzzers of
//! `conformance/fuzz`, which take this file in, with whatever takes a new path.

use std::time::{Duration, Instant};

use ropewalk_daemon::tools::{Schema, json};
use ropewalk_protocol::limits::MAX_DEPTH;
use serde_json::Value;

/// How long one schema may keep anybody busy, in a build that is not optimised.
const SOON: Duration = Duration::from_secs(10);

/// That what is taken of a text means what it says and is written the same again, and what is not taken has a reason.
/// Returns whether it is taken.
pub(crate) fn of_a_text(text: &str) -> bool {
    let levels = usize::try_from(MAX_DEPTH).unwrap();
    match json::parse(text, levels) {
        Ok(value) => {
            assert_eq!(serde_json::from_str::<Value>(text).ok().as_ref(), Some(&value), "{text}");
            assert_eq!(json::parse(&value.to_string(), levels).as_ref(), Ok(&value), "{text}");
            assert!(json::levels(&value) <= levels, "{text}");
            true
        }
        Err(problem) => {
            assert!(!problem.to_string().trim().is_empty(), "{text}");
            false
        }
    }
}

/// That a schema is refused, or checks these values soon and the same each time. Returns how many of them fit it, where it is
/// taken.
pub(crate) fn of_a_schema(schema: &Value, values: &[Value]) -> Option<usize> {
    let began = Instant::now();
    let ready = Schema::compile(schema).ok()?;
    let mut fit = 0;
    for value in values {
        let checked = ready.check(value);
        assert_eq!(checked, ready.check(value), "{schema} on {value}");
        match checked {
            Ok(()) => fit += 1,
            Err(problems) => {
                assert!((1..=5).contains(&problems.len()), "{schema} on {value}: {problems:?}");
                let is_path = |path: &str| path.is_empty() || path.starts_with('/');
                assert!(problems.iter().all(|problem| is_path(&problem.path)), "{schema} on {value}: {problems:?}");
            }
        }
    }
    assert!(began.elapsed() < SOON, "{schema} took {:?}", began.elapsed());
    Some(fit)
}
