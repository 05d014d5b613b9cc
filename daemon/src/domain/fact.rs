//! Facts: what a record says beside its events, because rows need it and readers do not.

use std::sync::Arc;

use ropewalk_protocol::{
    AttentionId, BranchId, CallDecision, CallId, ClientRef, EndpointId, InstanceId, InteractionId, ItemId, MessageId,
    OperationId, Role, RunId, Seq, Timestamp, Unattended, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ClientTool, Link, ProviderParts, Replaced, Summary};

/// One fact of a record. The names are part of the log format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Fact {
    /// The thread's own instructions.
    Instructions {
        /// The text.
        text: String,
    },
    /// The tools a client has declared, whole; an empty list withdraws them.
    Tools {
        /// The client's name.
        client_name: String,
        /// Which process.
        instance_id: InstanceId,
        /// Whether the process named itself, so that it can come back.
        lasting: bool,
        /// The tools.
        tools: Vec<Arc<ClientTool>>,
    },
    /// What a queued input's run will need.
    Queued(QueuedRun),
    /// The endpoint the submit of a run named.
    AskedEndpoint {
        /// The run.
        run_id: RunId,
        /// The endpoint.
        endpoint_id: EndpointId,
    },
    /// The schema of a run's final answer.
    OutputSchema {
        /// The run.
        run_id: RunId,
        /// The schema.
        schema: Value,
    },
    /// The model is told that its final answer does not fit the schema.
    Repair {
        /// The run.
        run_id: RunId,
        /// How often it has been told with this.
        repairs: u64,
    },
    /// Tools the model has looked for, which are defined in the run's requests from now on.
    Pinned {
        /// The run.
        run_id: RunId,
        /// Their names, all of them, the best ones first.
        names: Vec<String>,
    },
    /// A call has come to something.
    Result {
        /// The run.
        run_id: RunId,
        /// Stands for the call's name, its arguments and its result.
        digest: String,
    },
    /// Where the run's budgets begin to count, or how long it has worked. All numbers are whole ones, as those of a step.
    Allowance {
        /// The run.
        run_id: RunId,
        /// Tool calls that were done before.
        calls_before: u64,
        /// Tokens that were used before.
        tokens_before: u64,
        /// How long it has worked, in milliseconds.
        worked_ms: u64,
        /// Up to when that is counted.
        at: Timestamp,
    },
    /// The model has answered. All numbers are those of the whole run, this answer included, so that it does not matter
    /// whether an event of the same record, which is read before it, has them already.
    Step {
        /// The run.
        run_id: RunId,
        /// What its answers have cost.
        usage: Usage,
        /// How many there are.
        steps: u64,
        /// How many calls they have.
        tool_calls: u64,
    },
    /// The model has answered with calls: the batch that now has to be worked off.
    Answer {
        /// The run.
        run_id: RunId,
        /// The assistant message that will join the chain with the last result.
        message_id: MessageId,
        /// The items of its text.
        items: Vec<ItemId>,
        /// The first event that has one of its items.
        from_seq: Seq,
        /// The calls in order.
        calls: Vec<AnsweredCall>,
        /// What the provider wants back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider_parts: Option<ProviderParts>,
    },
    /// A person, a rule or a default has decided about a call.
    Decided {
        /// The run.
        run_id: RunId,
        /// The call.
        call_id: CallId,
        /// The decision.
        decision: CallDecision,
        /// How long the approval was open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval_ms: Option<u64>,
    },
    /// A person is asked about a call.
    Shown {
        /// The run.
        run_id: RunId,
        /// The call.
        call_id: CallId,
        /// Stands for the tool and the exact arguments that are shown: what the decision will be bound to.
        digest: String,
    },
    /// The daemon begins to make a call itself, whose effect it could not undo: from here on it may have happened.
    Begun {
        /// The run.
        run_id: RunId,
        /// The call.
        call_id: CallId,
    },
    /// A run has ended or been paused, and nobody was there to see it.
    Unseen {
        /// The branch.
        branch_id: BranchId,
        /// The event that says so.
        seq: Seq,
    },
    /// Somebody has read what happened up to an event.
    Read {
        /// The branch; absent: all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch_id: Option<BranchId>,
        /// The event.
        seq: Seq,
    },
    /// The person has seen something that waits.
    AttentionSeen {
        /// What.
        attention_id: AttentionId,
    },
    /// Messages join the chain of a branch, whose head becomes the last of them.
    Joined {
        /// The branch.
        branch_id: BranchId,
        /// The messages in order; the first one's parent is `parent`, each other's the one before it.
        messages: Vec<Joined>,
        /// The head they follow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<Link>,
    },
    /// The head of a branch is moved otherwise than by a message that joins; what came after it is off the chain.
    Head {
        /// The branch.
        branch_id: BranchId,
        /// Where it is now; absent: nothing has been said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Link>,
    },
    /// A branch begins at a message of another one.
    Forked {
        /// The branch.
        branch_id: BranchId,
        /// The message it follows.
        head: Link,
        /// What stands for the oldest messages of its chain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Summary>,
    },
    /// A summary takes the place of the oldest messages of a branch. They stay in the log.
    Compacted {
        /// The branch.
        branch_id: BranchId,
        /// The run that needed the room.
        run_id: RunId,
        /// The newest message the summary stands for.
        covers: Link,
        /// The message it is in the chain.
        message_id: MessageId,
        /// Its whole text.
        text: String,
        /// When it was made.
        at: Timestamp,
    },
    /// More of the text of an open item: what has come since the last checkpoint.
    Checkpoint {
        /// The item.
        item_id: ItemId,
        /// The text.
        text: String,
    },
    /// No daemon ran for a while, and the ceiling of an open call counts only the time one did (ruling 9).
    Prolonged {
        /// The call.
        interaction_id: InteractionId,
        /// When it ends now.
        expires_at: Timestamp,
    },
    /// An open interaction is offered again.
    Attempt {
        /// The interaction.
        interaction_id: InteractionId,
        /// How often it has been offered with this.
        attempt: u64,
    },
    /// An open tool call is another client's from now on.
    Passed {
        /// The interaction.
        interaction_id: InteractionId,
        /// Whose.
        to: ClientRef,
    },
    /// A tool call was answered. What the model was told of it stands in its item; this stands for what was given, so that
    /// the same answer is known when it comes again.
    Given {
        /// The interaction.
        interaction_id: InteractionId,
        /// The digest of the answer.
        digest: String,
    },
}

/// What a queued input's run will need and its entry does not say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueuedRun {
    /// The run.
    pub run_id: RunId,
    /// The operation of its submit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The endpoint asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_id: Option<EndpointId>,
    /// What happens to a question nobody can answer.
    pub unattended: Unattended,
    /// The schema of the final answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// The message it takes the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Replaced>,
}

/// A call of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnsweredCall {
    /// Its id.
    pub call_id: CallId,
    /// Its item.
    pub item_id: ItemId,
    /// The name the model used.
    pub name: String,
    /// The arguments as the model wrote them, where they are not what the item shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_arguments: Option<String>,
    /// The tool message of its result.
    pub message_id: MessageId,
}

/// A message that joins a chain. Its content stands in its items.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Joined {
    /// The message.
    pub message_id: MessageId,
    /// Who speaks.
    pub role: Role,
    /// The run it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Its items: text and calls of an assistant message, the call of a tool message, the input of a user message.
    pub items: Vec<ItemId>,
    /// The first event that has one of them.
    pub from_seq: Seq,
    /// What the provider wants back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_parts: Option<ProviderParts>,
}
