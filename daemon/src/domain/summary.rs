//! Compaction: a summary takes the place of the oldest messages of a branch. What it covers stays in the log.

use ropewalk_protocol::{BranchId, Delivery, Message, MessageId, Part, Role, RunId, Seq, ThreadId, Timestamp, Usage};
use serde::{Deserialize, Serialize};

use super::{ChainMessage, Change, Fact, Link, Notice};

/// How the part of a summary begins that repeats what is being worked on. At the begin of a line nobody else can write it:
/// what it repeats is quoted.
const REQUEST: &str =
    "\n\n[The request that is being worked on, word for word, each line after \"> \". Answers given to it so far: ";

/// What stands in place of the oldest messages of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The newest message it stands for.
    pub covers: Link,
    /// The message it is.
    pub message_id: MessageId,
    /// The record that has its text.
    pub n: Seq,
}

/// The chain of a branch as it is read: from its head back to its summary, else to its root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Where it ends; `None` while nothing has been said.
    pub head: Option<Link>,
    /// What it begins with, where its oldest messages have been summarised.
    pub summary: Option<Summary>,
}

/// A request that a summary has to carry, because its message is among those it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// What was asked, word for word or visibly cut.
    pub text: String,
    /// How many answers the model has given to it.
    pub answers: u64,
}

/// A compaction that is to be written down.
#[derive(Clone, Debug)]
pub struct Compaction {
    /// The newest message the summary stands for. Never a call whose results come after it.
    pub covers: Link,
    /// The whole text of the summary.
    pub text: String,
    /// What making it has cost.
    pub usage: Usage,
    /// What people are told of it.
    pub notice: Notice,
}

impl Change<'_> {
    /// Puts a summary in the place of the oldest messages of a run's branch. Counts what it has cost to the run.
    ///
    /// Writes nothing while the run works off calls: their message is not in the chain yet.
    pub fn compact(&mut self, run_id: &RunId, compaction: Compaction) {
        let Some(state) = self.state.runs.get(run_id).filter(|state| state.batch.is_none()) else { return };
        let mut usage = state.run.usage.clone();
        usage.add(&compaction.usage);
        let (branch_id, steps, tool_calls) = (state.run.branch_id.clone(), state.run.steps, state.run.tool_calls);
        // The notice is what gives the record a number of its own, by which the text of the summary is found.
        self.notice(run_id, compaction.notice);
        self.fact(Fact::Step { run_id: run_id.clone(), usage, steps, tool_calls });
        self.fact(Fact::Compacted {
            branch_id,
            run_id: run_id.clone(),
            covers: compaction.covers,
            message_id: self.id(),
            text: compaction.text,
            at: self.at,
        });
    }
}

/// The whole text of a summary: that it is one, what it says, and the request it carries.
#[must_use]
pub fn summary_text(messages: u64, says: &str, carried: Option<&Carried>) -> String {
    let mut text = format!(
        "[Summary of the {messages} oldest messages of this conversation, which no longer fit into your window. They are \
         kept outside of it.]\n\n{}",
        says.trim()
    );
    if let Some(Carried { text: request, answers }) = carried {
        text.push_str(&format!("{REQUEST}{answers}.]"));
        for line in request.split('\n') {
            text.push_str("\n> ");
            text.push_str(line);
        }
    }
    text
}

/// The request a summary carries.
#[must_use]
pub fn carried_request(text: &str) -> Option<Carried> {
    let (count, lines) = text.rsplit_once(REQUEST)?.1.split_once(".]\n")?;
    let text = lines.split('\n').map(|line| line.strip_prefix("> ").unwrap_or(line)).collect::<Vec<_>>().join("\n");
    Some(Carried { text, answers: count.parse().ok()? })
}

/// What a summary says, without what was put around it.
#[must_use]
pub fn summary_says(text: &str) -> &str {
    let says = text.split_once("]\n\n").map_or(text, |(_, says)| says);
    says.rsplit_once(REQUEST).map_or(says, |(says, _)| says).trim()
}

/// A summary as the message that begins its chain.
pub(super) fn message(thread_id: &ThreadId, made: Made) -> ChainMessage {
    let message = Message {
        message_id: made.message_id,
        thread_id: thread_id.clone(),
        branch_id: made.branch_id,
        parent_message_id: None,
        run_id: Some(made.run_id),
        role: Role::User,
        delivery: Delivery::Turn,
        content: vec![Part::text(made.text)],
        tool_calls: Vec::new(),
        call_id: None,
        is_error: None,
        incomplete: false,
        summary: true,
        sender: None,
        at: made.at,
    };
    ChainMessage { message, provider_parts: None }
}

/// A summary as its record has it.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) branch_id: BranchId,
    pub(super) run_id: RunId,
    pub(super) message_id: MessageId,
    pub(super) text: String,
    pub(super) at: Timestamp,
}
