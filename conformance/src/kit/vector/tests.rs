//! The vectors of the kit: each can be read, fits its schema, and together they reach everything of the wire.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use super::{daemon_vectors, read, verbs::VERBS};

/// What no vector can reach, and why.
const OUT_OF_REACH: &[(&str, &str)] = &[
    ("internal", "a fault of the daemon's own, which no request brings about in one that works"),
    (
        "timeout",
        "raised by calls that a client makes of a server's tools (ruling 31), which this version does not have",
    ),
];

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/daemon")
}

/// Every line of every file, as it was written.
fn lines() -> Vec<(String, Value)> {
    let mut paths: Vec<_> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let lines = paths.iter().flat_map(|path| {
        let topic = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| (topic.clone(), serde_json::from_str(line).unwrap())).collect::<Vec<_>>()
    });
    lines.collect()
}

#[test]
fn every_vector_can_be_read_and_every_file_is_part_of_the_kit() {
    let vectors = daemon_vectors().unwrap().vectors;
    let built_in: BTreeSet<_> = vectors.iter().map(|vector| vector.topic.clone()).collect();
    let there: BTreeSet<_> = lines().into_iter().map(|(topic, _)| topic).collect();
    assert_eq!(built_in, there);
    assert_eq!(vectors.len(), lines().len());
    assert!(vectors.len() >= 150, "{} vectors", vectors.len());
}

#[test]
fn every_vector_fits_the_schema_and_says_why_it_exists() {
    let schema = fs::read_to_string(folder().with_file_name("vector.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (topic, vector) in lines() {
        let name = vector["name"].as_str().unwrap_or_default().to_owned();
        let problems: Vec<_> = validator.iter_errors(&vector).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{topic}/{name}: {problems:#?}");
        assert!(vector["why"].as_str().unwrap().len() >= 25, "{topic}/{name} does not say why it exists");
    }
    let described: BTreeSet<_> =
        schema["$defs"].as_object().unwrap().keys().filter_map(|name| name.strip_prefix("step-")).collect();
    assert_eq!(described, VERBS.iter().map(|word| word.verb).collect());
    for word in VERBS {
        let properties = schema["$defs"][format!("step-{}", word.verb)]["properties"].as_object().unwrap();
        let unknown: Vec<_> = properties.keys().filter(|member| !word.takes(member)).collect();
        assert!(unknown.is_empty(), "the schema lets {unknown:?} stand beside `{}`", word.verb);
        assert!(word.beside.iter().all(|member| properties.contains_key(*member)), "`{}` takes more", word.verb);
    }
}

#[test]
fn everything_of_the_wire_is_in_a_vector_or_on_the_list_of_what_is_out_of_reach() {
    let bundle = ropewalk_protocol::bundle();
    let names = |entry: &str| bundle[entry].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let notifications = names("notifications").into_iter().filter(|name| name != "thread/event");
    let methods: Vec<_> = names("methods").into_iter().chain(notifications).collect();
    let events = bundle["$defs"]["Event"]["oneOf"].as_array().unwrap().iter().map(event_type).collect();
    let lines = lines();
    let mut reached = BTreeSet::new();
    for (all, members) in [(methods, METHODS_STAND_IN), (events, &["type"]), (names("errors"), &["kind"])] {
        let said: BTreeSet<String> = lines.iter().flat_map(|(_, vector)| below(&vector["steps"], members)).collect();
        for name in all {
            let reason = OUT_OF_REACH.iter().find(|(unreached, _)| *unreached == name);
            assert_ne!(said.contains(&name), reason.is_some(), "{name} is in a vector, or there is a reason why not");
            reached.insert(name);
        }
    }
    assert!(OUT_OF_REACH.iter().all(|(name, _)| reached.contains(*name)), "nobody has to reach these");
}

/// The members of a step that name a method.
const METHODS_STAND_IN: &[&str] = &["call", "send", "notify", "asked", "told", "eventually", "method"];

/// The value of `type` that an alternative of the event's schema asks for.
fn event_type(alternative: &Value) -> String {
    // What has a type of its own beside it is in two parts, of which the first has the word.
    let itself = [alternative, &alternative["allOf"][0]];
    let mut words = itself.iter().filter_map(|part| part["properties"]["type"]["const"].as_str());
    words.next().expect("events are told apart by `type`").to_owned()
}

/// Every text below members of these names, alternatives too.
fn below(value: &Value, members: &[&str]) -> Vec<String> {
    match value {
        Value::Array(elements) => elements.iter().flat_map(|element| below(element, members)).collect(),
        Value::Object(object) => {
            let inside = object.iter().flat_map(|(name, member)| {
                let wanted = members.contains(&name.as_str());
                let mut texts = below(member, members);
                texts.extend(wanted.then(|| member.as_str().map(str::to_owned)).flatten());
                let alternatives = wanted.then(|| member["$oneOf"].as_array()).flatten();
                texts.extend(alternatives.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
                texts
            });
            inside.collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn what_is_misspelt_in_a_vector_is_refused_with_its_place() {
    for (line, problem) in [
        ("{", "t: EOF"),
        (r#"{"why":"x","steps":[]}"#, "t: `name` is a text"),
        (r#"{"name":"n","why":"x","steps":[]}"#, "t/n: there are no `steps`"),
        (r#"{"name":"n","why":"x","nedes":[],"steps":[{"cut":true}]}"#, "t/n: `nedes` does not belong here"),
        (r#"{"name":"n","why":"x","needs":["root"],"steps":[{"cut":true}]}"#, "t/n: `needs` knows"),
        (r#"{"name":"n","why":"x","steps":[{"cut":true},{"wait":1}]}"#, "t/n, step 2: no verb is known here"),
        (r#"{"name":"n","why":"x","steps":[{"cut":true,"open":true}]}"#, "t/n, step 1: a step is"),
        (r#"{"name":"n","why":"x","steps":[{"cut":1}]}"#, "t/n, step 1: `cut` is said as `true`"),
        (r#"{"name":"n","why":"x","steps":[{"call":"m","reslut":1}]}"#, "t/n, step 1: `reslut` does not belong here"),
        (r#"{"name":"n","why":"x","steps":[{"open":true,"without":1}]}"#, "t/n, step 1: `without` does not"),
        (r#"{"name":"n","why":"x","steps":[{"repeat":2,"steps":[{"event":{"$typ":1}}]}]}"#, "t/n, step 1.1: at"),
        (
            r#"{"name":"n","why":"x","steps":[{"call":"m","params":{"$any":true}}]}"#,
            "t/n, step 1: at the whole: `$any`",
        ),
        (r#"{"name":"n","why":"x","steps":[{"call":"m","result":1,"error":2}]}"#, "t/n, step 1: an answer is"),
    ] {
        let bad = read::vector("t", line).unwrap_err().to_string();
        assert!(bad.starts_with(problem), "{line}: {bad}");
    }
}
