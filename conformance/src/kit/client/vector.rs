//! A vector as it is written, one JSON object a line, and its steps.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A promise of the wire that a client keeps, as a conversation that shows it.
#[derive(Clone, Debug)]
pub struct Vector {
    /// Its name, unique among all.
    pub name: String,
    /// The file it is in, without its ending.
    pub topic: String,
    /// Why it exists.
    pub why: String,
    /// Requirements and rulings it is about.
    pub covers: Vec<String>,
    /// Methods that the kit would answer by itself, and that this vector expects in its steps instead.
    pub manual: Vec<String>,
    /// What happens, in order.
    pub steps: Vec<Numbered>,
}

/// A vector as it stands in its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub(super) name: String,
    pub(super) why: String,
    #[serde(default)]
    pub(super) covers: Vec<String>,
    #[serde(default)]
    pub(super) manual: Vec<String>,
    pub(super) steps: Vec<Value>,
}

/// A step with its number: `3`, or `3.2` for the second step of what step 3 uses.
#[derive(Clone, Debug)]
pub struct Numbered {
    /// The number.
    pub number: String,
    /// The step.
    pub step: Step,
}

/// One thing that is done or waited for. `→` is what goes to the client or its driver, `←` what comes from them.
#[derive(Clone, Debug)]
pub enum Step {
    /// → Tells the driver something.
    Tell(Value),
    /// ← Waits for a report of the driver.
    Hear {
        /// What it is like.
        pattern: Value,
        /// Whether other reports about the same may come first.
        any_order: bool,
    },
    /// ← Waits for a connection, which the steps behind this one are about.
    Accept,
    /// ← Waits for a message of the client.
    Expect {
        /// What it is like.
        pattern: Value,
        /// What is done with it.
        then: Then,
        /// Whether other messages of the same method may come first.
        any_order: bool,
    },
    /// → Answers a request that was kept under a name.
    Answer {
        /// The name.
        name: String,
        /// The answer.
        reply: Reply,
    },
    /// → Sends a message.
    Send(Value),
    /// → Sends a message in pieces of so many bytes, each read by the client before the next is sent, as far as can be known.
    Pieces {
        /// The message.
        message: Value,
        /// Bytes of a piece.
        bytes: usize,
    },
    /// → Sends a text as it is, line breaks included.
    Raw(Value),
    /// → Sends the first half of a message, then cuts the connection.
    Half(Value),
    /// → Sends an event of a thread, which is kept for `thread/events`.
    Event(EventStep),
    /// Keeps an event for `thread/events` without sending it.
    Log(EventStep),
    /// → Sends many messages: a list that a generator makes.
    Lines(Value),
    /// An interaction is over without anybody being told, because nobody was connected.
    Settle(String),
    /// Cuts the connection.
    Cut,
    /// Begins or ends to listen: a daemon that is not there.
    Listen(bool),
    /// Begins or ends to read what the client sends: a daemon that is slow.
    Read(bool),
    /// ← Waits until the client has closed the connection.
    Closed,
    /// ← Waits until the driver has ended by itself, with its stdin open.
    Exits,
    /// ← Takes text deltas until they make this text, each at the offset at which the one before it ended.
    Text {
        /// The text.
        text: Value,
        /// The command whose events they are.
        of: String,
        /// The item.
        item: String,
    },
    /// ← Takes so many events of a type, one behind the other.
    Count {
        /// How many.
        count: u64,
        /// The command whose events they are.
        of: String,
        /// Their type.
        kind: String,
    },
    /// Gives names values.
    Set(Map<String, Value>),
    /// → ← Sends a request that no client knows and waits for its refusal: all that was sent before has been read.
    Fence,
    /// Nothing like this has come that no step expected, neither as a message nor as a report.
    Never(Value),
}

/// What is done with a message that was expected.
#[derive(Clone, Debug)]
pub enum Then {
    /// Nothing.
    Nothing,
    /// It is kept under a name, to be answered later.
    Keep(String),
    /// It is answered at once.
    Reply(Reply),
}

/// An answer, without what is the same in all.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The result.
    Result(Value),
    /// The error.
    Error(Value),
}

/// An event of a thread.
#[derive(Clone, Debug)]
pub struct EventStep {
    /// The event.
    pub event: Value,
    /// The thread; `th-1` unless given.
    pub thread: String,
    /// The place of a durable event.
    pub seq: Option<Value>,
    /// The durable event that an ephemeral one follows.
    pub after: Option<Value>,
}

/// Verbs, and what may stand beside each.
const VERBS: &[(&str, &[&str])] = &[
    ("tell", &[]),
    ("hear", &["anyOrder"]),
    ("accept", &[]),
    ("expect", &["as", "result", "error", "anyOrder"]),
    ("answer", &["result", "error"]),
    ("send", &[]),
    ("pieces", &["bytes"]),
    ("raw", &[]),
    ("half", &[]),
    ("event", &["seq", "after", "thread"]),
    ("log", &["seq", "thread"]),
    ("lines", &[]),
    ("settle", &[]),
    ("cut", &[]),
    ("listen", &[]),
    ("read", &[]),
    ("closed", &[]),
    ("exits", &[]),
    ("text", &["of", "item"]),
    ("count", &["of", "type"]),
    ("set", &[]),
    ("fence", &[]),
    ("never", &[]),
];

impl Step {
    /// Reads a step.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn read(written: &Value) -> Result<Self, String> {
        let members = written.as_object().ok_or("a step is an object")?;
        let mut verbs = VERBS.iter().filter(|(verb, _)| members.contains_key(*verb));
        let Some((verb, beside)) = verbs.next() else {
            let names: Vec<&str> = VERBS.iter().map(|(verb, _)| *verb).collect();
            return Err(format!("no verb in {written}; the verbs are {}", names.join(", ")));
        };
        if let Some(other) = members.keys().find(|name| name != verb && !beside.contains(&name.as_str())) {
            return Err(format!("`{other}` cannot stand beside `{verb}`"));
        }
        Self::of(verb, &members[*verb], members)
    }

    fn of(verb: &str, argument: &Value, members: &Map<String, Value>) -> Result<Self, String> {
        let argument = argument.clone();
        let beside = |name: &str| members.get(name).map_or_else(|| Err(format!("`{verb}` needs `{name}`")), text);
        let any_order = members.get("anyOrder") == Some(&Value::Bool(true));
        Ok(match verb {
            "tell" => Self::Tell(argument),
            "hear" => Self::Hear { pattern: argument, any_order },
            "accept" => Self::Accept,
            "expect" => {
                let then = match (members.get("as"), Reply::read(members)?) {
                    (None, None) => Then::Nothing,
                    (None, Some(reply)) => Then::Reply(reply),
                    (Some(name), None) => Then::Keep(text(name)?),
                    (Some(_), Some(_)) => return Err("`as` and an answer exclude each other".to_owned()),
                };
                Self::Expect { pattern: argument, then, any_order }
            }
            "answer" => {
                let reply = Reply::read(members)?.ok_or("`answer` needs `result` or `error`")?;
                Self::Answer { name: text(&argument)?, reply }
            }
            "send" => Self::Send(argument),
            "pieces" => {
                let bytes = members.get("bytes").and_then(Value::as_u64).filter(|bytes| *bytes > 0);
                let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok()).ok_or("`bytes` is a number from 1")?;
                Self::Pieces { message: argument, bytes }
            }
            "raw" => Self::Raw(argument),
            "half" => Self::Half(argument),
            "event" => Self::Event(EventStep::read(argument, members)?),
            "log" => Self::Log(EventStep::read(argument, members)?),
            "lines" => Self::Lines(argument),
            "settle" => Self::Settle(text(&argument)?),
            "cut" => Self::Cut,
            "listen" => Self::Listen(argument.as_bool().ok_or("`listen` is true or false")?),
            "read" => Self::Read(argument.as_bool().ok_or("`read` is true or false")?),
            "closed" => Self::Closed,
            "exits" => Self::Exits,
            "text" => Self::Text { text: argument, of: beside("of")?, item: beside("item")? },
            "count" => {
                let count = argument.as_u64().ok_or("`count` is a number")?;
                Self::Count { count, of: beside("of")?, kind: beside("type")? }
            }
            "set" => Self::Set(argument.as_object().cloned().ok_or("`set` is an object")?),
            "fence" => Self::Fence,
            _ => Self::Never(argument),
        })
    }

    /// The step in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Tell(command) => format!("tell the driver {}", brief(command)),
            Self::Hear { pattern, .. } => format!("hear from the driver {}", brief(pattern)),
            Self::Accept => "the client connects".to_owned(),
            Self::Expect { pattern, .. } => format!("the client sends {}", brief(pattern)),
            Self::Answer { name, .. } => format!("answer `{name}`"),
            Self::Send(message) | Self::Pieces { message, .. } => format!("send {}", brief(message)),
            Self::Raw(text) => format!("send as it is {}", brief(text)),
            Self::Half(message) => format!("send half of {} and cut the connection", brief(message)),
            Self::Event(event) => format!("send the event {}", brief(&event.event)),
            Self::Log(event) => format!("keep the event {}", brief(&event.event)),
            Self::Lines(_) => "send many messages".to_owned(),
            Self::Settle(interaction) => format!("{interaction} is settled while nobody is connected"),
            Self::Cut => "cut the connection".to_owned(),
            Self::Listen(yes) => format!("{} to listen", if *yes { "begin" } else { "cease" }),
            Self::Read(yes) => format!("{} to read", if *yes { "begin" } else { "cease" }),
            Self::Closed => "the client closes the connection".to_owned(),
            Self::Exits => "the driver ends by itself".to_owned(),
            Self::Text { text, .. } => format!("deltas make the text {}", brief(text)),
            Self::Count { count, kind, .. } => format!("{count} events {kind} come"),
            Self::Set(values) => format!("set {}", values.keys().cloned().collect::<Vec<_>>().join(", ")),
            Self::Fence => "a request that no client knows is refused".to_owned(),
            Self::Never(pattern) => format!("nothing has come like {}", brief(pattern)),
        }
    }
}

impl Reply {
    fn read(members: &Map<String, Value>) -> Result<Option<Self>, String> {
        match (members.get("result"), members.get("error")) {
            (None, None) => Ok(None),
            (Some(result), None) => Ok(Some(Self::Result(result.clone()))),
            (None, Some(error)) => Ok(Some(Self::Error(error.clone()))),
            (Some(_), Some(_)) => Err("`result` and `error` exclude each other".to_owned()),
        }
    }
}

impl EventStep {
    fn read(event: Value, members: &Map<String, Value>) -> Result<Self, String> {
        let (seq, after) = (members.get("seq").cloned(), members.get("after").cloned());
        if seq.is_some() == after.is_some() {
            return Err("an event has `seq` or `after`".to_owned());
        }
        let thread = members.get("thread").map_or_else(|| Ok("th-1".to_owned()), text)?;
        Ok(Self { event, thread, seq, after })
    }
}

fn text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("{value} is no text"))
}

/// The beginning of a value as text.
fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
