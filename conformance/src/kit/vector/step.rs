//! The steps of a vector, as they are played.

use serde_json::Value;

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// The connection it is about.
    pub on: String,
    /// What is done or expected.
    pub verb: Verb,
    /// A pattern that nothing may match which came, and was not taken, before what this step waits for.
    pub without: Option<Value>,
    /// The step as it was written, for reports.
    pub written: String,
}

/// What a step does or expects. Templates and patterns are those of [`matching`](crate::kit::matching).
#[derive(Clone, Debug)]
pub enum Verb {
    /// Opens the connection and shakes hands; the template is merged into the usual handshake.
    Connect {
        /// Members of the handshake's parameters that are not the usual ones.
        params: Value,
        /// What the answer has to be.
        answer: Answer,
    },
    /// Opens the connection and says nothing.
    Open,
    /// Sends a request and waits for its answer.
    Call {
        /// The method.
        method: String,
        /// A template.
        params: Option<Value>,
        /// A template; a number of its own otherwise.
        id: Option<Value>,
        /// What the answer has to be.
        answer: Answer,
    },
    /// Sends a request; its id is captured.
    Send {
        /// The method.
        method: String,
        /// A template.
        params: Option<Value>,
        /// A template; a number of its own otherwise.
        id: Option<Value>,
        /// The name its id is captured under.
        name: String,
    },
    /// Waits for the answer to what `send` sent.
    Await {
        /// The name its id was captured under.
        name: String,
        /// What the answer has to be.
        answer: Answer,
    },
    /// Sends a notification.
    Notify {
        /// The method.
        method: String,
        /// A template.
        params: Option<Value>,
    },
    /// Waits for a request of the daemon and captures all of it.
    Asked {
        /// The method.
        method: String,
        /// A pattern.
        params: Value,
        /// The name it is captured under.
        name: Option<String>,
    },
    /// Answers a request of the daemon.
    Reply {
        /// The name it was captured under.
        name: String,
        /// A template of `result` or `error`, under that name.
        answer: Value,
    },
    /// Waits for a notification other than an event.
    Told {
        /// The method.
        method: String,
        /// A pattern.
        params: Value,
    },
    /// Waits for a durable event; earlier ones of its thread are dropped.
    Event {
        /// A pattern for the event.
        event: Value,
        /// A pattern for its thread.
        thread: Option<Value>,
        /// A pattern for its number.
        seq: Option<Value>,
    },
    /// Waits for the next durable events of a thread, which have to be exactly these.
    Events {
        /// Patterns for the events.
        events: Vec<Value>,
        /// The thread, a template.
        thread: Value,
        /// Types that do not count.
        ignoring: Vec<String>,
        /// A pattern for the number of the last one.
        seq: Option<Value>,
    },
    /// Waits for an ephemeral event.
    Ephemeral {
        /// A pattern for the event.
        event: Value,
        /// A pattern for the number of the event it follows.
        after: Option<Value>,
    },
    /// Waits for messages, in any order.
    Expect(Vec<Value>),
    /// Sends a message as it is.
    Message(Value),
    /// Sends bytes, and the end of the line behind them if it is said so.
    Bytes {
        /// What they are made of.
        parts: Vec<Part>,
        /// Whether a line ends behind them.
        ends_line: bool,
    },
    /// Calls a method until its result matches.
    Eventually {
        /// The method.
        method: String,
        /// A template.
        params: Option<Value>,
        /// A pattern.
        result: Value,
    },
    /// Closes the connection at once, whatever is under way.
    Cut,
    /// Stops reading.
    Pause,
    /// Reads again.
    Resume,
    /// Says that nothing more will be sent, and goes on reading.
    Finish,
    /// Waits until the daemon has closed the connection.
    Ended,
    /// Ends the daemon and starts it again on its home. All connections are gone.
    Restart(Restart),
    /// Waits until the daemon has ended by itself, with this exit code.
    Exited(Ending),
    /// Starts the daemon that has ended.
    Start,
    /// Plays steps again and again; `$index` counts from 0.
    Repeat {
        /// How often.
        times: u32,
        /// The steps.
        steps: Vec<Step>,
    },
    /// Captures what templates become.
    Let(Vec<(String, Value)>),
    /// Holds a template against a pattern.
    Check {
        /// The template.
        value: Value,
        /// The pattern.
        is: Value,
    },
    /// Drops everything that came and was not taken.
    Clear,
}

/// What the answer to a request has to be.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A result that matches.
    Result(Value),
    /// An error that matches.
    Error(Value),
}

/// A piece of what is sent as it is.
#[derive(Clone, Debug)]
pub enum Part {
    /// A template of a text.
    Text(String),
    /// A text, again and again.
    Repeated {
        /// The text.
        text: String,
        /// How often.
        times: usize,
    },
    /// Bytes, which need not be UTF-8.
    Octets(Vec<u8>),
}

/// How a daemon is ended before it is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// In good order, with a signal.
    Graceful,
    /// At once, without being asked.
    Kill,
}

/// How a daemon has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Its exit code.
    pub code: i32,
}

/// The connection of a step that names none.
pub(super) const USUAL_CONNECTION: &str = "a";
