//! A server as the wire shows it: what is kept of it, and how it stands.

use ropewalk_protocol::{Account, AccountState, Server, ServerCounts, ServerState, SignIn, Timestamp};

use super::OwnedServers;
use crate::{
    catalogue::{APP, ServerRecord},
    tools::mcp::{Connection, connection_type},
};

/// How a server stands, with the reason and whose fault it is.
struct Standing {
    state: ServerState,
    since: Option<Timestamp>,
    reason: Option<String>,
    party: Option<String>,
}

impl OwnedServers {
    /// A server as it stands now, without what its process wrote.
    #[must_use]
    pub fn shown(&self, record: &ServerRecord) -> Server {
        let listing = self.listed(&record.server_id);
        let has_listing = listing.is_some();
        let counts = self.counted.of(record, listing).counts;
        let standing = standing(record, self.connection(&record.server_id), &counts, has_listing);
        let builtin = record.is_builtin();
        Server {
            server_id: record.server_id.clone(),
            slug: record.slug.clone(),
            name: record.name.clone(),
            transport: record.transport,
            url: None,
            command: (!builtin).then(|| record.command.clone()),
            args: (!builtin).then(|| record.args.clone()),
            env_names: (!builtin).then(|| record.env_names.clone()),
            builtin,
            read_only: builtin,
            removable: !builtin,
            enabled: record.enabled,
            trusted: record.trusted,
            private_network: false,
            origins: Vec::new(),
            sign_in: SignIn::None,
            state: standing.state,
            since: standing.since,
            reason: standing.reason,
            party: standing.party,
            accounts: if builtin { Vec::new() } else { vec![account(record)] },
            counts,
            stderr_tail: None,
            revision: record.revision,
        }
    }

    /// The same, with the last of what its process wrote to stderr.
    #[must_use]
    pub fn shown_whole(&self, record: &ServerRecord) -> Server {
        let stderr_tail = self.connection(&record.server_id).stderr_tail.filter(|tail| !tail.is_empty());
        Server { stderr_tail, ..self.shown(record) }
    }
}

/// The one account of a server without sign-in (MCP-25).
fn account(record: &ServerRecord) -> Account {
    Account {
        account_id: format!("{}:local", connection_type(&record.slug)).into(),
        server_id: record.server_id.clone(),
        name: "This computer".to_owned(),
        label: None,
        kind: SignIn::None,
        state: AccountState::Ready,
        is_default: true,
        revision: 1,
    }
}

fn standing(record: &ServerRecord, connection: Connection, counts: &ServerCounts, has_listing: bool) -> Standing {
    let Connection { state, since, trouble, .. } = connection;
    let known =
        state.unwrap_or(if record.server_id.as_str() == APP { ServerState::Ready } else { ServerState::Stopped });
    let is_up = matches!(known, ServerState::Ready | ServerState::Stopped);
    let awaits_review = !record.is_builtin() && !record.reviewed && is_up;
    let reason = match &trouble {
        Some(trouble) => Some(trouble.reason),
        None if awaits_review && has_listing && counts.new + counts.approved == 0 => Some("no_usable_tool"),
        None if awaits_review || counts.blocked > 0 => Some("review_needed"),
        None => None,
    };
    Standing {
        state: if awaits_review { ServerState::NeedsReview } else { known },
        since,
        reason: reason.map(ToOwned::to_owned),
        party: trouble.map(|trouble| format!("{}: {}", record.name, trouble.text)),
    }
}
