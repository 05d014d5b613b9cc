//! What the server has said, so that strict mode can tell whether it comes back as it was.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use super::plan::{Kind, Plan};

/// How many answers are remembered. A thousand kills under load make some 10,000.
const KEPT: usize = 65_536;

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

/// The last answers.
#[derive(Default)]
pub(super) struct Memory(Mutex<Kept>);

/// Model and text, which answers are looked up by.
type Key = (String, String);

#[derive(Default)]
struct Kept {
    /// Oldest first.
    all: VecDeque<Arc<Said>>,
    /// The same ones, oldest first under each key.
    by_text: HashMap<Key, VecDeque<Arc<Said>>>,
}

impl Kept {
    fn push(&mut self, said: Said) {
        if self.all.len() == KEPT
            && let Some(oldest) = self.all.pop_front()
            && let Some(alike) = self.by_text.get_mut(&key(&oldest.model, &oldest.text))
        {
            alike.pop_front();
            if alike.is_empty() {
                self.by_text.remove(&key(&oldest.model, &oldest.text));
            }
        }
        let said = Arc::new(said);
        self.by_text.entry(key(&said.model, &said.text)).or_default().push_back(said.clone());
        self.all.push_back(said);
    }
}

fn key(model: &str, text: &str) -> Key {
    (model.to_owned(), text.trim().to_owned())
}

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
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(said);
    }

    /// The answers that a message with these calls can be. Ids do not tell, because a client may have its own; those
    /// whose arguments differ are only meant where none has equal ones.
    pub(super) fn answers(&self, model: &str, text: &str, calls: &[(&str, Value)]) -> Vec<Said> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let names = calls.iter().map(|(name, _)| *name);
        let like = |said: &&Said| said.calls.iter().map(|(name, _)| name.as_str()).eq(names.clone());
        let same_text = kept.by_text.get(&key(model, text)).into_iter().flatten().map(Arc::as_ref);
        let alike: Vec<&Said> = same_text.filter(like).collect();
        let equal = |said: &&&Said| said.calls.iter().zip(calls).all(|(mine, theirs)| mine.1 == theirs.1);
        let exact: Vec<&Said> = alike.iter().filter(equal).copied().collect();
        let found = if exact.is_empty() { alike } else { exact };
        found.into_iter().cloned().collect()
    }

    /// Every piece of reasoning that was sent and that `wanted` takes.
    pub(super) fn reasoning(&self, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.all.iter().rev().flat_map(|said| &said.reasoning).find(|piece| wanted(piece)).cloned()
    }
}
