//! Payloads that are kept out of line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods;
use crate::BlobId;

methods! {
    /// A part of a payload that was cut from what the model saw: the `blob` of an item.
    BlobRead = "blob/read"(BlobReadParams) -> BlobPart, ToDaemon, reads, Work;
}

/// Parameters of `blob/read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlobReadParams {
    /// Which payload.
    pub blob_id: BlobId,
    /// The byte to begin with; 0 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Bytes at most; `pageCharacters` unless given, and a larger one is read as that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// A part of a payload. What follows it begins at `offset` and the bytes of this part: of `text` those of its UTF-8, of
/// `data` those it decodes to. At the end of the payload `text` is empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlobPart {
    /// The part, where it is text; it never ends within a character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The part in base64, where it is not text or `offset` is within a character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Bytes of the whole payload.
    pub total_bytes: u64,
}
