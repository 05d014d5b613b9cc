//! The methods of the wire, one file a noun: name, direction, parameters and result tied together by a type.

mod attention;
mod blobs;
mod branches;
mod context;
mod daemon;
mod endpoints;
mod from_daemon;
mod history;
mod instructions;
mod interactions;
mod items;
mod memory;
mod policies;
mod projects;
mod queue;
mod runs;
mod security;
mod servers;
mod threads;

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

pub use attention::*;
pub use blobs::*;
pub use branches::*;
pub use context::*;
pub use daemon::*;
pub use endpoints::*;
pub use from_daemon::*;
pub use history::*;
pub use instructions::*;
pub use interactions::*;
pub use items::*;
pub use memory::*;
pub use policies::*;
pub use projects::*;
pub use queue::*;
pub use runs::*;
pub use security::*;
pub use servers::*;
pub use threads::*;

/// Who sends a request or notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A client, to the daemon.
    ToDaemon,
    /// The daemon, to a client.
    ToClient,
}

/// How a request is treated before its handler sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Counts against `maxInFlight`.
    Work,
    /// Never refused for load: stopping, answering, asking how things are.
    Control,
}

/// A request: its name ties parameters, result and direction together.
pub trait Method: 'static {
    /// The name on the wire, such as `run/submit`.
    const NAME: &'static str;
    /// Who sends it.
    const DIRECTION: Direction;
    /// Whether it changes anything; if so it takes `operationId`.
    const MUTATES: bool;
    /// How it is treated under load.
    const LANE: Lane;
    /// What it does, in a sentence or two.
    const DOC: &'static str;
    /// Its parameters.
    type Params: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
    /// Its result.
    type Result: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
}

/// A notification: a message without an answer.
pub trait Notification: 'static {
    /// The name on the wire, such as `thread/event`.
    const NAME: &'static str;
    /// Who sends it.
    const DIRECTION: Direction;
    /// What it tells, in a sentence or two.
    const DOC: &'static str;
    /// Its parameters.
    type Params: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
}

/// Declares methods: `Type = "name"(Params) -> Result, direction, reads|changes, lane;`.
macro_rules! methods {
    ($($(#[doc = $doc:literal])+ $name:ident = $wire:literal($params:ty) -> $result:ty, $direction:ident, $mutates:ident, $lane:ident;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl $crate::Method for $name {
            const NAME: &'static str = $wire;
            const DIRECTION: $crate::Direction = $crate::Direction::$direction;
            const MUTATES: bool = methods!(@mutates $mutates);
            const LANE: $crate::Lane = $crate::Lane::$lane;
            const DOC: &'static str = concat!($($doc, "\n"),+);
            type Params = $params;
            type Result = $result;
        }
    )*};
    (@mutates changes) => { true };
    (@mutates reads) => { false };
}

/// Declares notifications: `Type = "name"(Params), direction;`.
macro_rules! notifications {
    ($($(#[doc = $doc:literal])+ $name:ident = $wire:literal($params:ty), $direction:ident;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl $crate::Notification for $name {
            const NAME: &'static str = $wire;
            const DIRECTION: $crate::Direction = $crate::Direction::$direction;
            const DOC: &'static str = concat!($($doc, "\n"),+);
            type Params = $params;
        }
    )*};
}

pub(crate) use methods;
pub(crate) use notifications;

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{T}Page")]
pub struct Page<T> {
    /// The items, at most `limit` of them and at most 262,144 characters, the first one always included.
    pub items: Vec<T>,
    /// Where the next page begins; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<crate::Cursor>,
    /// Whether something was left out that no further page has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// An empty object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize, JsonSchema)]
pub struct Empty {}

/// What a deletion did, or would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Removed {
    /// Whether it happened; not on a dry run, and not when there was nothing.
    pub applied: bool,
    /// Whether it was only rehearsed.
    pub dry_run: bool,
    /// A sentence that says what goes with it.
    pub effect: String,
    /// Whether this is the stored answer of an operation that was asked for before.
    #[serde(default)]
    pub replayed: bool,
}
