//! The tools, one file each: the types of its arguments and of its result, of which the schemas are made, and what it does.

mod edit;
mod find;
mod grep;
mod info;
mod list;
mod read;
mod table;
mod text;
mod write;

pub use list::Kind;
pub use table::{Entry, table};

use ropewalk_protocol::FileChange;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::refusal::Refusal;

/// What a tool did.
#[derive(Debug)]
pub struct Done {
    /// What the model is told.
    pub text: String,
    /// The same as data.
    pub structured: Value,
    /// The file it changed.
    pub change: Option<Changed>,
}

/// A file that was changed, for the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Where it is.
    pub path: String,
    /// What happened to it.
    pub change: FileChange,
}

impl Done {
    fn new(text: String, data: &impl Serialize) -> Result<Self, Refusal> {
        let structured = serde_json::to_value(data).map_err(|error| Refusal::asked(error.to_string()))?;
        Ok(Self { text, structured, change: None })
    }
}

/// Characters of one answer.
pub const CHARACTERS: usize = 262_144;

/// What is left of the characters of an answer.
#[derive(Debug)]
pub struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(CHARACTERS)
    }
}

impl Room {
    /// Takes this many characters and whether there were so many; when not, the answer is full.
    pub fn take(&mut self, characters: usize) -> bool {
        let left = self.0.checked_sub(characters);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// Whether the call was taken back.
#[derive(Clone, Debug, Default)]
pub struct Stop(pub CancellationToken);

impl Stop {
    /// Ends the tool where it is, if the call was taken back.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.0.is_cancelled() { Err(Refusal::Cancelled) } else { Ok(()) }
    }
}
