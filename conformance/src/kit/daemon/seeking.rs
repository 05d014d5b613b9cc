//! What a step waits for, sought among what has come on a connection.

use std::fmt;

use serde_json::{Value, json};

use super::player::Problem;
use crate::kit::matching::{Captures, matches};

/// What is sought.
pub(super) enum Seeker {
    /// The answer with this id, whatever it says.
    Answer(Value),
    /// Messages that match, each a different one, in any order. The first pattern's place says what is near.
    Messages(Vec<Value>),
    /// A message that matches; durable events of its thread before it are dropped.
    Event(Value),
    /// The next durable events of a thread, exactly these.
    Events {
        /// The thread.
        thread: Value,
        /// Patterns of whole messages.
        patterns: Vec<Value>,
        /// Types that do not count.
        ignoring: Vec<String>,
    },
}

/// What seeking came to.
pub(super) enum Sought {
    /// These places hold it.
    Found(Vec<usize>),
    /// It is not there yet; perhaps with why the nearest message is not it.
    NotYet(Option<String>),
}

impl Seeker {
    pub(super) const fn answer(id: Value) -> Self {
        Self::Answer(id)
    }

    /// Looks for it among what came. Captures are made when all of it is there.
    pub(super) fn seek(&self, inbox: &[Value], captures: &mut Captures) -> Result<Sought, Problem> {
        match self {
            Self::Answer(id) => {
                let is_it =
                    |message: &Value| message.is_object() && message.get("method").is_none() && message["id"] == *id;
                let found = inbox.iter().position(is_it);
                Ok(found.map_or(Sought::NotYet(None), |at| Sought::Found(vec![at])))
            }
            Self::Messages(patterns) => Ok(seek_each(patterns, inbox, captures)),
            Self::Event(pattern) => Ok(seek_each(std::slice::from_ref(pattern), inbox, captures)),
            Self::Events { thread, patterns, ignoring } => seek_events(thread, patterns, ignoring, inbox, captures),
        }
    }

    /// Takes what was found out of the inbox, and drops what is past with it.
    pub(super) fn take(&self, inbox: &mut Vec<Value>, places: &[usize]) -> Vec<Value> {
        let taken: Vec<_> = places.iter().map(|at| inbox[*at].clone()).collect();
        let last = places.iter().max().copied().unwrap_or_default();
        let past = match self {
            Self::Event(_) => taken.first().map(|event| event["params"]["threadId"].clone()),
            Self::Events { thread, .. } if !places.is_empty() => Some(thread.clone()),
            _ => None,
        };
        let mut at = 0;
        inbox.retain(|message| {
            let is_past = at < last && past.as_ref().is_some_and(|thread| is_durable(message, thread));
            let goes = places.contains(&at) || is_past;
            at += 1;
            !goes
        });
        taken
    }
}

/// A different message for each pattern, the first that fits.
fn seek_each(patterns: &[Value], inbox: &[Value], captures: &mut Captures) -> Sought {
    let mut trial = captures.clone();
    let mut places: Vec<usize> = Vec::new();
    for pattern in patterns {
        let mut nearest: Option<(usize, String)> = None;
        let found = (0..inbox.len()).filter(|at| !places.contains(at)).find(|at| {
            match matches(pattern, Some(&inbox[*at]), &mut trial) {
                Ok(()) => true,
                Err(wrong) => {
                    // The deeper the place, the more of it was right.
                    let depth = wrong.path.matches('/').count();
                    if nearest.as_ref().is_none_or(|(best, _)| depth >= *best) {
                        nearest = Some((depth, wrong.to_string()));
                    }
                    false
                }
            }
        });
        match found {
            Some(at) => places.push(at),
            None => return Sought::NotYet(nearest.map(|(_, wrong)| wrong)),
        }
    }
    *captures = trial;
    Sought::Found(places)
}

fn seek_events(
    thread: &Value,
    patterns: &[Value],
    ignoring: &[String],
    inbox: &[Value],
    captures: &mut Captures,
) -> Result<Sought, Problem> {
    let counts = |message: &&(usize, &Value)| {
        is_durable(message.1, thread) && !ignoring.iter().any(|kind| message.1["params"]["event"]["type"] == **kind)
    };
    let came: Vec<_> = inbox.iter().enumerate().collect();
    let came: Vec<_> = came.iter().filter(counts).take(patterns.len()).collect();
    let mut trial = captures.clone();
    for (nth, ((_, message), pattern)) in came.iter().zip(patterns).enumerate() {
        matches(pattern, Some(message), &mut trial).map_err(|wrong| Problem {
            expected: format!("as number {} of these events, {pattern}", nth + 1),
            came: format!("{wrong}; in {message}"),
            rule: None,
        })?;
    }
    if came.len() < patterns.len() {
        return Ok(Sought::NotYet(Some(format!("{} of {} events came", came.len(), patterns.len()))));
    }
    *captures = trial;
    Ok(Sought::Found(came.iter().map(|(at, _)| *at).collect()))
}

/// Whether this is a durable event of the thread.
fn is_durable(message: &Value, thread: &Value) -> bool {
    let params = &message["params"];
    message["method"] == "thread/event" && params.get("seq").is_some() && params["threadId"] == *thread
}

impl fmt::Display for Seeker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(id) => write!(f, "the answer to request {id}"),
            Self::Event(pattern) => write!(f, "{pattern}"),
            Self::Messages(patterns) | Self::Events { patterns, .. } => match patterns.as_slice() {
                [one] => write!(f, "{one}"),
                all => write!(f, "{}", json!(all)),
            },
        }
    }
}
