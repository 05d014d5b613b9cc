//! What has been captured by name so far, and a trial that takes nothing back when it fails.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Unfilled, template};

/// Values by name. A name that is captured keeps its value: a later pattern with it takes nothing else.
#[derive(Clone, Debug, Default)]
pub struct Captures {
    values: BTreeMap<String, Value>,
}

impl Captures {
    /// Captures that hold nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What was captured under this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Gives a name a value, in the place of one it had.
    pub fn set(&mut self, name: impl Into<String>, value: Value) {
        self.values.insert(name.into(), value);
    }

    /// A template with what was captured in it.
    ///
    /// # Errors
    /// When it names what was never captured, or a generator in it cannot be read.
    pub fn fill(&self, filled: &Value) -> Result<Value, Unfilled> {
        template::fill(filled, &|name| self.get(name).cloned())
    }

    /// A text with what was captured in it.
    ///
    /// # Errors
    /// As [`Captures::fill`].
    pub fn fill_text(&self, text: &str) -> Result<String, Unfilled> {
        template::fill_text(text, &|name| self.get(name).cloned())
    }

    pub(super) fn extend(&mut self, made: Vec<(String, Value)>) {
        self.values.extend(made);
    }
}

/// Captures while a match is being tried.
pub(super) struct Trial<'a> {
    known: &'a Captures,
    made: Vec<(String, Value)>,
}

impl<'a> Trial<'a> {
    pub(super) const fn new(known: &'a Captures) -> Self {
        Self { known, made: Vec::new() }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let made = self.made.iter().find(|(made, _)| made == name).map(|(_, value)| value);
        made.or_else(|| self.known.get(name))
    }

    pub(super) fn capture(&mut self, name: &str, value: Value) {
        self.made.push((name.to_owned(), value));
    }

    pub(super) fn fill(&self, filled: &Value) -> Result<Value, Unfilled> {
        template::fill(filled, &|name| self.get(name).cloned())
    }

    /// A place to go back to with [`Trial::back_to`].
    pub(super) const fn mark(&self) -> usize {
        self.made.len()
    }

    pub(super) fn back_to(&mut self, mark: usize) {
        self.made.truncate(mark);
    }

    pub(super) fn made(self) -> Vec<(String, Value)> {
        self.made
    }
}
