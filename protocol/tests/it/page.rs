//! `docs/methods.md`: the reference of all methods, written from the schema bundle.

use std::{collections::BTreeSet, fmt::Write};

use ropewalk_protocol::bundle;
use serde_json::{Map, Value};

use crate::generated::check;

const HEAD: &str = "# Methods

Every method, notification and type of the wire, made from `protocol/schema.json` by the tests (`UPDATE=1` writes it
again). What they mean together is told in [protocol.md](protocol.md).

*to daemon* is sent by a client, *to client* by the daemon. A method that **changes** something takes `operationId` and
says in its answer whether it was `replayed`. Fields marked `?` may be absent.
";

#[test]
fn the_page_of_methods_is_current() {
    let bundle = bundle();
    let mut page = Page { text: HEAD.to_owned(), defs: bundle["$defs"].as_object().unwrap(), shown: BTreeSet::new() };
    page.methods(&bundle["methods"], &["params", "result"]);
    page.text.push_str("\n## Notifications\n");
    page.methods(&bundle["notifications"], &["params"]);
    page.numbers("Errors", "kind", "code", &bundle["errors"]);
    page.numbers("Limits", "limit", "value", &bundle["limits"]);
    page.types();
    check("docs/methods.md", &page.text);
}

struct Page<'a> {
    text: String,
    defs: &'a Map<String, Value>,
    /// Types that were shown beside the method they belong to.
    shown: BTreeSet<&'a str>,
}

impl<'a> Page<'a> {
    /// A section for each noun, and in it one for each method.
    fn methods(&mut self, methods: &'a Value, sides: &[&str]) {
        let methods = methods.as_object().unwrap();
        let mut noun = "";
        for (name, method) in methods {
            let (next, _) = name.split_once('/').unwrap_or((name, ""));
            if sides.len() == 2 && next != noun {
                noun = next;
                write!(self.text, "\n## {noun}\n").unwrap();
            }
            let direction = if method["direction"] == "toDaemon" { "to daemon" } else { "to client" };
            let changes = if method["mutates"] == true { ", **changes**" } else { "" };
            write!(self.text, "\n### `{name}`\n\n*{direction}*{changes}. {}\n", text(&method["description"])).unwrap();
            for side in sides {
                self.side(side, &method[*side]);
            }
        }
    }

    /// The parameters or the result of a method; a type that is a noun of its own is only named.
    fn side(&mut self, side: &str, schema: &'a Value) {
        let name = schema["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
        let definition = &self.defs[name];
        let own = ["Params", "Result", "Changed", "Page"].iter().any(|end| name.ends_with(end)) || side == "result";
        if definition["properties"].as_object().is_none_or(Map::is_empty) {
            write!(self.text, "\n{side}: {}\n", if name == "Empty" { "`{}`".to_owned() } else { link(name) }).unwrap();
        } else if own {
            self.shown.insert(name);
            write!(self.text, "\n<a id=\"{}\"></a>{side}: `{name}`\n\n", anchor(name)).unwrap();
            self.fields(definition);
        } else {
            write!(self.text, "\n{side}: {}\n", link(name)).unwrap();
        }
    }

    fn fields(&mut self, definition: &Value) {
        self.text.push_str("| field | type | |\n|---|---|---|\n");
        let required = definition["required"].as_array().cloned().unwrap_or_default();
        for (name, field) in definition["properties"].as_object().unwrap() {
            let mark = if required.iter().any(|other| other == name) { "" } else { "?" };
            let description = text(&field["description"]).replace('|', "\\|");
            writeln!(self.text, "| `{name}`{mark} | {} | {description} |", type_name(field)).unwrap();
        }
    }

    fn numbers(&mut self, title: &str, name: &str, number: &str, entries: &Value) {
        write!(self.text, "\n## {title}\n\n| {name} | {number} |\n|---|---:|\n").unwrap();
        for (name, value) in entries.as_object().unwrap() {
            writeln!(self.text, "| `{name}` | {value} |").unwrap();
        }
    }

    fn types(&mut self) {
        self.text.push_str("\n## Types\n");
        for (name, definition) in self.defs {
            if self.shown.contains(&**name) || name == "Empty" {
                continue;
            }
            let about = text(&definition["description"]);
            write!(self.text, "\n### {name}\n\n<a id=\"{}\"></a>{about}\n", anchor(name)).unwrap();
            self.body(definition);
        }
    }

    /// What a type consists of: fields, words, variants, or parts that each are one of these.
    fn body(&mut self, definition: &Value) {
        if definition["properties"].as_object().is_some_and(|fields| !fields.is_empty()) {
            self.text.push('\n');
            self.fields(definition);
        }
        for part in definition["allOf"].as_array().into_iter().flatten() {
            self.body(part);
        }
        for choices in [&definition["oneOf"], &definition["anyOf"]] {
            self.choices(choices.as_array().map_or(&[], Vec::as_slice));
        }
        if let Some(words) = definition["enum"].as_array() {
            let words: Vec<_> = words.iter().map(|word| format!("`{}`", word.as_str().unwrap())).collect();
            write!(self.text, "\nOne of {}.\n", words.join(", ")).unwrap();
        }
    }

    fn choices(&mut self, choices: &[Value]) {
        if choices.iter().any(|choice| choice["const"].is_string()) {
            self.text.push_str("\n| value | |\n|---|---|\n");
        }
        for choice in choices {
            if let Some(word) = choice["const"].as_str() {
                writeln!(self.text, "| `{word}` | {} |", text(&choice["description"])).unwrap();
                continue;
            }
            let about = text(&choice["description"]);
            let end = if about.is_empty() { "" } else { " " };
            write!(self.text, "\n**{}**{end}{about}\n", variant(choice)).unwrap();
            self.variant_fields(choice);
        }
    }

    /// The fields of a variant beside the one that tells it from the others.
    fn variant_fields(&mut self, choice: &Value) {
        let mut choice = choice.clone();
        if let Some(reference) =
            choice["allOf"].as_array().and_then(|parts| parts.iter().find_map(|part| part["$ref"].as_str()))
        {
            let name = reference.rsplit('/').next().unwrap();
            write!(self.text, "\nThe fields of {}.\n", link(name)).unwrap();
            return;
        }
        if let Some(fields) = choice["properties"].as_object_mut() {
            fields.retain(|_, field| !field["const"].is_string());
            if !fields.is_empty() {
                self.text.push('\n');
                self.fields(&choice);
            }
        }
    }
}

/// What a variant is called: the value of its tag, or its type.
fn variant(choice: &Value) -> String {
    let parts = choice["allOf"].as_array().cloned().unwrap_or_else(|| vec![choice.clone()]);
    let mut fields = parts.iter().flat_map(|part| part["properties"].as_object().into_iter().flatten());
    fields
        .find_map(|(name, field)| field["const"].as_str().map(|word| format!("{name}: \"{word}\"")))
        .unwrap_or_else(|| type_name(choice))
}

fn type_name(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return link(reference.rsplit('/').next().unwrap());
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        return choices.iter().map(type_name).collect::<Vec<_>>().join(" or ");
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("list of {}", type_name(&schema["items"])),
        Value::String(name) if name == "object" => match &schema["additionalProperties"] {
            values @ Value::Object(_) => format!("map to {}", type_name(values)),
            _ => "object".to_owned(),
        },
        Value::String(name) if schema["format"] == "date-time" => format!("{name} (date-time)"),
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any JSON".to_owned(),
    }
}

fn link(name: &str) -> String {
    format!("[{name}](#{})", anchor(name))
}

/// Types have anchors of their own: a heading's would be that of a noun of the same name.
fn anchor(name: &str) -> String {
    format!("type-{}", name.to_lowercase())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
