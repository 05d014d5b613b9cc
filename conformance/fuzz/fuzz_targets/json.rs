//! JSON of arguments and results; a list is also a schema, and values to check with it.
#![no_main]

#[path = "../../../daemon/tests/it/broken/holds.rs"]
mod holds;

libfuzzer_sys::fuzz_target!(|text: &str| {
    holds::of_a_text(text);
    if let Ok([schema, values @ ..]) = serde_json::from_str::<Vec<serde_json::Value>>(text).as_deref() {
        holds::of_a_schema(schema, values);
    }
});
