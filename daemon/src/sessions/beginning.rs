//! What the beginning of a message says, where the whole of it cannot be read: only what stands in the message itself counts, and
//! nothing that is inside of a result.

use std::fmt;

use serde::{
    Deserializer as _,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

use super::lines::key_of;

/// What the beginning of a message says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Beginning {
    /// The id, as text, where it is there already.
    pub id: Option<String>,
    /// Whether it is an answer, and not something that the server says on its own.
    pub is_answer: bool,
}

impl Beginning {
    /// Reads the beginning of a line.
    pub(super) fn of(head: &[u8]) -> Self {
        let mut fields = Fields::default();
        // It ends somewhere within, which is an error: what was read before that is what there is.
        let _ = serde_json::Deserializer::from_slice(head).deserialize_map(&mut fields);
        if fields.has_method { Self::default() } else { fields.begun }
    }
}

/// The fields of a message, as far as they can be read.
#[derive(Default)]
struct Fields {
    begun: Beginning,
    has_method: bool,
}

impl<'de> Visitor<'de> for &mut Fields {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                "id" => {
                    self.begun.id =
                        Some(fields.next_value::<Value>()?).filter(|id| !id.is_null()).map(|id| key_of(&id));
                    continue;
                }
                "result" | "error" => self.begun.is_answer = true,
                "method" => self.has_method = true,
                _ => {}
            }
            fields.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
