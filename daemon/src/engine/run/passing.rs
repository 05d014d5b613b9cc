//! Whose a client's open call is: its owner's, who may be away, or that of the process that has the tool now.

use ropewalk_protocol::{By, ByKind, ClientRef, InteractionId, Timestamp};

use super::{
    report::{Over, Reporter},
    waiting::Attendance,
};
use crate::{engine::Turn, tools::ToolSpec};

/// Who has a call.
pub enum Holding {
    /// A client that is here, or may come back.
    Client(Attendance),
    /// Nobody any more: its owner is told to stop, and what it has done by then nobody knows.
    Nobody(By),
}

/// Looks who has an open call. One whose tool another process has now goes over to it where nothing can have happened yet, or
/// may happen twice (DYN-38); otherwise it stays with an owner that is away for its grace, and is lost to one that is here
/// (DYN-33, DYN-36).
pub async fn holding(reporter: &Reporter, id: &InteractionId, tool: &ToolSpec) -> Result<Holding, Over> {
    let (id, tool) = (id.clone(), tool.clone());
    reporter
        .look(move |turn, _| {
            let open = turn.state().interactions.get(&id);
            let Some(owner) = open.and_then(|open| open.offered_to.first()).cloned() else {
                return Holding::Client(Attendance { is_attended: false, grace_until: turn.at() });
            };
            let Some((next, is_same_tool)) = next_owner(turn, &owner, &tool) else {
                return Holding::Client(presence(turn, &owner));
            };
            let may_pass = is_same_tool && (may_be_repeated(&tool) || !was_sent(turn, &id));
            if may_pass && turn.live.holder(&next).is_some() {
                turn.change.pass_on(&id, &next);
                return Holding::Client(presence(turn, &next));
            }
            if !may_pass && turn.live.holder(&owner).is_some() {
                return Holding::Nobody(By::client(ByKind::Client, &next));
            }
            Holding::Client(presence(turn, &owner))
        })
        .await
}

/// Whether a client may have begun with a call.
pub fn was_sent(turn: &Turn<'_>, id: &InteractionId) -> bool {
    // Offered again, it had been offered before.
    let was_offered_again = turn.state().interactions.get(id).is_some_and(|open| open.attempt > 1);
    was_offered_again || turn.live.waits.get(id).is_some_and(|wait| !wait.offered.is_empty())
}

/// The process other than `owner` that has a tool of this name, and whether it is the same tool.
fn next_owner(turn: &Turn<'_>, owner: &ClientRef, tool: &ToolSpec) -> Option<(ClientRef, bool)> {
    let others = turn.state().tool_sets.iter().filter(|(other, _)| *other != owner);
    let mut named = others.flat_map(|(other, set)| set.tools.iter().map(move |held| (other, held)));
    let (next, held) = named.find(|(_, held)| held.flat_name == tool.flat_name)?;
    Some((next.clone(), held.digest == tool.digest))
}

fn presence(turn: &Turn<'_>, owner: &ClientRef) -> Attendance {
    let grace_ms = turn.shared.catalogue.snapshot().settings.owner_grace_ms;
    let grace_until: Timestamp = turn.live.away_since(owner).plus_millis(grace_ms);
    Attendance { is_attended: turn.live.holder(owner).is_some(), grace_until }
}

/// Whether a call may be made twice: it has no effect, or the same as once.
fn may_be_repeated(tool: &ToolSpec) -> bool {
    let hints = &tool.annotations;
    hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true)
}
