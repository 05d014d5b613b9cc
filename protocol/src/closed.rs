//! Closed twins of open types: what clients declare and answer refuses a field nobody knows, what they are shown may
//! have new ones.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::{Annotations, Part};

/// A part of a tool's result. Closed: an unknown field makes it an invalid result.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub(crate) enum ResultPart {
    /// Text.
    Text {
        /// The text itself.
        text: String,
    },
    /// An image.
    Image {
        /// Its media type, such as `image/png`.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// Sound.
    Audio {
        /// Its media type, such as `audio/wav`.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A link.
    ResourceLink {
        /// Where it leads.
        uri: String,
        /// What it is called.
        name: String,
    },
}

impl From<ResultPart> for Part {
    fn from(part: ResultPart) -> Self {
        match part {
            ResultPart::Text { text } => Self::Text { text },
            ResultPart::Image { media_type, data } => Self::Image { media_type, data },
            ResultPart::Audio { media_type, data } => Self::Audio { media_type, data },
            ResultPart::ResourceLink { uri, name } => Self::ResourceLink { uri, name },
        }
    }
}

/// What a declaration says a tool does to the world. Closed: an unknown field is an error with its path.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeclaredAnnotations {
    /// It changes nothing.
    #[serde(default)]
    read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(default)]
    destructive_hint: Option<bool>,
    /// Calling it twice has the effect of calling it once.
    #[serde(default)]
    idempotent_hint: Option<bool>,
    /// It reaches beyond this machine.
    #[serde(default)]
    open_world_hint: Option<bool>,
}

impl From<DeclaredAnnotations> for Annotations {
    fn from(declared: DeclaredAnnotations) -> Self {
        Self {
            read_only_hint: declared.read_only_hint,
            destructive_hint: declared.destructive_hint,
            idempotent_hint: declared.idempotent_hint,
            open_world_hint: declared.open_world_hint,
        }
    }
}

/// Reads the parts of a tool's result.
pub(crate) fn parts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Part>>, D::Error> {
    let parts = Option::<Vec<ResultPart>>::deserialize(deserializer)?;
    Ok(parts.map(|parts| parts.into_iter().map(Part::from).collect()))
}

/// Reads the annotations of a declaration.
pub(crate) fn annotations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Annotations>, D::Error> {
    Ok(Option::<DeclaredAnnotations>::deserialize(deserializer)?.map(Annotations::from))
}
