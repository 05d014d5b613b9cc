//! An answer before it is put into the words of a shape: its blocks, and what happens in which order.

use ropewalk_script::{Action, FailKind, resolve_name};

use super::tokens::BYTES_PER_TOKEN;

/// The word that makes a line of reasoning one that the provider hides: `think [redacted] TEXT`.
const REDACTED: &str = "[redacted]";

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
    /// Reasoning that only its signature shows.
    Redacted,
    Call {
        id: String,
        name: String,
    },
}

/// A part of an answer: its text, or its reasoning, or a call's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) kind: Kind,
    pub(super) text: String,
}

/// What happens in an answer, in order; the numbers are places of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Happening {
    Open(usize),
    Delta(usize, String),
    Close(usize),
    Sleep { ms: u64 },
    Fail(FailKind),
}

/// How an answer ends when nothing goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// All is said.
    Stop,
    /// It made calls.
    Calls,
    /// It reached the limit of its tokens, wherever that was.
    Limit,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) blocks: Vec<Block>,
    pub(super) happenings: Vec<Happening>,
    pub(super) ending: Ending,
}

/// What a plan is made with.
pub(super) struct Making<'a> {
    /// The names of the tools.
    pub(super) names: &'a [String],
    /// The id of the call with this number.
    pub(super) call_id: &'a dyn Fn(usize) -> String,
    /// Tokens it may have.
    pub(super) limit: Option<u64>,
}

impl Plan {
    pub(super) fn new(actions: Vec<Action>, making: &Making<'_>) -> Self {
        let left = making
            .limit
            .map_or(usize::MAX, |tokens| usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN));
        let plan = Self { blocks: Vec::new(), happenings: Vec::new(), ending: Ending::Stop };
        let mut builder = Builder { plan, left, calls: 0, open: None };
        for action in actions {
            if !builder.take(action, making) {
                break;
            }
        }
        builder.close();
        builder.plan
    }

    /// The text of the blocks of one kind, joined.
    pub(super) fn joined(&self, kind: &Kind) -> String {
        self.blocks.iter().filter(|block| block.kind == *kind).map(|block| block.text.as_str()).collect()
    }

    /// The calls: id, name and arguments.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.blocks.iter().filter_map(|block| match &block.kind {
            Kind::Call { id, name } => Some((id.as_str(), name.as_str(), block.text.as_str())),
            _ => None,
        })
    }

    /// Bytes of all that was said, and of the reasoning in it.
    pub(super) fn output_bytes(&self) -> (usize, usize) {
        let bytes = |block: &Block| match &block.kind {
            Kind::Call { name, .. } => name.len() + block.text.len(),
            _ => block.text.len(),
        };
        let is_reasoning = |block: &&Block| matches!(block.kind, Kind::Thinking | Kind::Redacted);
        (self.blocks.iter().map(bytes).sum(), self.blocks.iter().filter(is_reasoning).map(bytes).sum())
    }
}

struct Builder {
    plan: Plan,
    /// Bytes that may still be said.
    left: usize,
    calls: usize,
    open: Option<usize>,
}

impl Builder {
    /// Whether more may follow.
    fn take(&mut self, action: Action, making: &Making<'_>) -> bool {
        match action {
            Action::Say(text) => self.say(&Kind::Text, &text),
            Action::Think(text) => self.think(&text),
            Action::Call { tool, arguments } => {
                let name = resolve_name(&tool, making.names.iter().map(String::as_str)).to_owned();
                let id = (making.call_id)(self.calls);
                self.calls += 1;
                self.open(Kind::Call { id, name });
                self.plan.ending = Ending::Calls;
                let (head, tail) = halves(&arguments);
                self.delta(head) && self.delta(tail)
            }
            Action::Sleep { ms } => {
                self.plan.happenings.push(Happening::Sleep { ms });
                true
            }
            Action::Fail { kind } => {
                // A block that is open when an answer fails stays so.
                self.open = None;
                self.plan.happenings.push(Happening::Fail(kind));
                false
            }
        }
    }

    /// A line of reasoning that begins with the word for it is hidden, up to the end of that line.
    fn think(&mut self, text: &str) -> bool {
        let begins_line = text.starts_with('\n') || self.open.is_none_or(|place| !self.is_reasoning(place));
        if begins_line && text.trim() == REDACTED {
            self.open(Kind::Redacted);
            return true;
        }
        let hidden = self.open.is_some_and(|place| self.plan.blocks[place].kind == Kind::Redacted);
        let kind = if hidden && !begins_line { Kind::Redacted } else { Kind::Thinking };
        let text = if hidden && begins_line { text.trim_start_matches('\n') } else { text };
        self.say(&kind, text)
    }

    fn is_reasoning(&self, place: usize) -> bool {
        matches!(self.plan.blocks[place].kind, Kind::Thinking | Kind::Redacted)
    }

    fn say(&mut self, kind: &Kind, text: &str) -> bool {
        if self.open.is_none_or(|place| self.plan.blocks[place].kind != *kind) {
            self.open(kind.clone());
        }
        self.delta(text)
    }

    fn open(&mut self, kind: Kind) {
        self.close();
        let place = self.plan.blocks.len();
        self.plan.blocks.push(Block { kind, text: String::new() });
        self.plan.happenings.push(Happening::Open(place));
        self.open = Some(place);
    }

    /// More of the open block, as far as the limit lets it; whether more may follow.
    fn delta(&mut self, text: &str) -> bool {
        let Some(place) = self.open else { return true };
        let fits = text.floor_char_boundary(self.left);
        let said = &text[..fits];
        self.left -= fits;
        if !said.is_empty() {
            self.plan.blocks[place].text += said;
            self.plan.happenings.push(Happening::Delta(place, said.to_owned()));
        }
        let is_whole = fits == text.len();
        if !is_whole {
            self.plan.ending = Ending::Limit;
        }
        is_whole
    }

    fn close(&mut self) {
        if let Some(place) = self.open.take() {
            self.plan.happenings.push(Happening::Close(place));
        }
    }
}

/// A text in two parts that are about as long.
fn halves(text: &str) -> (&str, &str) {
    text.split_at(text.ceil_char_boundary(text.len() / 2))
}
