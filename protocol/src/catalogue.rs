//! The list of everything that is on the wire: nothing exists that is not in it.

use schemars::{Schema, SchemaGenerator};

use crate::{Direction, Lane, Method, Notification};

/// A method as data, for tables, docs and checks.
#[derive(Clone, Copy)]
pub struct MethodEntry {
    /// The name on the wire.
    pub name: &'static str,
    /// Who sends it.
    pub direction: Direction,
    /// Whether it changes anything.
    pub mutates: bool,
    /// How it is treated under load.
    pub lane: Lane,
    /// What it does.
    pub doc: &'static str,
    /// The schema of its parameters.
    pub params: fn(&mut SchemaGenerator) -> Schema,
    /// The schema of its result.
    pub result: fn(&mut SchemaGenerator) -> Schema,
}

/// A notification as data.
#[derive(Clone, Copy)]
pub struct NotificationEntry {
    /// The name on the wire.
    pub name: &'static str,
    /// Who sends it.
    pub direction: Direction,
    /// What it tells.
    pub doc: &'static str,
    /// The schema of its parameters.
    pub params: fn(&mut SchemaGenerator) -> Schema,
}

const fn method<M: Method>() -> MethodEntry {
    MethodEntry {
        name: M::NAME,
        direction: M::DIRECTION,
        mutates: M::MUTATES,
        lane: M::LANE,
        doc: M::DOC,
        params: |generator| generator.subschema_for::<M::Params>(),
        result: |generator| generator.subschema_for::<M::Result>(),
    }
}

const fn notification<N: Notification>() -> NotificationEntry {
    NotificationEntry {
        name: N::NAME,
        direction: N::DIRECTION,
        doc: N::DOC,
        params: |generator| generator.subschema_for::<N::Params>(),
    }
}

macro_rules! entries {
    ($function:ident: $($name:ident),* $(,)?) => { &[$($function::<crate::$name>(),)*] };
}

/// Every method, in both directions.
pub const METHODS: &[MethodEntry] = entries![method:
    Initialize, DaemonStatus, DaemonShutdown, DaemonBackup, DaemonCheck,
    ProjectCreate, ProjectRead, ProjectList, ProjectUpdate, ProjectEnsure, ProjectDelete,
    GrantAdd, GrantRemove, GrantList,
    PolicySet, PolicyRemove, PolicyList, SecurityReplace,
    ThreadStart, ThreadResume, ThreadRead, ThreadList, ThreadUpdate, ThreadArchive, ThreadMessages, ThreadEvents,
    ThreadSearch,
    ThreadSubscribe, ThreadUnsubscribe, ThreadTools, ThreadDelete,
    ThreadMarkRead, ItemList, ItemRead,
    RunSubmit, RunStop, RunWait, RunRead, RunList, RunSkip, RunResume,
    BranchList, BranchUpdate, BranchDelete,
    RunRetry, RunRebase,
    QueueList, QueueUpdate, QueueRemove, QueueClear, QueueReorder,
    InteractionList, InteractionSettle,
    AttentionList, AttentionSeen,
    MemoryList, MemoryRead, MemoryCreate, MemoryUpdate, MemoryDelete,
    InstructionsRead, InstructionsReplace,
    ContextPreview,
    BlobRead,
    EndpointSet, EndpointRemove, EndpointList, EndpointTest,
    SecretSet, SecretRemove,
    SettingsRead, SettingsUpdate,
    ServerAdd, ServerList, ServerRead, ServerStatus, ServerUpdate, ServerRestart, ServerRemove,
    ServerReviewRead, ServerReviewCheck, ServerReviewSubmit,
    ToolCall, ApprovalAsk, InputAsk,
];

/// Every notification, in both directions.
pub const NOTIFICATIONS: &[NotificationEntry] = entries![notification:
    ThreadEventSent, ThreadUnsubscribed, DataChanged, Navigate, InteractionSettledSent, InteractionInvalidAnswer,
    ToolProgressSent, CancelRequest,
];

/// The entry of a method.
#[must_use]
pub fn find(name: &str) -> Option<&'static MethodEntry> {
    METHODS.iter().find(|entry| entry.name == name)
}
