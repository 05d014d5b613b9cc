//! JSON-RPC 2.0 envelopes: request ids as they came, and messages without their insides parsed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The id of a request: a string, a 64-bit integer or null, echoed as it came. A fraction is no id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RequestId {
    /// An integer.
    Number(i64),
    /// A string.
    Text(String),
    /// Null.
    Null,
}
