//! What lists may have missed while the connection was away: all there is.

use ropewalk_protocol::{DataChangedParams, DataKind};

/// Every kind this build knows.
const KINDS: [DataKind; 18] = [
    DataKind::Project,
    DataKind::Thread,
    DataKind::Run,
    DataKind::Queue,
    DataKind::Interaction,
    DataKind::Attention,
    DataKind::Tool,
    DataKind::Policy,
    DataKind::Grant,
    DataKind::Endpoint,
    DataKind::Settings,
    DataKind::Server,
    DataKind::Account,
    DataKind::Memory,
    DataKind::Instructions,
    DataKind::Resource,
    DataKind::Review,
    DataKind::App,
];

/// Word of a change of everything, which no daemon sent.
pub(super) fn everything() -> DataChangedParams {
    DataChangedParams { seq: 0, kinds: KINDS.to_vec(), ids: None, origin: None }
}
