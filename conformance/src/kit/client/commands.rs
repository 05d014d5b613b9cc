//! What the runner tells a driver, one JSON object a line: the command language of `conformance/DRIVERS.md` as types.
//!
//! The runner passes commands on as they stand in a vector; these types are what a driver reads, and what a test holds all
//! vectors against.

use ropewalk_protocol::{Annotations, ApprovalWish};
use serde::Deserialize;
use serde_json::Value;

/// One command: what to do, and the id that every report about it carries.
#[derive(Clone, Debug, Deserialize)]
pub struct Command {
    /// Chosen by the vector, unique within it.
    pub id: String,
    /// What to do.
    #[serde(flatten)]
    pub verb: Verb,
}

/// What a driver can be told to do. Every verb ends with a report `done` or `failed`.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "cmd", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Verb {
    /// Makes the one client of the driver.
    Connect(Box<ConnectArgs>),
    /// Starts a thread, which later commands know by a name of the vector's.
    Start {
        /// The name.
        thread: String,
        /// Its title.
        title: Option<String>,
        /// Tools to declare and bind.
        #[serde(default)]
        tools: Vec<ToolSpec>,
    },
    /// Takes up a thread that exists.
    Resume {
        /// The name.
        thread: String,
        /// The thread's id.
        thread_id: String,
        /// Tools to declare and bind; absent leaves what was declared.
        tools: Option<Vec<ToolSpec>>,
        /// The last event that was seen.
        after: Option<u64>,
        /// Whether tools of others may be taken over.
        #[serde(default)]
        takeover: bool,
    },
    /// Attaches one more tool to a thread, under a name to detach it by.
    Attach {
        /// Which thread.
        thread: String,
        /// The name.
        attached: String,
        /// The tool.
        tool: Box<ToolSpec>,
    },
    /// Detaches the handler of an attached tool.
    Detach {
        /// The name.
        attached: String,
    },
    /// Runs input and waits for its result, in the shortest way the SDK has.
    Run {
        /// Which thread.
        thread: String,
        /// A text.
        input: String,
    },
    /// Submits input for a run that later commands know by a name of the vector's.
    Submit {
        /// Which thread.
        thread: String,
        /// A text.
        input: String,
        /// The name.
        run: String,
    },
    /// Waits for the result of a submitted run.
    Result {
        /// Which run.
        run: String,
    },
    /// Iterates the events of a submitted run, each one a report `event`, until they end.
    Iterate {
        /// Which run.
        run: String,
        /// Leaves the loop after so many events.
        break_after: Option<u64>,
    },
    /// Iterates the events of a thread, each one a report `event`.
    Watch {
        /// Which thread.
        thread: String,
        /// Begins behind this event; behind what has arrived, if absent.
        after: Option<u64>,
        /// Leaves the loop after so many events; when the events end, if absent.
        break_after: Option<u64>,
    },
    /// Stops a submitted run.
    Stop {
        /// Which run.
        run: String,
    },
    /// Calls any method of the wire, past the SDK's own words.
    Call {
        /// The method.
        method: String,
        /// Its parameters.
        #[serde(default)]
        params: Value,
    },
    /// Lets handlers go on that wait at this gate, now and later.
    Release {
        /// Which gate.
        gate: String,
    },
    /// Detaches from a thread.
    CloseThread {
        /// Which thread.
        thread: String,
    },
    /// Closes the client. The driver reads no further command, and ends when nothing keeps it.
    Close {},
}

/// How a client is made.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectArgs {
    /// The socket of the daemon that the runner plays.
    pub socket: String,
    /// The client's name.
    pub name: Option<String>,
    /// The client's instance id; a fresh one if absent.
    pub instance_id: Option<String>,
    /// What the approval handler does; none is registered if absent.
    pub approvals: Option<Vec<Act>>,
    /// What the handler for questions does; none is registered if absent.
    pub input: Option<Vec<Act>>,
    /// Whether a handler for `data/changed` is registered.
    #[serde(default)]
    pub changes: bool,
    /// Asks for the approvals capability whether or not there is a handler.
    #[serde(default)]
    pub require_approvals: bool,
    /// As `requireApprovals`, for questions.
    #[serde(default)]
    pub require_input: bool,
    /// How long an answer may take.
    pub call_timeout_ms: Option<u64>,
    /// How long the handshake may take.
    pub initialize_timeout_ms: Option<u64>,
    /// How long a lost connection is tried to be made again.
    pub reconnect_for_ms: Option<u64>,
}

/// A tool: its declaration, and what its handler does with each call.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its namespace.
    pub namespace: Option<String>,
    /// What the namespace is for.
    pub namespace_description: Option<String>,
    /// What people call it.
    pub title: Option<String>,
    /// Hints.
    pub annotations: Option<Annotations>,
    /// How long a call may be silent.
    pub timeout_ms: Option<u64>,
    /// Whether a person is asked.
    pub approval: Option<ApprovalWish>,
    /// Schema of its arguments; that of no arguments if absent.
    pub input_schema: Option<Value>,
    /// Schema of its structured content.
    pub output_schema: Option<Value>,
    /// Arguments are of the one type every driver has: an object with the string `id`, which is required and described
    /// as `The number, without #.`
    #[serde(default)]
    pub typed: bool,
    /// What the handler does with each call.
    #[serde(default)]
    pub does: Vec<Act>,
}

/// One thing a handler does; it does them in order. Without an end of its own a tool returns nothing, and the handler of a
/// person's answers gives none.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Act {
    /// Shows life.
    Progress {
        /// What it is doing.
        message: String,
        /// How far it has come.
        fraction: Option<f64>,
    },
    /// Waits until the gate is released, or until its cancellation, which it reports; then it fails.
    Await(String),
    /// Waits until its cancellation, and reports it.
    UntilCancelled,
    /// Returns a text.
    Return(String),
    /// Returns data: the model is told its JSON, clients get it as structured content too.
    ReturnData(Value),
    /// Returns a text for the model and data for clients.
    ReturnBoth {
        /// The text.
        text: String,
        /// The data.
        structured: Value,
    },
    /// Returns what a function without a result returns.
    ReturnNothing,
    /// Returns a text of so many bytes.
    ReturnBytes(usize),
    /// Returns a value that cannot be written as JSON.
    ReturnUnwritable,
    /// Fails with a code of its own.
    Fail {
        /// The code.
        code: String,
        /// The sentence.
        message: String,
    },
    /// Fails with an error of the language, without a code.
    Throw(String),
    /// Breaks in the roughest way the language has: a panic, a rejection with something that is no error.
    Crash(String),
    /// Answers an approval or questions with this answer of the wire.
    Answer(Value),
    /// Cannot answer: "not I".
    NoAnswer,
}
