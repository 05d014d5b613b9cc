//! Working out the rows of threads anew, record by record, from their logs.

use ropewalk_protocol::{Event, Origin, Thread, ThreadId};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{changed, load};
use crate::{
    domain::{Fact, ThreadState},
    engine::removal,
    store::{LogName, Projection, Projector, Record, RowChange, Rows, StoreError, keys},
};

/// Works out a thread's rows from its log, for logs that are ahead of the index.
pub struct ThreadProjector;

impl Projector for ThreadProjector {
    fn begin(&self, log: &LogName) -> Box<dyn Projection> {
        match log {
            LogName::Thread(id) => Box::new(ThreadProjection { id: id.clone(), state: None }),
            LogName::Daemon => Box::new(DaemonProjection),
            LogName::Transcript(_) => Box::new(NoRows),
        }
    }

    fn is_removed(&self, log: &LogName, rows: &dyn Rows) -> Result<bool, StoreError> {
        match log {
            LogName::Thread(id) => Ok(rows.get(&keys::tombstone(id))?.is_some()),
            LogName::Daemon | LogName::Transcript(_) => Ok(false),
        }
    }
}

/// The rows of one thread.
struct ThreadProjection {
    id: ThreadId,
    /// The thread after the last record; nothing before the first one.
    state: Option<ThreadState>,
}

impl Projection for ThreadProjection {
    fn project(&mut self, record: &Record, rows: &dyn Rows) -> Result<Vec<RowChange>, String> {
        let events = record.events.iter().map(|event| parse_text::<Event>(event)).collect::<Result<Vec<_>, _>>()?;
        let facts = record.facts.iter().map(|fact| parse_text::<Fact>(fact)).collect::<Result<Vec<_>, _>>()?;
        let known = match self.state.take() {
            Some(state) => Some(state),
            None => load(rows, &self.id).map_err(|error| error.to_string())?,
        };
        let first = || first_state(&self.id, &events);
        let state = self.state.insert(known.or_else(first).ok_or("the log does not begin with its thread")?);
        for event in &events {
            state.apply(event, record.at);
        }
        for fact in &facts {
            state.apply_fact(fact, record.n);
        }
        let current = removal::without_expired(record, rows)?;
        changed(state, &current).map_err(|error| error.to_string())
    }
}

/// The rows of the daemon's own log.
struct DaemonProjection;

impl Projection for DaemonProjection {
    fn project(&mut self, record: &Record, rows: &dyn Rows) -> Result<Vec<RowChange>, String> {
        removal::rows_of_daemon(record, rows)
    }
}

/// A log that leads to no rows.
struct NoRows;

impl Projection for NoRows {
    fn project(&mut self, _: &Record, _: &dyn Rows) -> Result<Vec<RowChange>, String> {
        Ok(Vec::new())
    }
}

fn first_state(id: &ThreadId, events: &[Event]) -> Option<ThreadState> {
    let Event::ThreadUpdated { thread } = events.first()? else { return None };
    let header = Thread {
        thread_id: id.clone(),
        seq: 0,
        origin: Origin { client_name: String::new(), channel: None, user_id: None },
        ..thread.clone()
    };
    Some(ThreadState::new(header))
}

fn parse_text<T: DeserializeOwned>(text: &RawValue) -> Result<T, String> {
    serde_json::from_str(text.get()).map_err(|error| error.to_string())
}
