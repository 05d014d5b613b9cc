//! The vectors that are built in: read, what they share put in its places, and held for what can be known to be wrong.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    super::matching::{check_pattern, check_template},
    vector::{Numbered, Reply, Step, Then, Vector, Written},
};

/// How deep steps that are used may use others.
const DEEPEST_USE: usize = 4;

/// Values and steps that vectors share.
const SHARED: &str = include_str!("../../../vectors/client/shared.json");

macro_rules! topics {
    ($($topic:literal),* $(,)?) => {
        /// The files, in the order in which they are played.
        const TOPICS: &[(&str, &str)] = &[
            $(($topic, include_str!(concat!("../../../vectors/client/", $topic, ".jsonl"))),)*
        ];
    };
}

topics! {
    "handshake", "declarations", "handlers", "progress", "people", "cancelling", "settling", "running", "recovering", "tolerating",
    "framing", "limits", "refusing", "ending",
}

/// All vectors, and what they share.
#[derive(Clone, Debug)]
pub struct Library {
    /// The vectors, in the order of their files.
    pub vectors: Vec<Vector>,
    /// Values every vector begins with.
    pub values: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    values: Map<String, Value>,
    uses: BTreeMap<String, Used>,
}

/// Steps that vectors use by a name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Used {
    /// What the steps are told, with what holds when the vector says nothing.
    #[serde(default)]
    with: Map<String, Value>,
    steps: Vec<Value>,
}

impl Library {
    /// Reads the vectors that are built in.
    ///
    /// # Errors
    /// Names the vector and the step that cannot be read.
    pub fn built_in() -> Result<Self, String> {
        Self::of(SHARED, TOPICS.iter().map(|(topic, text)| ((*topic).to_owned(), (*text).to_owned())))
    }

    /// Reads the vectors of a folder: its files `*.jsonl`, by name, and what its `shared.json` holds for them.
    ///
    /// # Errors
    /// As [`Library::built_in`], and when the folder or a file cannot be read.
    pub fn of_folder(folder: &Path) -> Result<Self, String> {
        let read = |path: &Path| fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
        let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut paths: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        paths.sort();
        let topic = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let files = paths.iter().map(|path| Ok((topic(path), read(path)?))).collect::<Result<Vec<_>, String>>()?;
        Self::of(&read(&folder.join("shared.json"))?, files.into_iter())
    }

    fn of(shared: &str, files: impl Iterator<Item = (String, String)>) -> Result<Self, String> {
        let shared: Shared = serde_json::from_str(shared).map_err(|error| format!("shared.json: {error}"))?;
        let mut vectors = Vec::new();
        let mut names = BTreeSet::new();
        for (topic, text) in files {
            for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                let place = format!("{topic}.jsonl line {}", number + 1);
                let vector = read(&topic, line, &shared).map_err(|problem| format!("{place}: {problem}"))?;
                if !names.insert(vector.name.clone()) {
                    return Err(format!("{place}: there is a vector {} already", vector.name));
                }
                vectors.push(vector);
            }
        }
        Ok(Self { vectors, values: shared.values })
    }
}

fn read(topic: &str, line: &str, shared: &Shared) -> Result<Vector, String> {
    let written: Written = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let Written { name, why, covers, manual, steps } = written;
    if why.trim().is_empty() {
        return Err(format!("{name} does not say why it exists"));
    }
    let mut numbered = Vec::new();
    expand(&steps, "", shared, 0, &mut numbered).map_err(|problem| format!("{name}: {problem}"))?;
    for Numbered { number, step } in &numbered {
        check(step).map_err(|problem| format!("{name}, step {number}: {problem}"))?;
    }
    Ok(Vector { name, topic: topic.to_owned(), why, covers, manual, steps: numbered })
}

/// Puts the steps that are used in the place of their name.
fn expand(
    written: &[Value],
    before: &str,
    shared: &Shared,
    depth: usize,
    into: &mut Vec<Numbered>,
) -> Result<(), String> {
    for (at, step) in written.iter().enumerate() {
        let number = format!("{before}{}", at + 1);
        let Some(name) = step.get("use") else {
            let step = Step::read(step).map_err(|problem| format!("step {number}: {problem}"))?;
            into.push(Numbered { number, step });
            continue;
        };
        let used = name.as_str().and_then(|name| shared.uses.get(name));
        let used = used.filter(|_| depth < DEEPEST_USE).ok_or(format!("step {number}: there is no {name} to use"))?;
        let mut with = used.with.clone();
        for (name, value) in step.get("with").and_then(Value::as_object).into_iter().flatten() {
            if with.insert(name.clone(), value.clone()).is_none() {
                return Err(format!("step {number}: what is used takes no `{name}`"));
            }
        }
        into.push(Numbered { number: number.clone(), step: Step::Set(with) });
        expand(&used.steps, &format!("{number}."), shared, depth + 1, into)?;
    }
    Ok(())
}

/// What can be known to be wrong before a step is played.
fn check(step: &Step) -> Result<(), String> {
    let (pattern, templates): (Option<&Value>, Vec<&Value>) = match step {
        Step::Hear { pattern, .. } | Step::Never(pattern) => (Some(pattern), vec![]),
        Step::Expect { pattern, then: Then::Reply(Reply::Result(reply) | Reply::Error(reply)), .. } => {
            (Some(pattern), vec![reply])
        }
        Step::Expect { pattern, .. } => (Some(pattern), vec![]),
        Step::Answer { reply: Reply::Result(reply) | Reply::Error(reply), .. } => (None, vec![reply]),
        Step::Send(template) | Step::Pieces { message: template, .. } | Step::Half(template) => (None, vec![template]),
        Step::Tell(template) | Step::Raw(template) | Step::Lines(template) | Step::Text { text: template, .. } => {
            (None, vec![template])
        }
        Step::Event(event) | Step::Log(event) => (None, vec![&event.event]),
        Step::Set(values) => (None, values.values().collect()),
        _ => (None, vec![]),
    };
    pattern.map_or(Ok(()), check_pattern).map_err(|problem| problem.to_string())?;
    templates.into_iter().try_for_each(check_template).map_err(|problem| problem.to_string())
}
