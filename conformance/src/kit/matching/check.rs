//! A pattern or template that is misspelt is found when its vector is read, not when it fails to match.

use std::fmt;

use serde_json::{Map, Value};

use super::{
    operators::{OPERATORS, is_operator},
    template::{GENERATORS, is_name},
};

/// Members of JSON Schemas, which are sent and come like any others.
const OF_SCHEMAS: &[&str] =
    &["$schema", "$id", "$ref", "$defs", "$anchor", "$comment", "$dynamicRef", "$dynamicAnchor"];

/// What is wrong with a pattern or a template, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The place in it, as a JSON Pointer.
    pub path: String,
    /// What is wrong.
    pub problem: String,
}

/// Whether a pattern can be read.
///
/// # Errors
/// Names an operator that there is not, one mixed with members, an argument it cannot use.
pub fn check_pattern(pattern: &Value) -> Result<(), Unreadable> {
    walk(pattern, "", &mut |members, path| {
        if !is_operator(members) {
            return no_unknown(members, GENERATORS, OPERATORS, path);
        }
        for (name, argument) in members {
            if !OPERATORS.contains(&name.as_str()) {
                return Err(unreadable(path, format!("`{name}` cannot stand beside operators")));
            }
            check_argument(name, argument).map_err(|problem| unreadable(path, format!("`{name}` {problem}")))?;
        }
        Ok(())
    })
}

/// Whether a template can be read.
///
/// # Errors
/// Names a generator that there is not.
pub fn check_template(template: &Value) -> Result<(), Unreadable> {
    walk(template, "", &mut |members, path| no_unknown(members, GENERATORS, OPERATORS, path))
}

fn check_argument(operator: &str, argument: &Value) -> Result<(), &'static str> {
    let is_fine = match operator {
        "$absent" | "$any" => argument.is_boolean(),
        "$regex" => argument.as_str().is_some_and(|text| regex::Regex::new(text).is_ok()),
        "$as" => argument.as_str().is_some_and(is_name),
        "$oneOf" | "$contains" | "$unordered" => argument.is_array(),
        "$exactly" => argument.is_object(),
        "$type" => argument.is_string() || argument.is_array(),
        _ => true,
    };
    if is_fine { Ok(()) } else { Err("has an argument it cannot use") }
}

/// A name that begins with `$` and is one of neither list is misspelt; one of the other list stands in the wrong place.
fn no_unknown(members: &Map<String, Value>, here: &[&str], there: &[&str], path: &str) -> Result<(), Unreadable> {
    let misspelt = |name: &&String| {
        let name = name.as_str();
        let looks_like_one = name.strip_prefix('$').is_some_and(is_name);
        looks_like_one && !here.contains(&name) && !OF_SCHEMAS.contains(&name)
    };
    match members.keys().find(misspelt) {
        Some(name) if there.contains(&name.as_str()) => Err(unreadable(
            path,
            format!("`{name}` does not belong here: patterns have operators, templates generators"),
        )),
        Some(name) => Err(unreadable(path, format!("there is no `{name}`; write `$${}` for a text", &name[1..]))),
        None => Ok(()),
    }
}

/// Looks at an object and the path it has.
type Visit<'a> = dyn FnMut(&Map<String, Value>, &str) -> Result<(), Unreadable> + 'a;

fn walk(value: &Value, path: &str, visit: &mut Visit<'_>) -> Result<(), Unreadable> {
    match value {
        Value::Object(members) => {
            visit(members, path)?;
            members.iter().try_for_each(|(name, member)| walk(member, &format!("{path}/{name}"), visit))
        }
        Value::Array(elements) => {
            elements.iter().enumerate().try_for_each(|(at, element)| walk(element, &format!("{path}/{at}"), visit))
        }
        _ => Ok(()),
    }
}

fn unreadable(path: &str, problem: String) -> Unreadable {
    Unreadable { path: path.to_owned(), problem }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the whole" } else { &self.path };
        write!(f, "at {place}: {}", self.problem)
    }
}

impl std::error::Error for Unreadable {}
