//! Templates: JSON with captures in it, and generators for what would be too long to write out.

use std::fmt;

use serde_json::{Map, Value, json};

/// More than any limit of the wire, and less than would hurt the one who runs a vector.
const MOST_REPEATED: u64 = 64 * 1024 * 1024;

/// Why a template cannot be filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfilled {
    /// Nothing was captured under this name.
    Unknown(String),
    /// A generator has a member that it cannot use.
    Generator(String),
}

/// What a string refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference<'a> {
    /// It is `$name` as a whole.
    Whole(&'a str),
    /// It is text, perhaps with `${name}` in it.
    None,
}

impl<'a> Reference<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let name = text.strip_prefix('$').filter(|name| is_name(name));
        name.map_or(Self::None, Self::Whole)
    }
}

/// Whether something can be captured under this name.
pub(super) fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// The members that make an object a generator.
pub(super) const GENERATORS: &[&str] = &["$repeat", "$list", "$nest", "$sum", "$text"];

/// Whether these members make an object a generator.
pub(super) fn is_generator(members: &Map<String, Value>) -> bool {
    members.keys().any(|name| GENERATORS.contains(&name.as_str()))
}

/// What was captured under a name.
type Lookup<'a> = dyn Fn(&str) -> Option<Value> + 'a;

pub(super) fn fill(template: &Value, known: &Lookup<'_>) -> Result<Value, Unfilled> {
    match template {
        Value::String(text) => match Reference::of(text) {
            Reference::Whole(name) => known(name).ok_or_else(|| Unfilled::Unknown(name.to_owned())),
            Reference::None => Ok(fill_text(text, known)?.into()),
        },
        Value::Array(elements) => elements.iter().map(|element| fill(element, known)).collect(),
        Value::Object(members) => match members.keys().find(|key| GENERATORS.contains(&key.as_str())) {
            Some(generator) => generate(generator, members, known),
            None => {
                let filled = members.iter().map(|(name, member)| Ok((name.clone(), fill(member, known)?)));
                Ok(Value::Object(filled.collect::<Result<_, Unfilled>>()?))
            }
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(template.clone()),
    }
}

pub(super) fn fill_text(text: &str, known: &Lookup<'_>) -> Result<String, Unfilled> {
    let text = text.strip_prefix('$').filter(|rest| rest.starts_with('$')).unwrap_or(text);
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}').ok_or_else(|| Unfilled::Unknown(after.to_owned()))?;
        filled.push_str(before);
        match known(name).ok_or_else(|| Unfilled::Unknown(name.to_owned()))? {
            Value::String(value) => filled.push_str(&value),
            value => filled.push_str(&value.to_string()),
        }
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn generate(generator: &str, members: &Map<String, Value>, known: &Lookup<'_>) -> Result<Value, Unfilled> {
    let wrong = |what: &str| Unfilled::Generator(format!("{generator} {what}: {}", json!(members)));
    let number = |value: &Value| fill(value, known)?.as_i64().ok_or_else(|| wrong("needs a whole number"));
    let times = |value: Option<&Value>| {
        let times = number(value.unwrap_or(&Value::Null))?;
        u64::try_from(times).ok().filter(|times| *times <= MOST_REPEATED).ok_or_else(|| wrong("repeats too often"))
    };
    let argument = &members[generator];
    match generator {
        "$repeat" => {
            let text = fill(argument, known)?;
            let text = text.as_str().ok_or_else(|| wrong("repeats a text"))?;
            let times = usize::try_from(times(members.get("times"))?).map_err(|_| wrong("repeats too often"))?;
            Ok(text.repeat(times).into())
        }
        "$list" => (0..times(members.get("times"))?)
            .map(|index| {
                let index = json!(index);
                fill(argument, &|name| if name == "index" { Some(index.clone()) } else { known(name) })
            })
            .collect(),
        "$nest" => Ok((0..times(Some(argument))?).fold(json!(0), |inner, _| json!([inner]))),
        "$sum" => {
            let terms = argument.as_array().ok_or_else(|| wrong("adds a list"))?;
            terms.iter().map(number).sum::<Result<i64, _>>().map(Value::from)
        }
        _ => Ok(fill(argument, known)?.to_string().into()),
    }
}

impl fmt::Display for Unfilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "${name} was never captured"),
            Self::Generator(what) => write!(f, "this cannot be made: {what}"),
        }
    }
}

impl std::error::Error for Unfilled {}
