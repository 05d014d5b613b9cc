//! Generated files: compared by default, written with `UPDATE=1`.

use std::{env, fs, path::Path};

/// The schema bundle of the repository is the one the types make.
#[test]
fn the_schema_bundle_is_current() {
    let text = serde_json::to_string_pretty(&ropewalk_protocol::bundle()).unwrap() + "\n";
    check("protocol/schema.json", &text);
}

/// Compares a file of the repository with what it should be, or writes it with `UPDATE=1`.
pub(crate) fn check(path: &str, expected: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    if env::var_os("UPDATE").is_some() {
        fs::write(&file, expected).unwrap();
        return;
    }
    let current = fs::read_to_string(&file).unwrap_or_default();
    assert!(current == expected, "{path} is out of date. Run the tests once with UPDATE=1 and commit what changes.");
}
