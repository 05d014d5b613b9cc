//! Keeps the secrets among a call's arguments out of everything that is shown or stored of the call.
//!
//! A tool says in its schema which arguments are secret: `writeOnly: true` beside their type. Such a value reaches the tool
//! and nobody else. Items, events, approvals, logs and what the model is told of its own call have a [`stand_in`] in its
//! place, and a result that repeats it is scrubbed. Since no record has it, it does not outlive the daemon: a call that waits
//! for a person over a restart is not made, and the model is told to make it again ([`missing`]).

use ropewalk_protocol::Part;
use serde_json::{Map, Value};

use self::marks::{applying, children, has_marks, is_secret, leads_to_a_mark};
use super::{CallFailure, json};
use crate::domain::CallEnd;

mod marks;
#[cfg(test)]
mod tests;

/// Characters from which on a secret is looked for in what comes back: less is no secret, and half of all texts have it.
const SCRUBBED_FROM: usize = 6;

/// What stands for a secret is made of these and the number of its characters.
const BEFORE: &str = "(a secret of ";
const BEHIND: &str = " characters)";

/// The secrets of one call. What has them is dropped with it and never printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(Vec<String>);

/// Arguments without their secrets, and those.
#[derive(Debug)]
pub struct Veiled {
    /// The arguments as they may be shown.
    pub shown: Map<String, Value>,
    /// What they have no more.
    pub secrets: Secrets,
}

/// Takes the secrets out of arguments. None for a tool that declares no argument secret.
#[must_use]
pub fn veil(arguments: &Map<String, Value>, schema: &Value) -> Option<Veiled> {
    if !has_marks(schema) {
        return None;
    }
    let mut secrets = Secrets::default();
    let mut shown = Value::Object(arguments.clone());
    hide_in(&mut shown, &[schema], schema, &mut secrets);
    let Value::Object(shown) = shown else { return None };
    Some(Veiled { shown, secrets })
}

/// Takes the secrets out of arguments as a model wrote them. None where they have none. What cannot be read might be a secret
/// in any of its parts.
#[must_use]
pub fn veil_text(arguments: &str, schema: &Value) -> Option<(String, Secrets)> {
    if !has_marks(schema) {
        return None;
    }
    match json::parse(arguments, usize::MAX) {
        Ok(Value::Object(arguments)) => {
            let veiled = veil(&arguments, schema)?;
            (!veiled.secrets.is_empty()).then(|| (Value::Object(veiled.shown).to_string(), veiled.secrets))
        }
        _ if arguments.trim().is_empty() => None,
        _ => Some((stand_in(arguments), Secrets(vec![arguments.to_owned()]))),
    }
}

/// Why a call cannot be made whose secrets are not known any more: its arguments have what stands for one.
#[must_use]
pub fn missing(arguments: &Map<String, Value>, schema: &Value) -> Option<CallFailure> {
    let found = has_marks(schema).then(|| stand_ins(arguments)).flatten()?;
    let reason = "is not the secret itself but what stands for it: secrets are kept with no call, so that neither you nor \
        the daemon has it any more. Make the call with the secret, or leave it to the person to enter it";
    Some(CallFailure::invalid_argument(&found, reason))
}

/// Whether arguments, as JSON, have something that stands for a secret.
#[must_use]
pub fn is_veiled(arguments: &str) -> bool {
    arguments.contains(BEFORE) && arguments.contains(BEHIND)
}

/// What is shown in the place of a secret.
#[must_use]
pub fn stand_in(secret: &str) -> String {
    format!("{BEFORE}{}{BEHIND}", secret.chars().count())
}

impl Secrets {
    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These and others.
    pub fn add(&mut self, others: Self) {
        self.0.extend(others.0.into_iter().filter(|other| !self.0.contains(other)).collect::<Vec<_>>());
    }

    /// A text without them, as they are and as JSON writes them.
    #[must_use]
    pub fn scrubbed(&self, text: &str) -> String {
        let long = self.0.iter().filter(|secret| secret.chars().count() >= SCRUBBED_FROM);
        long.fold(text.to_owned(), |text, secret| {
            let written = Value::from(secret.as_str()).to_string();
            let escaped = written.trim_start_matches('"').trim_end_matches('"');
            text.replace(secret.as_str(), &stand_in(secret)).replace(escaped, &stand_in(secret))
        })
    }

    /// Takes them out of data, names of members too.
    pub fn scrub(&self, data: &mut Value) {
        match data {
            Value::String(text) => *text = self.scrubbed(text),
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.scrub(element)),
            Value::Object(members) => {
                *members = std::mem::take(members)
                    .into_iter()
                    .map(|(name, mut value)| {
                        self.scrub(&mut value);
                        (self.scrubbed(&name), value)
                    })
                    .collect();
            }
            Value::Number(number) if self.0.contains(&number.to_string()) => {
                *data = stand_in(&number.to_string()).into();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Takes them out of everything that is written down of a call.
    pub fn scrub_end(&self, end: &mut CallEnd) {
        if self.is_empty() {
            return;
        }
        for part in &mut end.content {
            if let Part::Text { text } = part {
                *text = self.scrubbed(text);
            }
        }
        for data in [&mut end.structured_content, &mut end.meta].into_iter().flatten() {
            self.scrub(data);
        }
        if let Some(error) = &mut end.error {
            error.message = self.scrubbed(&error.message);
            error.code = self.scrubbed(&error.code);
        }
        end.summary = end.summary.take().map(|summary| self.scrubbed(&summary));
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

fn hide_in(value: &mut Value, schemas: &[&Value], root: &Value, secrets: &mut Secrets) {
    let schemas = applying(schemas, root);
    if schemas.iter().any(|schema| is_secret(schema)) {
        hide(value, secrets);
        return;
    }
    match value {
        Value::Object(members) => {
            let hides_members = schemas.iter().any(|schema| declares_a_secret(schema, root));
            for (name, member) in members {
                let below = children(&schemas, name);
                // A name that nobody declared may be a slip of the one whose value is secret.
                if below.is_empty() && hides_members {
                    hide(member, secrets);
                } else {
                    hide_in(member, &below, root, secrets);
                }
            }
        }
        Value::Array(elements) => {
            let below: Vec<&Value> = schemas.iter().flat_map(|schema| marks::elements(schema)).collect();
            elements.iter_mut().for_each(|element| hide_in(element, &below, root, secrets));
        }
        // The text of an object that has secrets in it: nobody can tell them from the rest.
        Value::String(_) if leads_to_a_mark(&schemas, root) => hide(value, secrets),
        _ => {}
    }
}

fn declares_a_secret(schema: &Value, root: &Value) -> bool {
    let declared = schema["properties"].as_object().into_iter().flat_map(Map::values);
    declared.into_iter().any(|property| applying(&[property], root).iter().any(|schema| is_secret(schema)))
}

/// Nothing, yes and no are no secrets: they say that there is none.
fn hide(value: &mut Value, secrets: &mut Secrets) {
    let text = match value {
        Value::Null | Value::Bool(_) => return,
        Value::String(text) if text.is_empty() || is_stand_in(text) => return,
        Value::String(text) => std::mem::take(text),
        Value::Number(number) => number.to_string(),
        Value::Array(_) | Value::Object(_) => {
            gather(value, secrets);
            value.to_string()
        }
    };
    *value = stand_in(&text).into();
    secrets.add(Secrets(vec![text]));
}

/// The texts and numbers within a secret are secrets of their own.
fn gather(value: &Value, secrets: &mut Secrets) {
    match value {
        Value::String(text) => secrets.add(Secrets(vec![text.clone()])),
        Value::Number(number) => secrets.add(Secrets(vec![number.to_string()])),
        Value::Array(elements) => elements.iter().for_each(|element| gather(element, secrets)),
        Value::Object(members) => members.values().for_each(|member| gather(member, secrets)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn is_stand_in(text: &str) -> bool {
    let number = text.strip_prefix(BEFORE).and_then(|rest| rest.strip_suffix(BEHIND));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Where the first stand-in is, as a JSON Pointer.
fn stand_ins(arguments: &Map<String, Value>) -> Option<String> {
    arguments.iter().find_map(|(name, value)| first(value).map(|below| format!("/{name}{below}")))
}

fn first(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => is_stand_in(text).then(String::new),
        Value::Array(elements) => {
            let mut numbered = elements.iter().enumerate();
            numbered.find_map(|(index, element)| first(element).map(|below| format!("/{index}{below}")))
        }
        Value::Object(members) => stand_ins(members),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
