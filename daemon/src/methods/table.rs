//! Which function answers which method.

use ropewalk_protocol as p;

use super::{
    attention, blobs, branches, context, daemon, endpoints, grants, instructions, interactions, items, memory,
    policies, projects, queue, runs, search, servers, settings, threads, upkeep,
};
use crate::dispatch::Table;

/// The table of all methods. A test holds it against the catalogue.
#[must_use]
pub fn table() -> Table {
    let mut table = Table::default();
    of_the_daemon(&mut table);
    of_memory(&mut table);
    of_threads(&mut table);
    table
}

/// What belongs to no thread.
fn of_the_daemon(table: &mut Table) {
    table
        .on::<p::Initialize>(daemon::initialize)
        .on::<p::DaemonStatus>(daemon::status)
        .on::<p::DaemonShutdown>(daemon::shutdown)
        .on::<p::DaemonBackup>(upkeep::backup)
        .on::<p::DaemonCheck>(upkeep::check)
        .on::<p::SettingsRead>(settings::read)
        .on::<p::SettingsUpdate>(settings::update)
        .on::<p::ProjectCreate>(projects::create)
        .on::<p::ProjectRead>(projects::read)
        .on::<p::ProjectList>(projects::list)
        .on::<p::ProjectUpdate>(projects::update)
        .on::<p::ProjectEnsure>(projects::ensure)
        .on::<p::ProjectDelete>(projects::delete)
        .on::<p::GrantAdd>(grants::add)
        .on::<p::GrantRemove>(grants::remove)
        .on::<p::GrantList>(grants::list)
        .on::<p::PolicySet>(policies::set)
        .on::<p::PolicyRemove>(policies::remove)
        .on::<p::PolicyList>(policies::list)
        .on::<p::SecurityReplace>(projects::replace_security)
        .on::<p::EndpointSet>(endpoints::set)
        .on::<p::EndpointRemove>(endpoints::remove)
        .on::<p::EndpointList>(endpoints::list)
        .on::<p::EndpointTest>(endpoints::test)
        .on::<p::SecretSet>(endpoints::set_secret)
        .on::<p::SecretRemove>(endpoints::remove_secret)
        .on::<p::ServerAdd>(servers::add)
        .on::<p::ServerList>(servers::list)
        .on::<p::ServerRead>(servers::read)
        .on::<p::ServerStatus>(servers::status)
        .on::<p::ServerUpdate>(servers::update)
        .on::<p::ServerRestart>(servers::restart)
        .on::<p::ServerRemove>(servers::remove)
        .on::<p::ServerReviewRead>(servers::review)
        .on::<p::ServerReviewCheck>(servers::check)
        .on::<p::ServerReviewSubmit>(servers::submit);
}

/// What runs are told and remember.
fn of_memory(table: &mut Table) {
    table
        .on::<p::MemoryList>(memory::list)
        .on::<p::MemoryRead>(memory::read)
        .on::<p::MemoryCreate>(memory::create)
        .on::<p::MemoryUpdate>(memory::update)
        .on::<p::MemoryDelete>(memory::delete)
        .on::<p::InstructionsRead>(instructions::read)
        .on::<p::InstructionsReplace>(instructions::replace);
}

fn of_threads(table: &mut Table) {
    table
        .on::<p::ThreadStart>(threads::start)
        .on::<p::ThreadResume>(threads::resume)
        .on::<p::ThreadRead>(threads::read)
        .on::<p::ThreadList>(threads::list)
        .on::<p::ThreadUpdate>(threads::update)
        .on::<p::ThreadArchive>(threads::archive)
        .on::<p::ThreadMarkRead>(threads::mark_read)
        .on::<p::ThreadDelete>(threads::delete)
        .on::<p::ThreadMessages>(threads::messages)
        .on::<p::ThreadSearch>(search::search)
        .on::<p::ThreadEvents>(threads::events)
        .on::<p::ThreadSubscribe>(threads::subscribe)
        .on::<p::ThreadUnsubscribe>(threads::unsubscribe)
        .on::<p::ThreadTools>(threads::tools)
        .on::<p::RunSubmit>(runs::submit)
        .on::<p::RunStop>(runs::stop)
        .on::<p::RunWait>(runs::wait)
        .on::<p::RunRead>(runs::read)
        .on::<p::RunList>(runs::list)
        .on::<p::RunSkip>(runs::skip)
        .on::<p::RunResume>(runs::resume)
        .on::<p::BranchList>(branches::list)
        .on::<p::BranchUpdate>(branches::update)
        .on::<p::BranchDelete>(branches::delete)
        .on::<p::RunRetry>(runs::retry)
        .on::<p::RunRebase>(runs::rebase)
        .on::<p::ItemList>(items::list)
        .on::<p::ItemRead>(items::read)
        .on::<p::QueueList>(queue::list)
        .on::<p::QueueUpdate>(queue::update)
        .on::<p::QueueRemove>(queue::remove)
        .on::<p::QueueClear>(queue::clear)
        .on::<p::QueueReorder>(queue::reorder)
        .on::<p::ContextPreview>(context::preview)
        .on::<p::BlobRead>(blobs::read)
        .on::<p::InteractionList>(interactions::list)
        .on::<p::InteractionSettle>(interactions::settle)
        .on::<p::AttentionList>(attention::list)
        .on::<p::AttentionSeen>(attention::seen);
}
