//! Vectors are read strictly: what is misspelt is refused with its place, and never played as something else.

use std::fmt;

use serde_json::{Map, Value};

use super::{
    Answer, Ending, Need, Part, Restart, Step, Vector, Verb,
    step::USUAL_CONNECTION,
    verbs::{VERBS, Word},
};
use crate::kit::matching::{check_pattern, check_template};

/// Why a vector cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadVector {
    /// The file and line, or the name, and the step.
    pub place: String,
    /// What is wrong.
    pub problem: String,
}

type Members = Map<String, Value>;
type Problem = String;

/// Reads one line of a file.
pub(super) fn vector(topic: &str, line: &str) -> Result<Vector, BadVector> {
    let bad = |place: &str, problem: String| BadVector { place: format!("{topic}{place}"), problem };
    let written: Value = serde_json::from_str(line).map_err(|error| bad("", error.to_string()))?;
    let members = written.as_object().ok_or_else(|| bad("", "a vector is an object".to_owned()))?;
    let name = text(members, "name").map_err(|problem| bad("", problem))?;
    let bad = |place: &str, problem: String| bad(&format!("/{name}{place}"), problem);
    only(members, |member| matches!(member, "name" | "why" | "needs" | "steps")).map_err(|problem| bad("", problem))?;
    let why = text(members, "why").map_err(|problem| bad("", problem))?;
    let needs = list(members.get("needs")).iter().map(need).collect::<Result<_, _>>();
    let steps = steps(list(members.get("steps")), "").map_err(|(at, problem)| bad(&format!(", step {at}"), problem))?;
    if steps.is_empty() {
        return Err(bad("", "there are no `steps`".to_owned()));
    }
    let needs = needs.map_err(|problem| bad("", problem))?;
    Ok(Vector { topic: topic.to_owned(), why, needs, steps, name })
}

fn need(word: &Value) -> Result<Need, Problem> {
    let known = [Need::Home, Need::Restart].into_iter().find(|need| word == need.word());
    known.ok_or_else(|| format!("`needs` knows `home` and `restart`, not {word}"))
}

fn steps(written: &[Value], before: &str) -> Result<Vec<Step>, (String, Problem)> {
    let numbered = written.iter().enumerate().map(|(at, step)| (format!("{before}{}", at + 1), step));
    numbered.map(|(at, written)| step(written, &at)).collect()
}

fn step(written: &Value, at: &str) -> Result<Step, (String, Problem)> {
    let here = |problem: Problem| (at.to_owned(), problem);
    let members = written.as_object().ok_or_else(|| here("a step is an object".to_owned()))?;
    let word = word(members).map_err(here)?;
    only(members, |member| word.takes(member)).map_err(here)?;
    let verb = match word.verb {
        "repeat" => {
            let times = members["repeat"].as_u64().and_then(|times| u32::try_from(times).ok());
            let times = times.ok_or_else(|| here("`repeat` is a number".to_owned()))?;
            Verb::Repeat { times, steps: steps(list(members.get("steps")), &format!("{at}."))? }
        }
        _ => verb(word.verb, members).map_err(here)?,
    };
    let on = members.get("on").map_or(Ok(USUAL_CONNECTION.to_owned()), |_| text(members, "on")).map_err(here)?;
    let without = members.get("without").map(pattern).transpose().map_err(here)?;
    Ok(Step { on, verb, without, written: written.to_string() })
}

fn word(members: &Members) -> Result<&'static Word, Problem> {
    let mut found = VERBS.iter().filter(|word| members.contains_key(word.verb));
    // `result` and its like stand beside verbs only, but `resume` and `as` are no verbs of others, so one is left.
    match (found.next(), found.next()) {
        (Some(word), None) => Ok(word),
        (Some(one), Some(other)) => Err(format!("a step is `{}` or `{}`, not both", one.verb, other.verb)),
        (None, _) => Err("no verb is known here; the README of the kit lists all".to_owned()),
    }
}

fn verb(verb: &str, members: &Members) -> Result<Verb, Problem> {
    let argument = &members[verb];
    Ok(match verb {
        "connect" => Verb::Connect { params: template(argument)?, answer: answer(members)? },
        "call" => Verb::Call {
            method: text(members, verb)?,
            params: optional(members, "params", template)?,
            id: optional(members, "id", template)?,
            answer: answer(members)?,
        },
        "send" => Verb::Send {
            method: text(members, verb)?,
            params: optional(members, "params", template)?,
            id: optional(members, "id", template)?,
            name: text(members, "as")?,
        },
        "await" => Verb::Await { name: text(members, verb)?, answer: answer(members)? },
        "notify" => Verb::Notify { method: text(members, verb)?, params: optional(members, "params", template)? },
        "asked" => Verb::Asked {
            method: text(members, verb)?,
            params: pattern_or_any(members.get("params"))?,
            name: members.get("as").map(|_| text(members, "as")).transpose()?,
        },
        "reply" => Verb::Reply { name: text(members, verb)?, answer: reply(members)? },
        "told" => Verb::Told { method: text(members, verb)?, params: pattern_or_any(members.get("params"))? },
        "event" => Verb::Event {
            event: pattern(argument)?,
            thread: optional(members, "thread", pattern)?,
            seq: optional(members, "seq", pattern)?,
        },
        "events" => Verb::Events {
            events: array(argument)?.iter().map(pattern).collect::<Result<_, _>>()?,
            thread: template(members.get("thread").ok_or("`events` needs a `thread`")?)?,
            ignoring: list(members.get("ignoring")).iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            seq: optional(members, "seq", pattern)?,
        },
        "ephemeral" => Verb::Ephemeral { event: pattern(argument)?, after: optional(members, "after", pattern)? },
        "expect" => match argument {
            Value::Array(patterns) => Verb::Expect(patterns.iter().map(pattern).collect::<Result<_, _>>()?),
            one => Verb::Expect(vec![pattern(one)?]),
        },
        "message" => Verb::Message(template(argument)?),
        "line" | "raw" => Verb::Bytes { parts: parts(argument)?, ends_line: verb == "line" },
        "eventually" => Verb::Eventually {
            method: text(members, verb)?,
            params: optional(members, "params", template)?,
            result: pattern(members.get("result").ok_or("`eventually` needs a `result`")?)?,
        },
        "restart" => Verb::Restart(restart(argument)?),
        "exited" => Verb::Exited(Ending {
            code: argument.as_i64().and_then(|code| i32::try_from(code).ok()).ok_or("`exited` is an exit code")?,
        }),
        "let" => {
            let named = argument.as_object().ok_or("`let` is an object of names")?.iter();
            Verb::Let(named.map(|(name, value)| Ok((name.clone(), template(value)?))).collect::<Result<_, Problem>>()?)
        }
        "check" => {
            let is = pattern(members.get("is").ok_or("`check` needs what it `is`")?)?;
            Verb::Check { value: template(argument)?, is }
        }
        simple => plain(simple, argument)?,
    })
}

/// The verbs that are only said, as `true`.
fn plain(verb: &str, argument: &Value) -> Result<Verb, Problem> {
    if argument != &Value::Bool(true) {
        return Err(format!("`{verb}` is said as `true`"));
    }
    Ok(match verb {
        "open" => Verb::Open,
        "cut" => Verb::Cut,
        "pause" => Verb::Pause,
        "resume" => Verb::Resume,
        "finish" => Verb::Finish,
        "ended" => Verb::Ended,
        "start" => Verb::Start,
        _ => Verb::Clear,
    })
}

fn answer(members: &Members) -> Result<Answer, Problem> {
    match (members.get("result"), members.get("error")) {
        (None, Some(error)) => Ok(Answer::Error(pattern(error)?)),
        (result, None) => Ok(Answer::Result(pattern_or_any(result)?)),
        (Some(_), Some(_)) => Err("an answer is a `result` or an `error`".to_owned()),
    }
}

/// `result` or `error` of a reply, as a message has it.
fn reply(members: &Members) -> Result<Value, Problem> {
    match (members.get("result"), members.get("error")) {
        (Some(result), None) => Ok(serde_json::json!({"result": template(result)?})),
        (None, Some(error)) => Ok(serde_json::json!({"error": template(error)?})),
        _ => Err("a reply is a `result` or an `error`".to_owned()),
    }
}

fn restart(argument: &Value) -> Result<Restart, Problem> {
    match argument.as_str() {
        Some("graceful") => Ok(Restart::Graceful),
        Some("kill") => Ok(Restart::Kill),
        _ => Err("`restart` is `graceful` or `kill`".to_owned()),
    }
}

fn parts(argument: &Value) -> Result<Vec<Part>, Problem> {
    match argument {
        Value::String(text) => Ok(vec![Part::Text(text.clone())]),
        Value::Array(parts) => parts.iter().map(part).collect(),
        _ => Err("what is sent as it is, is a text or a list of parts".to_owned()),
    }
}

fn part(part: &Value) -> Result<Part, Problem> {
    if let Some(text) = part.as_str() {
        return Ok(Part::Text(text.to_owned()));
    }
    if let Some(text) = part["repeat"].as_str() {
        let times = part["times"].as_u64().and_then(|times| usize::try_from(times).ok());
        return Ok(Part::Repeated { text: text.to_owned(), times: times.ok_or("`repeat` needs `times`")? });
    }
    let octets = list(part.get("bytes")).iter();
    let octets = octets.map(|octet| octet.as_u64().and_then(|octet| u8::try_from(octet).ok()));
    let octets: Option<Vec<u8>> = octets.collect();
    let octets = octets.filter(|octets| !octets.is_empty());
    octets.map(Part::Octets).ok_or_else(|| "a part is a text, `repeat` with `times`, or `bytes`".to_owned())
}

fn text(members: &Members, name: &str) -> Result<String, Problem> {
    let text = members.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| format!("`{name}` is a text"))
}

fn array(value: &Value) -> Result<&[Value], Problem> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| "this is a list".to_owned())
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn pattern(value: &Value) -> Result<Value, Problem> {
    check_pattern(value).map(|()| value.clone()).map_err(|error| error.to_string())
}

fn pattern_or_any(value: Option<&Value>) -> Result<Value, Problem> {
    value.map_or_else(|| Ok(serde_json::json!({"$any": true})), pattern)
}

fn template(value: &Value) -> Result<Value, Problem> {
    check_template(value).map(|()| value.clone()).map_err(|error| error.to_string())
}

fn optional(
    members: &Members,
    name: &str,
    read: impl Fn(&Value) -> Result<Value, Problem>,
) -> Result<Option<Value>, Problem> {
    members.get(name).map(read).transpose()
}

fn only(members: &Members, takes: impl Fn(&str) -> bool) -> Result<(), Problem> {
    match members.keys().find(|member| !takes(member)) {
        Some(unknown) => Err(format!("`{unknown}` does not belong here")),
        None => Ok(()),
    }
}

impl fmt::Display for BadVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

impl std::error::Error for BadVector {}
