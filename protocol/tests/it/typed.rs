//! Every method and notification by name, with its types: reads JSON into them and writes it again.

use std::collections::BTreeMap;

use ropewalk_protocol::{Method, Notification};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Reads a value into a type and writes it again.
pub(crate) type RoundTrip = fn(Value) -> Result<Value, String>;

/// The types of one method.
pub(crate) struct Types {
    /// Through its parameters.
    pub(crate) params: RoundTrip,
    /// Through its result; a notification has none.
    pub(crate) result: Option<RoundTrip>,
}

/// Through any type.
pub(crate) fn round_trip<T: Serialize + DeserializeOwned>(value: Value) -> Result<Value, String> {
    let typed: T = serde_json::from_value(value).map_err(|error| error.to_string())?;
    serde_json::to_value(typed).map_err(|error| error.to_string())
}

/// All of them.
pub(crate) fn types() -> BTreeMap<&'static str, Types> {
    macro_rules! table {
        ($($method:ident)* ; $($notification:ident)*) => {{
            use ropewalk_protocol::*;
            BTreeMap::from([
                $(method::<$method>(),)*
                $(notification::<$notification>(),)*
            ])
        }};
    }
    table![
        Initialize DaemonStatus DaemonShutdown DaemonBackup DaemonCheck ProjectCreate ProjectRead ProjectList ProjectUpdate ProjectEnsure ProjectDelete GrantAdd
        GrantRemove GrantList PolicySet PolicyRemove PolicyList ThreadStart ThreadResume ThreadRead ThreadList
        ThreadUpdate ThreadArchive ThreadMessages ThreadSearch ThreadEvents ThreadSubscribe ThreadUnsubscribe
        ThreadTools ThreadDelete RunSubmit
         RunStop RunWait RunRead RunList RunSkip RunResume RunRetry RunRebase ThreadMarkRead ItemList ItemRead BranchList
         BranchUpdate BranchDelete QueueList QueueUpdate QueueRemove QueueClear QueueReorder InteractionList
        InteractionSettle ContextPreview BlobRead EndpointSet EndpointRemove EndpointList EndpointTest SecretSet SecretRemove SettingsRead SettingsUpdate
        ServerAdd ServerList ServerRead ServerStatus ServerUpdate ServerRestart ServerRemove ServerReviewRead
        ServerReviewCheck ServerReviewSubmit ToolCall ApprovalAsk InputAsk
        ;
        ThreadEventSent ThreadUnsubscribed DataChanged Navigate InteractionSettledSent InteractionInvalidAnswer
        ToolProgressSent CancelRequest
    ]
}

fn method<M: Method>() -> (&'static str, Types) {
    (M::NAME, Types { params: round_trip::<M::Params>, result: Some(round_trip::<M::Result>) })
}

fn notification<N: Notification>() -> (&'static str, Types) {
    (N::NAME, Types { params: round_trip::<N::Params>, result: None })
}
