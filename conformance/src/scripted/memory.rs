//! What the server has said, so that strict mode can tell whether it comes back as it was.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use serde_json::Value;

use super::plan::{Kind, Plan};

/// How many answers are remembered.
const KEPT: usize = 4_096;

/// An answer with reasoning or calls, as far as it must come back.
#[derive(Clone, Debug)]
pub(super) struct Said {
    /// The model that was asked.
    pub(super) model: String,
    /// Its text without blanks around it.
    pub(super) text: String,
    /// The names of its calls and their arguments; null where they were no JSON.
    pub(super) calls: Vec<(String, Value)>,
    /// Its reasoning as the shape sends it: a text, blocks or items, in order.
    pub(super) reasoning: Vec<Value>,
    /// Whether reasoning came first in it.
    pub(super) starts_with_reasoning: bool,
}

/// The last answers, oldest first.
#[derive(Default)]
pub(super) struct Memory(Mutex<VecDeque<Said>>);

impl Memory {
    pub(super) fn remember(&self, model: &str, plan: &Plan, reasoning: Vec<Value>) {
        let parsed = |arguments: &str| serde_json::from_str(arguments).unwrap_or_default();
        let first = plan.blocks.first().map(|block| &block.kind);
        let said = Said {
            model: model.to_owned(),
            text: plan.joined(&Kind::Text).trim().to_owned(),
            calls: plan.calls().map(|(_, name, arguments)| (name.to_owned(), parsed(arguments))).collect(),
            reasoning,
            starts_with_reasoning: matches!(first, Some(Kind::Thinking | Kind::Redacted)),
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(said);
    }

    /// The answers that a message with these calls can be. Ids do not tell, because a client may have its own; those
    /// whose arguments differ are only meant where none has equal ones.
    pub(super) fn answers(&self, model: &str, text: &str, calls: &[(&str, Value)]) -> Vec<Said> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let names =
            |said: &Said| said.calls.iter().map(|(name, _)| name.as_str()).eq(calls.iter().map(|(name, _)| *name));
        let like = |said: &&Said| said.model == model && said.text == text.trim() && names(said);
        let alike: Vec<_> = kept.iter().filter(like).cloned().collect();
        let equal = |said: &&Said| said.calls.iter().zip(calls).all(|(mine, theirs)| mine.1 == theirs.1);
        let exact: Vec<_> = alike.iter().filter(equal).cloned().collect();
        if exact.is_empty() { alike } else { exact }
    }

    /// Every piece of reasoning that was sent and that `wanted` takes.
    pub(super) fn reasoning(&self, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().rev().flat_map(|said| &said.reasoning).find(|piece| wanted(piece)).cloned()
    }
}
