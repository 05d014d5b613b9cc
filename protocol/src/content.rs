//! What messages, inputs and tool results are made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BlobId, ResourceId, ReviewId};

/// One part of an input, a message or a tool result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Part {
    /// Text.
    Text {
        /// The text itself.
        text: String,
    },
    /// An image.
    Image {
        /// Its media type: `image/png`, `image/jpeg`, `image/gif` or `image/webp`, and what its bytes are.
        media_type: String,
        /// Its bytes in base64, with padding.
        data: String,
    },
    /// A resource of the project, resolved when the model is asked.
    Resource {
        /// Which one.
        resource_id: ResourceId,
    },
    /// A review of the thread, resolved when the model is asked.
    Review {
        /// Which one.
        review_id: ReviewId,
    },
    /// Sound; in results only.
    Audio {
        /// Its media type, such as `audio/wav`.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A link a tool gave; in results only.
    ResourceLink {
        /// Where it leads.
        uri: String,
        /// What it is called.
        name: String,
    },
}

impl Part {
    /// A text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The text of a text part.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }
}

/// The media types of images, which are those that every provider with eyes takes.
pub const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Which of [`IMAGE_TYPES`] some bytes are, by how they begin.
#[must_use]
pub fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Payload that was cut from what the model saw, kept whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlobRef {
    /// What `blob/read` takes.
    pub blob_id: BlobId,
    /// Its whole length in bytes.
    pub total_bytes: u64,
}

/// Model work counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens the model read.
    pub input_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// Tokens read from the provider's cache, part of `inputTokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Tokens of reasoning, part of `outputTokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Model requests.
    pub requests: u64,
    /// Whether any of the numbers is an estimate of ours rather than the provider's count.
    pub estimated: bool,
}

impl Usage {
    /// Adds another count to this one.
    pub fn add(&mut self, other: &Self) {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0) + b.unwrap_or(0)),
        };
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cached_input_tokens = sum(self.cached_input_tokens, other.cached_input_tokens);
        self.reasoning_tokens = sum(self.reasoning_tokens, other.reasoning_tokens);
        self.requests += other.requests;
        self.estimated |= other.estimated;
    }
}
