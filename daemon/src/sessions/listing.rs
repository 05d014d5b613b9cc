//! The tools of a server, read page by page within bounds. What is odd about one tool takes that tool out of use and leaves its
//! neighbours alone (K01); schemas are documents that are carried and never translated (K02).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use ropewalk_protocol::{Annotations, limits};
use serde_json::{Map, Value};

use crate::{
    context::cut::first_characters,
    tools::{
        digest::tool_digest,
        json::{bytes_of, levels},
    },
};

#[cfg(test)]
mod tests;

/// Tools of one server; the rest is ignored (MCP-120).
pub const TOOLS: usize = 512;

/// Pages of one list.
pub const PAGES: usize = 64;

/// Bytes of one list.
pub const LIST_BYTES: u64 = 8 << 20;

/// Characters of a tool's name.
pub const NAME_CHARACTERS: usize = 128;

/// A tool as its server lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTool {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub title: Option<String>,
    /// What it does, cut to 2,048 characters.
    pub description: String,
    /// JSON Schema of its arguments, whatever the server sent for one.
    pub input_schema: Arc<Value>,
    /// JSON Schema of its structured results.
    pub output_schema: Option<Arc<Value>>,
    /// What it does to the world, as it says.
    pub annotations: Annotations,
    /// What rules and approvals bind to.
    pub digest: String,
    /// Whether it can be called as a task only, which is not how calls are made here.
    pub needs_task: bool,
    /// Why it cannot be used, where it cannot.
    pub quarantine: Option<String>,
}

/// The tools of a server at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// Its tools, in the server's order.
    pub tools: Vec<ListedTool>,
    /// What is odd about the list as a whole.
    pub warnings: Vec<String>,
    /// How many entries were not taken in: beyond the bounds, or without a name. What was not read at all counts as one.
    pub ignored: u64,
}

impl Listing {
    /// The tool of a name, where it can be used.
    #[must_use]
    pub fn usable(&self, name: &str) -> Option<&ListedTool> {
        self.tools.iter().find(|tool| tool.name == name && tool.quarantine.is_none())
    }

    /// Everything that is odd about it, tool by tool, for its owner.
    #[must_use]
    pub fn oddities(&self) -> Vec<String> {
        let quarantined =
            self.tools.iter().filter_map(|tool| Some(format!("{}: {}", tool.name, tool.quarantine.as_ref()?)));
        self.warnings.iter().cloned().chain(quarantined).collect()
    }
}

/// Reads a list, page by page.
#[derive(Debug, Default)]
pub struct Pages {
    read: Listing,
    cursors: BTreeSet<String>,
    pages: usize,
    bytes: u64,
}

/// What to do after a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    /// Ask for the page of this cursor.
    Next(String),
    /// That was all, or all that is taken.
    Done,
}

impl Pages {
    /// Takes in a page.
    pub fn take(&mut self, page: &Value) -> Then {
        self.pages += 1;
        self.bytes += bytes_of(page);
        match page.get("tools") {
            Some(Value::Array(tools)) => self.tools(tools),
            _ => self.warn("tools/list brought a page without a list of tools"),
        }
        let Some(cursor) = page.get("nextCursor").and_then(Value::as_str) else { return Then::Done };
        if !self.cursors.insert(cursor.to_owned()) {
            return self.stop("pagination does not advance: a cursor came twice");
        }
        if self.pages >= PAGES {
            return self.stop(format!("pagination does not end: no more than {PAGES} pages are read"));
        }
        if self.bytes > LIST_BYTES {
            return self.stop(format!("the list has more than {LIST_BYTES} bytes; the rest is not read"));
        }
        if self.read.tools.len() >= TOOLS {
            return self.stop(format!("there are more than {TOOLS} tools; the rest is not read"));
        }
        Then::Next(cursor.to_owned())
    }

    /// What was read.
    #[must_use]
    pub fn finish(mut self) -> Listing {
        quarantine_repeated(&mut self.read.tools);
        self.read
    }

    fn tools(&mut self, tools: &[Value]) {
        for (at, tool) in tools.iter().enumerate() {
            if self.read.tools.len() >= TOOLS {
                self.read.ignored += (tools.len() - at) as u64;
                self.warn(format!("there are more than {TOOLS} tools; the rest is ignored"));
                return;
            }
            match tool_of(tool) {
                // A page that comes again brings nothing new.
                Ok(tool) if self.read.tools.contains(&tool) => {
                    let name = &tool.name;
                    let warning = format!("{name} is listed twice");
                    self.warn(warning);
                }
                Ok(tool) => self.read.tools.push(tool),
                Err(why) => {
                    self.read.ignored += 1;
                    self.warn(format!("a tool without a usable name is ignored: {why}"));
                }
            }
        }
    }

    fn warn(&mut self, warning: impl Into<String>) {
        let warning = warning.into();
        if self.read.warnings.len() < TOOLS && !self.read.warnings.contains(&warning) {
            self.read.warnings.push(warning);
        }
    }

    /// There is more, and it is not read.
    fn stop(&mut self, warning: impl Into<String>) -> Then {
        self.read.ignored += 1;
        self.warn(warning);
        Then::Done
    }
}

/// Two different tools of one name cannot be told apart, so neither is used (K03).
fn quarantine_repeated(tools: &mut [ListedTool]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for tool in tools.iter() {
        *counts.entry(tool.name.clone()).or_default() += 1;
    }
    for tool in tools.iter_mut().filter(|tool| counts.get(&tool.name).is_some_and(|count| *count > 1)) {
        tool.quarantine.get_or_insert_with(|| "another tool of this server has the same name".to_owned());
    }
}

/// Reads a tool. One with a name is always taken in, so that its owner sees what is wrong with it.
fn tool_of(tool: &Value) -> Result<ListedTool, String> {
    let fields = tool.as_object().ok_or("it is no object")?;
    let name = fields.get("name").and_then(Value::as_str).ok_or("its name is no text")?;
    if name.is_empty() {
        return Err("its name is empty".to_owned());
    }
    // One character more than is allowed is enough to see that it is too long.
    let shown = first_characters(name, NAME_CHARACTERS + 1);
    let (input, output) = (fields.get("inputSchema"), fields.get("outputSchema").filter(|schema| !schema.is_null()));
    let needs_task = fields.get("execution").and_then(|it| it.get("taskSupport")) == Some(&Value::from("required"));
    let problem = name_problem(name)
        .or_else(|| needs_task.then(|| "it can be called as a task only, and no tasks are started here".to_owned()))
        .or_else(|| schema_problem("inputSchema", input))
        .or_else(|| output.and_then(|schema| schema_problem("outputSchema", Some(schema))));
    let annotations = fields.get("annotations").map(annotations_of).unwrap_or_default();
    let input_schema = Arc::new(input.cloned().unwrap_or_default());
    let output_schema = output.map(|schema| Arc::new(schema.clone()));
    Ok(ListedTool {
        digest: tool_digest(&input_schema, output_schema.as_deref(), &annotations),
        name: shown,
        title: title_of(fields),
        description: text_of(fields, "description").unwrap_or_default(),
        input_schema,
        output_schema,
        annotations,
        needs_task,
        quarantine: problem,
    })
}

fn name_problem(name: &str) -> Option<String> {
    let characters = name.chars().count();
    if characters > NAME_CHARACTERS {
        return Some(format!("its name has {characters} characters; at most {NAME_CHARACTERS} are taken"));
    }
    name.chars().any(char::is_control).then(|| "its name has control characters".to_owned())
}

fn schema_problem(which: &str, schema: Option<&Value>) -> Option<String> {
    let Some(schema) = schema else { return Some(format!("it has no {which}")) };
    let Value::Object(fields) = schema else {
        return Some(format!("its {which} is no object, but {}", kind_of(schema)));
    };
    if fields.get("type").and_then(Value::as_str) != Some("object") {
        return Some(format!("its {which} does not have the type object"));
    }
    let bytes = bytes_of(schema);
    if bytes > limits::SCHEMA_BYTES {
        return Some(format!("its {which} has {bytes} bytes; at most {} are taken", limits::SCHEMA_BYTES));
    }
    let levels = levels(schema) as u64;
    let too_deep = || format!("its {which} has {levels} levels; at most {} are taken", limits::SCHEMA_LEVELS);
    (levels > limits::SCHEMA_LEVELS).then(too_deep)
}

const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A hint that is no boolean says nothing.
fn annotations_of(annotations: &Value) -> Annotations {
    let hint = |name: &str| annotations.get(name).and_then(Value::as_bool);
    Annotations {
        read_only_hint: hint("readOnlyHint"),
        destructive_hint: hint("destructiveHint"),
        idempotent_hint: hint("idempotentHint"),
        open_world_hint: hint("openWorldHint"),
    }
}

fn title_of(fields: &Map<String, Value>) -> Option<String> {
    let annotated = || fields.get("annotations")?.get("title")?.as_str().map(ToOwned::to_owned);
    let title = text_of(fields, "title").or_else(annotated)?;
    let title = first_characters(title.trim(), NAME_CHARACTERS);
    (!title.is_empty()).then_some(title)
}

fn text_of(fields: &Map<String, Value>, name: &str) -> Option<String> {
    let text = fields.get(name)?.as_str()?;
    Some(first_characters(text, limits::DESCRIPTION_CHARACTERS as usize))
}
