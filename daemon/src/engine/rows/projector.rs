//! Working out the rows of threads anew, record by record, from their logs.

use std::sync::{Mutex, PoisonError};

use ropewalk_protocol::{Event, Origin, Seq, Thread, ThreadId};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{changed, load};
use crate::{
    domain::{Fact, ThreadState},
    engine::removal,
    store::{LogName, Projector, Record, RowChange, Rows, StoreError, keys},
};

/// How many logs are worked on at once at most, with their states in memory.
const LOGS_AT_ONCE: usize = 4;

/// Works out a thread's rows from its log, for logs that are ahead of the index.
#[derive(Default)]
pub struct ThreadProjector {
    /// The threads last worked on, since a log's records come one after the other.
    last: Mutex<Vec<ThreadState>>,
}

impl ThreadProjector {
    /// The state of a thread before a record, if it was worked on just now.
    fn take(&self, id: &ThreadId, n: Seq) -> Option<ThreadState> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let at = last.iter().position(|state| state.thread.thread_id == *id)?;
        Some(last.remove(at)).filter(|state| state.thread.seq + 1 == n)
    }

    fn keep(&self, state: ThreadState) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == LOGS_AT_ONCE {
            last.remove(0);
        }
        last.push(state);
    }
}

impl Projector for ThreadProjector {
    fn project(&self, log: &LogName, record: &Record, rows: &dyn Rows) -> Result<Vec<RowChange>, String> {
        let id = match log {
            LogName::Thread(id) => id,
            LogName::Daemon => return removal::rows_of_daemon(record, rows),
            LogName::Transcript(_) => return Ok(Vec::new()),
        };
        let events = record.events.iter().map(|event| parse_text::<Event>(event)).collect::<Result<Vec<_>, _>>()?;
        let facts = record.facts.iter().map(|fact| parse_text::<Fact>(fact)).collect::<Result<Vec<_>, _>>()?;
        let loaded = match self.take(id, record.n) {
            Some(state) => Some(state),
            None => load(rows, id).map_err(|error| error.to_string())?,
        };
        let mut state = loaded.or_else(|| first_state(id, &events)).ok_or("the log does not begin with its thread")?;
        for event in &events {
            state.apply(event, record.at);
        }
        for fact in &facts {
            state.apply_fact(fact, record.n);
        }
        let current = removal::without_expired(record, rows)?;
        let changes = changed(&mut state, &current).map_err(|error| error.to_string())?;
        self.keep(state);
        Ok(changes)
    }

    fn is_removed(&self, log: &LogName, rows: &dyn Rows) -> Result<bool, StoreError> {
        match log {
            LogName::Thread(id) => Ok(rows.get(&keys::tombstone(id))?.is_some()),
            LogName::Daemon | LogName::Transcript(_) => Ok(false),
        }
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
