//! The words of enumerations in what the App tools show: `User`, where the wire has `user`. Only places that are known to
//! hold such a word are looked at, so that no text of anybody's is changed.

use serde_json::Value;

/// Begins the word at each path with a capital. `*` in a path stands for every element of a list; a path that leads nowhere
/// is none of this value's.
pub fn capitalise(value: &mut Value, paths: &[&str]) {
    for path in paths {
        let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
        walk(value, &steps);
    }
}

fn walk(value: &mut Value, steps: &[&str]) {
    match (steps.split_first(), value) {
        (None, Value::String(word)) => {
            if let Some(first) = word.get_mut(..1) {
                first.make_ascii_uppercase();
            }
        }
        (Some((&"*", rest)), Value::Array(items)) => items.iter_mut().for_each(|item| walk(item, rest)),
        (Some((step, rest)), Value::Object(fields)) => {
            if let Some(field) = fields.get_mut(*step) {
                walk(field, rest);
            }
        }
        _ => {}
    }
}
