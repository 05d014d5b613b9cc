//! Faults that are put between the Rust SDK and the socket: each makes a driver that breaks one rule of the wire, and that
//! the kit has to catch. They are what shows that the vectors can fail.

mod incoming;
mod outgoing;
mod tap;

use std::{io, path::PathBuf, sync::Arc};

use clap::ValueEnum;
use ropewalk::{Connect, Ropewalk};
use serde_json::Value;
use tokio::net::UnixStream;

use tap::Tap;

/// A rule that a driver is made to break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Fault {
    /// Says that it can approve, whether or not there is a handler.
    ClaimsApprovals,
    /// Says that it can answer questions, whether or not there is a handler.
    ClaimsInput,
    /// Accepts what its handler gave no decision on.
    InventsApprovals,
    /// Calls the handler again for a call that is offered again.
    RunsTwice,
    /// Leaves calls unanswered for which it has no handler.
    ForgetsUnknownTools,
    /// Takes no thread up again after a cut.
    ForgetsThreads,
    /// Resumes from the beginning rather than behind the last event it has seen.
    StartsOver,
    /// Is another instance after a cut.
    ChangesInstance,
    /// Repeats a request after a cut under another operation id.
    ChangesOperation,
    /// Closes the connection at an event whose type it does not know.
    ClosesOnUnknownEvent,
    /// Says that it has done what it knows nothing of.
    AnswersStrangers,
    /// Does not hear that an interaction was settled.
    MissesSettlements,
    /// Sends no progress.
    SwallowsProgress,
    /// Sends its results twice.
    RepeatsAnswers,
    /// Fails without a message.
    FailsSilently,
    /// Succeeds without content.
    SucceedsEmpty,
    /// Sends what an SDK adds of its own accord: a field that no declaration has.
    AddsToDeclarations,
    /// Reads each piece of the stream as text of its own.
    ReadsPieces,
    /// Loses what stands behind the first line of a piece of the stream.
    ReadsOneLineAPiece,
    /// Writes a message over several lines.
    WritesSeveralLines,
    /// Leaves `jsonrpc` out.
    OmitsTheVersion,
    /// Calls every refusal an internal error.
    BlursErrors,
    /// Does not pass a stop on.
    IgnoresStops,
    /// Does not say who it is.
    HidesItsName,
    /// Does not end when it is done.
    Lingers,
}

/// What a fault has seen, on all connections of a driver.
#[derive(Default)]
struct Memory {
    /// How many connections there were.
    connections: u64,
    /// Methods of the daemon's requests that are not answered yet, by id.
    asked: std::collections::HashMap<String, String>,
    /// Threads as the daemon told of them last.
    threads: std::collections::HashMap<String, Value>,
}

/// What becomes of a message on its way.
#[derive(Default)]
struct Passage {
    /// What goes on, in order.
    on: Vec<Value>,
    /// What goes back where it came from.
    back: Vec<Value>,
    /// Whether the connection ends.
    ends: bool,
}

impl Passage {
    fn on(message: Value) -> Self {
        Self { on: vec![message], ..Self::default() }
    }

    fn back(message: Value) -> Self {
        Self { back: vec![message], ..Self::default() }
    }
}

impl Fault {
    /// A client whose connections have this fault.
    pub(super) fn through(self, socket: &str) -> Connect {
        let (socket, tap) = (PathBuf::from(socket), Arc::new(Tap::new(self)));
        Ropewalk::through(move || {
            let (socket, tap) = (socket.clone(), Arc::clone(&tap));
            async move { io::Result::Ok(tap.over(UnixStream::connect(&socket).await?)) }
        })
    }
}
