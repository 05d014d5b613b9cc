//! Every number a client could run into, in one place. `initialize` publishes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! limits {
    ($($(#[$doc:meta])* $constant:ident $field:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $constant: u64 = $value;)*

        /// The limits of this daemon, as `initialize` publishes them.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct Limits {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($field: $constant,)* }
            }
        }
    };
}

limits! {
    /// Bytes of one message, its line break not counted; a longer line is skipped and answered with `tooLarge`.
    MAX_MESSAGE_BYTES max_message_bytes = 16_777_216;
    /// Levels of nesting anywhere in a message.
    MAX_DEPTH max_depth = 100;
    /// Connections open at once; one more gets one `overloaded` line and is closed.
    MAX_CONNECTIONS max_connections = 256;
    /// Requests of one connection being answered at once, control requests and waits not counted.
    MAX_IN_FLIGHT max_in_flight = 64;
    /// Waiting requests of one connection (`run/wait`, `thread/events` with `waitMs`, …) at once.
    MAX_WAITING max_waiting = 64;
    /// Members of a batch.
    MAX_BATCH max_batch = 100;
    /// Inputs waiting on one branch.
    QUEUE_ENTRIES queue_entries = 1_000;
    /// Items of one page; a larger `limit` is read as this.
    PAGE_ITEMS page_items = 1_000;
    /// Characters of one page, its first item always included.
    PAGE_CHARACTERS page_characters = 262_144;
    /// Messages that one page of a search looks at.
    SEARCH_MESSAGES search_messages = 20_000;
    /// Characters of a message that a hit of a search shows, around its first match.
    FRAGMENT_CHARACTERS fragment_characters = 160;
    /// Parts of one input.
    INPUT_PARTS input_parts = 32;
    /// Bytes of one image, decoded.
    IMAGE_BYTES image_bytes = 5_242_880;
    /// Tools one client declares for one thread.
    TOOLS_PER_CLIENT tools_per_client = 128;
    /// Bytes of one schema of a declaration.
    SCHEMA_BYTES schema_bytes = 65_536;
    /// Levels of nesting of one schema of a declaration.
    SCHEMA_LEVELS schema_levels = 64;
    /// Characters of a description.
    DESCRIPTION_CHARACTERS description_characters = 2_048;
    /// Tool calls of one message of the model.
    TOOL_CALLS_PER_MESSAGE tool_calls_per_message = 1_024;
    /// Characters of the arguments of one call.
    ARGUMENT_CHARACTERS argument_characters = 65_536;
    /// Characters of one result that enter the model's context.
    RESULT_CHARACTERS result_characters = 262_144;
    /// Bytes of one stored payload.
    BLOB_BYTES blob_bytes = 67_108_864;
    /// Threads one connection is subscribed to.
    SUBSCRIPTIONS subscriptions = 1_024;
    /// Bytes of events waiting in memory for one connection; the rest is served from the log.
    OUTBOX_BYTES outbox_bytes = 65_536;
    /// Milliseconds for which a repeated operation is recognised, at least.
    OPERATION_RETENTION_MS operation_retention_ms = 86_400_000;
}

/// Branches of one thread. Not published: a client that meets it is told it with the refusal.
pub const BRANCHES: u64 = 1_000;

/// Entries of one scope of memory: the user's, or a project's. Not published, as those that follow: a client that meets one
/// is told it with the refusal.
pub const MEMORY_ENTRIES: u64 = 300;

/// Characters of a memory entry's title.
pub const MEMORY_TITLE_CHARACTERS: u64 = 120;

/// Characters of a memory entry's text.
pub const MEMORY_BODY_CHARACTERS: u64 = 4_000;

/// Tags of a memory entry.
pub const MEMORY_TAGS: u64 = 8;

/// Characters of one tag.
pub const MEMORY_TAG_CHARACTERS: u64 = 64;

/// Characters of the instructions of a project.
pub const INSTRUCTIONS_CHARACTERS: u64 = 32_000;
