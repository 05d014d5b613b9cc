//! Reading the chain of a branch out of a log, from its head to its root.

use std::collections::{BTreeMap, HashMap, VecDeque};

use ropewalk_protocol::{
    BranchId, Delivery, Event, Item, ItemBody, ItemId, ItemState, Message, MessageId, Part, Role, Seq, ThreadId,
    ToolCallItem, ToolCallRef,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Fact, Joined, Summary,
    summary::{self, Made},
};

/// A message of the chain with what only its provider can read.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainMessage {
    /// The message as the wire shows it.
    pub message: Message,
    /// The provider's own parts, for an assistant message; sent back to the same provider only (ruling 34).
    pub provider_parts: Option<ProviderParts>,
}

/// What a provider wants back as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProviderParts {
    /// The provider, as [`ropewalk_protocol::Provider`] is spelled.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The parts, opaque and in order.
    pub parts: Vec<Value>,
}

/// Where a message of a chain stands in its log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// The message.
    pub message_id: MessageId,
    /// The record that let it join: its `n`.
    pub n: Seq,
    /// How many messages come before it.
    pub depth: u64,
}

impl Link {
    /// Whether a summary of the chain it is on stands for it.
    #[must_use]
    pub const fn is_covered_by(&self, summary: &Summary) -> bool {
        self.depth <= summary.covers.depth
    }

    /// It in one word of a list: what a cursor keeps.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{} {} {}", self.message_id, self.n, self.depth)
    }

    /// What [`Self::key`] wrote; nothing for anything else.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        let mut parts = key.split(' ');
        let mut number = || parts.next_back().and_then(|part| part.parse().ok());
        let (depth, n) = (number()?, number()?);
        Some(Self { message_id: parts.next()?.into(), n, depth })
    }
}

/// A window of a log, and the walk up a chain through it.
///
/// Feed it the records of a window in order with [`ChainReader::record`], then take messages with
/// [`ChainReader::walk`]; it says where the next window has to reach.
#[derive(Debug, Default)]
pub struct ChainReader {
    items: HashMap<ItemId, Item>,
    joins: BTreeMap<Seq, Vec<Join>>,
    summaries: Vec<Made>,
    first_seq: Option<Seq>,
}

#[derive(Debug)]
struct Join {
    branch_id: BranchId,
    messages: Vec<Joined>,
    parent: Option<Link>,
}

impl ChainReader {
    /// Takes in one record of the window.
    pub fn record(&mut self, n: Seq, events: impl Iterator<Item = Event>, facts: impl Iterator<Item = Fact>) {
        self.first_seq.get_or_insert(n);
        for event in events {
            if let Event::ItemCompleted { item } = event {
                self.items.insert(item.item_id.clone(), item);
            }
        }
        for fact in facts {
            match fact {
                Fact::Joined { branch_id, messages, parent } => {
                    self.joins.entry(n).or_default().push(Join { branch_id, messages, parent });
                }
                Fact::Compacted { branch_id, run_id, message_id, text, at, .. } => {
                    self.summaries.push(Made { branch_id, run_id, message_id, text, at });
                }
                _ => {}
            }
        }
    }

    /// The message of a summary, where the window has its record.
    #[must_use]
    pub fn summary(&self, thread_id: &ThreadId, of: &Summary) -> Option<ChainMessage> {
        let made = self.summaries.iter().find(|made| made.message_id == of.message_id)?;
        Some(summary::message(thread_id, made.clone()))
    }

    /// Walks up from `link`, at most `limit` messages, newest first, as far as the window reaches and no further than to
    /// what `summary` covers. The second value is where to go on, `None` at the root.
    #[must_use]
    pub fn walk(
        &self,
        thread_id: &ThreadId,
        link: &Link,
        summary: Option<&Summary>,
        limit: usize,
    ) -> (VecDeque<(Link, ChainMessage)>, Option<Link>) {
        let mut found = VecDeque::new();
        let mut next = Some(link.clone());
        while let Some(at) = next.clone() {
            if found.len() >= limit || summary.is_some_and(|summary| at.is_covered_by(summary)) {
                break;
            }
            let Some((mut message, parent)) = self.message(thread_id, &at) else { break };
            if let Some(summary) = summary.filter(|summary| parent.as_ref().is_some_and(|it| it.is_covered_by(summary)))
            {
                message.message.parent_message_id = Some(summary.message_id.clone());
            }
            found.push_back((at, message));
            next = parent;
        }
        (found, next)
    }

    /// The first event a window must hold to show the message at `link`, as far as this window knows.
    #[must_use]
    pub fn needs(&self, link: &Link) -> Seq {
        self.find(link).map_or(link.n, |(_, joined, _)| joined.from_seq)
    }

    fn find(&self, link: &Link) -> Option<(&Join, &Joined, Option<Link>)> {
        let join = self.joins.get(&link.n)?.iter().find(|join| join.position(link).is_some())?;
        let position = join.position(link)?;
        let parent = match position.checked_sub(1) {
            Some(before) => Some(Link {
                message_id: join.messages[before].message_id.clone(),
                n: link.n,
                depth: link.depth.saturating_sub(1),
            }),
            None => join.parent.clone(),
        };
        Some((join, &join.messages[position], parent))
    }

    fn message(&self, thread_id: &ThreadId, link: &Link) -> Option<(ChainMessage, Option<Link>)> {
        let (join, joined, parent) = self.find(link)?;
        let items: Vec<&Item> = joined.items.iter().map(|id| self.items.get(id)).collect::<Option<_>>()?;
        let mut message = Message {
            message_id: joined.message_id.clone(),
            thread_id: thread_id.clone(),
            branch_id: join.branch_id.clone(),
            parent_message_id: parent.as_ref().map(|parent| parent.message_id.clone()),
            run_id: joined.run_id.clone(),
            role: joined.role,
            delivery: Delivery::Turn,
            content: Vec::new(),
            tool_calls: Vec::new(),
            call_id: None,
            is_error: None,
            incomplete: false,
            summary: false,
            sender: None,
            at: items
                .last()
                .map_or(ropewalk_protocol::Timestamp::from_millis(0), |item| item.ended_at.unwrap_or(item.started_at)),
        };
        for item in items {
            add_item(&mut message, item);
        }
        Some((ChainMessage { message, provider_parts: joined.provider_parts.clone() }, parent))
    }
}

impl Join {
    fn position(&self, link: &Link) -> Option<usize> {
        self.messages.iter().position(|joined| joined.message_id == link.message_id)
    }
}

fn add_item(message: &mut Message, item: &Item) {
    match &item.body {
        ItemBody::UserMessage { content, delivery, sender, .. } => {
            message.content.extend(content.iter().cloned());
            message.delivery = *delivery;
            message.sender.clone_from(sender);
        }
        ItemBody::AssistantMessage { text, incomplete, .. } => {
            if !text.is_empty() {
                message.content.push(Part::text(text.clone()));
            }
            message.incomplete |= incomplete;
        }
        ItemBody::ToolCall(call) if message.role == Role::Assistant => message.tool_calls.push(call_ref(call)),
        ItemBody::ToolCall(call) => {
            message.call_id = Some(call.call_id.clone());
            message.content.extend(call.content.iter().flatten().cloned());
            message.is_error = Some(item.state != ItemState::Completed);
        }
        ItemBody::Reasoning { .. } | ItemBody::Notice { .. } => {}
    }
}

/// A call as the model made it, so that its history repeats its own words and not our repair of them.
fn call_ref(call: &ToolCallItem) -> ToolCallRef {
    ToolCallRef {
        call_id: call.call_id.clone(),
        flat_name: call.tool.flat_name.clone(),
        arguments: call.original_arguments.clone().unwrap_or_else(|| call.arguments.clone()),
    }
}
