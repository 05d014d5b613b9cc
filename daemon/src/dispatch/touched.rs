//! What a request is about, read before its handler reads it: while the daemon is still reading logs, only what is about them
//! waits.

use ropewalk_protocol as p;
use ropewalk_protocol::{InteractionId, Method as _, RunId, ThreadId};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::engine::Touched;

#[cfg(test)]
mod tests;

/// The methods that are answered from what belongs to no thread.
const OF_DOCUMENTS: [&str; 12] = [
    p::Initialize::NAME,
    p::DaemonStatus::NAME,
    p::DaemonShutdown::NAME,
    p::SettingsRead::NAME,
    p::ProjectRead::NAME,
    p::ProjectList::NAME,
    p::GrantList::NAME,
    p::PolicyList::NAME,
    p::EndpointList::NAME,
    p::MemoryList::NAME,
    p::MemoryRead::NAME,
    p::InstructionsRead::NAME,
];

/// The methods that are about the thread they name and nothing else: what they change is written to its log, with their
/// operation. One that begins or deletes a thread is not among them.
const OF_A_THREAD: [&str; 33] = [
    p::ThreadResume::NAME,
    p::ThreadRead::NAME,
    p::ThreadUpdate::NAME,
    p::ThreadArchive::NAME,
    p::ThreadMarkRead::NAME,
    p::ThreadMessages::NAME,
    p::ThreadEvents::NAME,
    p::ThreadSearch::NAME,
    p::ThreadSubscribe::NAME,
    p::ThreadUnsubscribe::NAME,
    p::ThreadTools::NAME,
    p::RunSubmit::NAME,
    p::RunStop::NAME,
    p::RunWait::NAME,
    p::RunRead::NAME,
    p::RunList::NAME,
    p::RunSkip::NAME,
    p::RunResume::NAME,
    p::RunRetry::NAME,
    p::RunRebase::NAME,
    p::BranchList::NAME,
    p::BranchUpdate::NAME,
    p::BranchDelete::NAME,
    p::ItemList::NAME,
    p::ItemRead::NAME,
    p::QueueList::NAME,
    p::QueueUpdate::NAME,
    p::QueueRemove::NAME,
    p::QueueClear::NAME,
    p::QueueReorder::NAME,
    p::ContextPreview::NAME,
    p::InteractionList::NAME,
    p::InteractionSettle::NAME,
];

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Named {
    thread_id: Option<ThreadId>,
    run_id: Option<RunId>,
    interaction_id: Option<InteractionId>,
}

/// What a request touches.
pub(super) fn by(method: &str, params: Option<&RawValue>) -> Touched {
    if OF_DOCUMENTS.contains(&method) {
        return Touched::Documents;
    }
    if !OF_A_THREAD.contains(&method) {
        return Touched::Everything;
    }
    match params.map_or_else(|| Ok(Named::default()), |params| serde_json::from_str(params.get())) {
        Ok(Named { thread_id: Some(id), .. }) => Touched::Thread(id),
        Ok(Named { run_id: Some(id), .. }) => Touched::Run(id),
        Ok(Named { interaction_id: Some(id), .. }) => Touched::Interaction(id),
        Ok(_) => Touched::Everything,
        // Its handler says what is wrong with it.
        Err(_) => Touched::Documents,
    }
}
