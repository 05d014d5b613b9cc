//! The wire's words on the command line: `openai-compatible` here is `openaiCompatible` there.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use ropewalk_protocol::Patch;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads one of the words of a type of the wire. The words are given in the spelling of the command line.
pub(crate) fn words<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    words: &'static [&'static str],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words).map(|word| {
        serde_json::from_value(Value::String(camel_case(&word))).expect("every listed word is one of the wire's")
    })
}

/// The spelling of the command line for a word of the wire.
pub(crate) fn spelled(word: &impl serde::Serialize) -> String {
    let mut spelled = String::new();
    for character in wire(word).chars() {
        if character.is_ascii_uppercase() {
            spelled.push('-');
        }
        spelled.push(character.to_ascii_lowercase());
    }
    spelled
}

/// A word of the wire as it is, where it is looked up in the documentation and never typed.
pub(crate) fn wire(word: &impl serde::Serialize) -> String {
    serde_json::to_value(word).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Reads a number that may also be `never`, or `unlimited`: then the field is cleared.
pub(crate) fn number_or_never(text: &str) -> Result<Patch<u64>, String> {
    match text {
        "never" | "unlimited" | "none" => Ok(Patch::Clear),
        _ => text.parse().map(Patch::Set).map_err(|_| "a whole number, or `never`".to_owned()),
    }
}

fn camel_case(kebab: &str) -> String {
    let mut parts = kebab.split('-');
    let mut word = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut characters = part.chars();
        word.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        word.push_str(characters.as_str());
    }
    word
}

#[cfg(test)]
mod tests;
