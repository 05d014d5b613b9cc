//! The vectors can be read, say why they exist, and are told in the language that `commands` describes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    commands::Command,
    library::Library,
    vector::{Step, Vector},
};
use crate::kit::matching::Captures;

/// The commands of a vector with their values in them, each with the number of its step.
fn commands(library: &Library, vector: &Vector) -> Vec<(String, Value)> {
    let mut captures = Captures::new();
    library.values.iter().for_each(|(name, value)| captures.set(name.clone(), value.clone()));
    let mut commands = Vec::new();
    for numbered in &vector.steps {
        match &numbered.step {
            Step::Set(values) => {
                let filled: Vec<_> =
                    values.iter().map(|(name, value)| (name.clone(), captures.fill(value).unwrap())).collect();
                filled.into_iter().for_each(|(name, value)| captures.set(name, value));
            }
            Step::Tell(command) => commands.push((numbered.number.clone(), captures.fill(command).unwrap())),
            _ => {}
        }
    }
    commands
}

#[test]
fn every_vector_can_be_read_and_tells_drivers_what_they_understand() {
    let library = Library::built_in().unwrap();
    assert!(library.vectors.len() >= 60, "{} vectors", library.vectors.len());
    for vector in &library.vectors {
        for (number, mut command) in commands(&library, vector) {
            if command["cmd"] == "connect" {
                command["socket"] = "daemon.sock".into();
            }
            let read: Result<Command, _> = serde_json::from_value(command.clone());
            read.map_err(|error| format!("{}, step {number}: {error}: {command}", vector.name)).unwrap();
        }
    }
}

#[test]
fn a_command_is_named_once_in_a_vector() {
    let library = Library::built_in().unwrap();
    for vector in &library.vectors {
        let mut ids = BTreeSet::new();
        for (number, command) in commands(&library, vector) {
            assert!(ids.insert(command["id"].to_string()), "{}, step {number}: {command}", vector.name);
        }
    }
}

#[test]
fn every_vector_says_what_it_is_about() {
    for vector in Library::built_in().unwrap().vectors {
        assert!(vector.why.ends_with('.') && vector.why.len() > 30, "{}: {}", vector.name, vector.why);
        assert!(!vector.covers.is_empty(), "{} covers nothing", vector.name);
    }
}
