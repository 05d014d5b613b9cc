//! The operators of a pattern: an object whose members all begin with `$` takes what all of them take.

use serde_json::{Map, Value};

use super::{Trial, match_at, mismatch::Mismatch, same};

/// Every operator, in the order in which they are tried.
pub(super) const OPERATORS: &[&str] = &[
    "$absent",
    "$any",
    "$type",
    "$regex",
    "$above",
    "$atLeast",
    "$atMost",
    "$length",
    "$json",
    "$exactly",
    "$is",
    "$not",
    "$oneOf",
    "$contains",
    "$unordered",
    "$as",
];

/// Whether these members make an object a set of operators.
pub(super) fn is_operator(members: &Map<String, Value>) -> bool {
    members.keys().any(|name| OPERATORS.contains(&name.as_str()))
}

pub(super) fn match_operators(
    members: &Map<String, Value>,
    value: Option<&Value>,
    trial: &mut Trial<'_>,
    path: &str,
) -> Result<(), Mismatch> {
    for name in OPERATORS {
        if let Some(argument) = members.get(*name) {
            apply(name, argument, value, trial, path)?;
        }
    }
    Ok(())
}

fn apply(
    operator: &str,
    argument: &Value,
    value: Option<&Value>,
    trial: &mut Trial<'_>,
    path: &str,
) -> Result<(), Mismatch> {
    let wrong = |expected: String| Err(Mismatch::said(path, &expected, value));
    if operator == "$absent" {
        let wants_absence = argument == &Value::Bool(true);
        let expected = if wants_absence { "nothing" } else { "something" };
        return if value.is_none() == wants_absence { Ok(()) } else { wrong(expected.to_owned()) };
    }
    if operator == "$not" {
        let mark = trial.mark();
        let does_match = match_at(argument, value, trial, path).is_ok();
        trial.back_to(mark);
        return if does_match { wrong(format!("not {argument}")) } else { Ok(()) };
    }
    let Some(value) = value else {
        return if operator == "$as" { Ok(()) } else { wrong(format!("{operator} {argument}")) };
    };
    match operator {
        "$type" if type_of(value, argument) => Ok(()),
        "$regex" if fits(argument, value) => Ok(()),
        "$above" | "$atLeast" | "$atMost" => compare(operator, argument, value, trial, path),
        "$length" => match length(value) {
            Some(length) => match_at(argument, Some(&length.into()), trial, &format!("{path} (its length)")),
            None => wrong("something with a length".to_owned()),
        },
        "$json" => match value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()) {
            Some(inner) => match_at(argument, Some(&inner), trial, &format!("{path} (as JSON)")),
            None => wrong("a text that is JSON".to_owned()),
        },
        "$exactly" => exactly(argument, value, trial, path),
        "$is" => match_at(argument, Some(value), trial, path),
        "$oneOf" => one_of(argument, value, trial, path),
        "$contains" => find_each(argument, value, trial, path).map(drop),
        "$unordered" => match find_each(argument, value, trial, path)? {
            0 => Ok(()),
            more => wrong(format!("these and no {more} more: {argument}")),
        },
        "$as" => {
            if let Some(name) = argument.as_str().filter(|name| trial.get(name).is_none()) {
                trial.capture(name, value.clone());
                return Ok(());
            }
            let known = argument.as_str().and_then(|name| trial.get(name));
            if known.is_some_and(|known| same(known, value)) { Ok(()) } else { wrong(format!("what {argument} is")) }
        }
        "$any" => Ok(()),
        _ => wrong(format!("{operator} {argument}")),
    }
}

/// Whether a value has this type, or one of these.
fn type_of(value: &Value, wanted: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap_or_default() {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    };
    wanted.as_array().map_or_else(|| is(wanted), |names| names.iter().any(is))
}

fn fits(expression: &Value, value: &Value) -> bool {
    let expression = expression.as_str().and_then(|text| regex::Regex::new(text).ok());
    expression.zip(value.as_str()).is_some_and(|(expression, text)| expression.is_match(text))
}

fn compare(operator: &str, bound: &Value, value: &Value, trial: &Trial<'_>, path: &str) -> Result<(), Mismatch> {
    let filled = trial.fill(bound).map_err(|unfilled| Mismatch::said(path, &unfilled.to_string(), None))?;
    let holds = filled.as_f64().zip(value.as_f64()).is_some_and(|(bound, value)| match operator {
        "$above" => value > bound,
        "$atLeast" => value >= bound,
        _ => value <= bound,
    });
    if holds { Ok(()) } else { Err(Mismatch::said(path, &format!("{operator} {filled}"), Some(value))) }
}

/// Characters of a text, elements of an array, members of an object.
fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(elements) => Some(elements.len()),
        Value::Object(members) => Some(members.len()),
        _ => None,
    }
}

fn exactly(pattern: &Value, value: &Value, trial: &mut Trial<'_>, path: &str) -> Result<(), Mismatch> {
    match_at(pattern, Some(value), trial, path)?;
    let (Some(wanted), Some(members)) = (pattern.as_object(), value.as_object()) else { return Ok(()) };
    match members.keys().find(|name| !wanted.contains_key(*name)) {
        Some(more) => Err(Mismatch::said(path, &format!("no further member, and not {more}"), Some(value))),
        None => Ok(()),
    }
}

fn one_of(patterns: &Value, value: &Value, trial: &mut Trial<'_>, path: &str) -> Result<(), Mismatch> {
    for pattern in patterns.as_array().into_iter().flatten() {
        let mark = trial.mark();
        match match_at(pattern, Some(value), trial, path) {
            Ok(()) => return Ok(()),
            Err(_) => trial.back_to(mark),
        }
    }
    Err(Mismatch::said(path, &format!("one of {patterns}"), Some(value)))
}

/// Finds an element for each pattern, the first that is left and fits; how many elements are left over.
fn find_each(patterns: &Value, value: &Value, trial: &mut Trial<'_>, path: &str) -> Result<usize, Mismatch> {
    let Some(elements) = value.as_array() else { return Err(Mismatch::said(path, "an array", Some(value))) };
    let mut left: Vec<&Value> = elements.iter().collect();
    for pattern in patterns.as_array().into_iter().flatten() {
        let found = left.iter().position(|element| {
            let mark = trial.mark();
            let fits = match_at(pattern, Some(element), trial, path).is_ok();
            if !fits {
                trial.back_to(mark);
            }
            fits
        });
        match found {
            Some(at) => drop(left.remove(at)),
            None => return Err(Mismatch::said(path, &format!("an element like {pattern}"), Some(value))),
        }
    }
    Ok(left.len())
}
