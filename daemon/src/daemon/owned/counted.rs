//! What a listing makes of a server's approved tools, worked out once: runs ask for it at every step, and comparing schemas
//! takes long.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use ropewalk_protocol::{ServerCounts, ServerId};

use crate::{
    catalogue::ServerRecord,
    tools::{
        mcp::{Listing, counts, server_tools},
        servers::ServerTool,
    },
};

/// What was worked out, and of what.
#[derive(Clone)]
pub(super) struct Worked {
    revision: u64,
    listing: Option<Arc<Listing>>,
    /// How many tools stand how.
    pub(super) counts: ServerCounts,
    /// The approved tools.
    pub(super) tools: Arc<Vec<ServerTool>>,
}

/// The newest for each server.
#[derive(Default)]
pub(super) struct Counted(Mutex<BTreeMap<ServerId, Worked>>);

impl Counted {
    /// What this listing makes of a server.
    pub(super) fn of(&self, record: &ServerRecord, listing: Option<Arc<Listing>>) -> Worked {
        let known = self.lock().get(&record.server_id).cloned();
        if let Some(known) = known.filter(|known| known.is_of(record, listing.as_ref())) {
            return known;
        }
        let worked = Worked {
            revision: record.revision,
            counts: counts(&record.reviewed(), listing.as_deref()),
            tools: Arc::new(server_tools(&record.owned(), listing.as_deref())),
            listing,
        };
        self.lock().insert(record.server_id.clone(), worked.clone());
        worked
    }

    /// A server is gone.
    pub(super) fn forget(&self, id: &ServerId) {
        self.lock().remove(id);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<ServerId, Worked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worked {
    fn is_of(&self, record: &ServerRecord, listing: Option<&Arc<Listing>>) -> bool {
        let is_same = match (&self.listing, listing) {
            (None, None) => true,
            (Some(known), Some(now)) => Arc::ptr_eq(known, now),
            _ => false,
        };
        is_same && self.revision == record.revision
    }
}
