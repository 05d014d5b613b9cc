//! Patterns and templates: how a vector says what it expects, and what it sends.
//!
//! Both are JSON. A [pattern](matches()) is compared with what came and may capture parts of it by name; a
//! [template](Captures::fill) is filled with what was captured. In either a string `$name` stands for the capture `name`
//! as a whole, and `${name}` inside a longer string for its text. `$$` at the beginning of a string is a dollar sign.
//! Names are letters, digits and `_`, so that `$/cancelRequest` is only a string.

mod captures;
mod check;
mod mismatch;
mod operators;
mod template;
#[cfg(test)]
mod tests;

pub use captures::Captures;
pub use check::{Unreadable, check_pattern, check_template};
pub use mismatch::Mismatch;
use serde_json::{Map, Value};
pub use template::Unfilled;

use self::{captures::Trial, operators::is_operator, template::Reference};

/// Holds what came against a pattern. `value` is `None` where there is nothing.
///
/// * An object takes an object that has each of its members; further ones do not matter.
/// * An array takes an array of as many elements, each by its place.
/// * `$name` takes what was captured under that name, or anything, which is captured then.
/// * An object of operators (`$any`, `$absent`, `$type`, …) takes what all of them take.
/// * A generator (`$sum`, `$repeat`, …) takes what is equal to what it makes.
/// * Everything else takes what is equal; numbers are equal when their values are.
///
/// Captures are made only when all of it matches.
///
/// # Errors
/// The first place that does not match, what was expected there and what came.
pub fn matches(pattern: &Value, value: Option<&Value>, captures: &mut Captures) -> Result<(), Mismatch> {
    let mut trial = Trial::new(captures);
    match_at(pattern, value, &mut trial, "")?;
    let made = trial.made();
    captures.extend(made);
    Ok(())
}

/// The recursive part: `path` is the place, as a JSON Pointer.
fn match_at(pattern: &Value, value: Option<&Value>, trial: &mut Trial<'_>, path: &str) -> Result<(), Mismatch> {
    if let Value::Object(members) = pattern
        && is_operator(members)
    {
        return operators::match_operators(members, value, trial, path);
    }
    let Some(value) = value else { return Err(Mismatch::new(path, pattern, None)) };
    match pattern {
        Value::Object(members) if template::is_generator(members) => filled_equal(pattern, value, trial, path),
        Value::Object(members) => match_members(members, value, trial, path),
        Value::Array(elements) => match_elements(elements, value, trial, path),
        Value::String(text) => match_text(pattern, text, value, trial, path),
        Value::Null | Value::Bool(_) | Value::Number(_) => equal(pattern, value, path),
    }
}

fn match_members(
    members: &Map<String, Value>,
    value: &Value,
    trial: &mut Trial<'_>,
    path: &str,
) -> Result<(), Mismatch> {
    if !value.is_object() {
        return Err(Mismatch::said(path, "an object", Some(value)));
    }
    for (name, wanted) in members {
        match_at(wanted, value.get(name), trial, &format!("{path}/{}", pointer(name)))?;
    }
    Ok(())
}

fn match_elements(elements: &[Value], value: &Value, trial: &mut Trial<'_>, path: &str) -> Result<(), Mismatch> {
    match value.as_array() {
        Some(came) if came.len() == elements.len() => {
            let pairs = elements.iter().zip(came).enumerate();
            pairs
                .into_iter()
                .try_for_each(|(at, (wanted, came))| match_at(wanted, Some(came), trial, &format!("{path}/{at}")))
        }
        _ => Err(Mismatch::said(path, &format!("an array of {}", elements.len()), Some(value))),
    }
}

fn match_text(pattern: &Value, text: &str, value: &Value, trial: &mut Trial<'_>, path: &str) -> Result<(), Mismatch> {
    match Reference::of(text) {
        Reference::Whole(name) => match trial.get(name) {
            Some(known) if same(known, value) => Ok(()),
            Some(known) => Err(Mismatch::said(path, &format!("{known}, which is ${name}"), Some(value))),
            None => {
                trial.capture(name, value.clone());
                Ok(())
            }
        },
        Reference::None => filled_equal(pattern, value, trial, path),
    }
}

fn filled_equal(template: &Value, value: &Value, trial: &Trial<'_>, path: &str) -> Result<(), Mismatch> {
    let wanted = trial.fill(template).map_err(|unfilled| Mismatch::said(path, &unfilled.to_string(), None))?;
    equal(&wanted, value, path)
}

fn equal(wanted: &Value, value: &Value, path: &str) -> Result<(), Mismatch> {
    if same(wanted, value) { Ok(()) } else { Err(Mismatch::new(path, wanted, Some(value))) }
}

/// Equality of JSON as its readers see it: `1` and `1.0` are one number.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        _ => one == other,
    }
}

/// A member's name as a part of a JSON Pointer.
fn pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
