//! What tests of the domain are made of: inputs, answers, interactions, ends.

use std::{collections::VecDeque, sync::Arc};

use ropewalk_protocol::{
    By, ByKind, CallDecision, CallId, ClientRef, DecidedVia, InteractionBody, InteractionId, MessageId, Outcome,
    OutcomeStatus, Part, RunError, RunErrorKind, RunId, RunOutcome, Severity, ThreadId, Timestamp, ToolCallRequest,
    Unattended, Usage, WaitingKind, WaitingOn,
};
use serde_json::json;

use super::bench::{Bench, Counting};
use crate::domain::{
    Answered, AnsweredCall, CallEnd, Compaction, Declaring, Link, Notice, Opening, Remark, Settlement, Submission,
    World as _,
};

pub(super) fn submission(text: &str) -> Submission {
    Submission {
        branch_id: "th-1".into(),
        input: vec![Part::text(text)],
        operation_id: None,
        asked_endpoint: None,
        unattended: Unattended::Decline,
        output_schema: None,
        sender: None,
    }
}

pub(super) fn client(instance: &str) -> ClientRef {
    ClientRef { client_name: "bot".into(), instance_id: instance.into() }
}

pub(super) fn declaring(instance: &str, tools: Option<&[&str]>, takeover: bool) -> Declaring {
    let tool = |name: &&str| {
        Arc::new(
            serde_json::from_value(json!({
                "flatName": name, "digest": "d", "name": name, "description": "A tool.", "inputSchema": {"type": "object"},
            }))
            .unwrap(),
        )
    };
    let tools = tools.map(|names| names.iter().map(tool).collect());
    Declaring { client: client(instance), lasting: true, tools, takeover, absent: std::collections::BTreeSet::new() }
}

pub(super) fn outcome(status: OutcomeStatus) -> RunOutcome {
    let by = (status == OutcomeStatus::Stopped).then(|| By::client(ByKind::Stop, &client("in-A")));
    let error = (status == OutcomeStatus::Failed).then(|| RunError {
        kind: RunErrorKind::CutOff,
        message: "The answer was cut off.".to_owned(),
        retryable: true,
        retry_after_ms: None,
        provider: None,
    });
    RunOutcome { status, text: None, structured: None, reason: None, by, error }
}

pub(super) fn usage() -> Usage {
    Usage { input_tokens: 10, output_tokens: 3, requests: 1, ..Usage::default() }
}

pub(super) fn says(world: &Counting, text: &str) -> Answered {
    Answered {
        message_id: world.next_id().into(),
        text: Some((world.next_id().into(), text.to_owned())),
        reasoning: None,
        calls: Vec::new(),
        usage: usage(),
        provider_parts: None,
        is_incomplete: false,
    }
}

pub(super) fn calls(world: &Counting, names: &[&str]) -> Answered {
    let message_id: MessageId = world.next_id().into();
    let call = |name: &&str| {
        let known = AnsweredCall {
            call_id: world.next_id().into(),
            item_id: world.next_id().into(),
            name: (*name).to_owned(),
            raw_arguments: None,
            message_id: world.next_id().into(),
        };
        let item = serde_json::from_value(json!({
            "messageId": message_id, "callId": known.call_id, "arguments": {"n": 1},
            "tool": {"flatName": name, "name": name, "source": "client:bot", "digest": "d"},
        }));
        (known, item.unwrap())
    };
    let calls = names.iter().map(call).collect();
    Answered {
        message_id: message_id.clone(),
        text: None,
        reasoning: None,
        calls,
        usage: usage(),
        provider_parts: None,
        is_incomplete: false,
    }
}

/// A tool call to offer to `in-A`.
pub(super) fn tool_call(run: &RunId, call: &CallId, id: &InteractionId) -> Opening {
    let body = InteractionBody::ToolCall(ToolCallRequest {
        interaction_id: id.clone(),
        thread_id: "th-1".into(),
        run_id: run.clone(),
        call_id: call.clone(),
        attempt: 1,
        namespace: None,
        tool: "look".to_owned(),
        arguments: Some(json!({"n": 1})),
        silence_ms: 120_000,
        deadline_at: None,
    });
    opening(run, call, body)
}

/// An approval to offer.
pub(super) fn approval(run: &RunId, call: &CallId, id: &InteractionId) -> Opening {
    let request = serde_json::from_value(json!({
        "interactionId": id, "threadId": "th-1", "runId": run, "callId": call, "attempt": 1, "arguments": {"n": 1},
        "tool": {"name": "look", "source": "client:bot", "annotations": {}},
        "index": 1, "total": 1, "summary": "look 1", "choices": ["accept", "decline", "cancel"],
    }));
    opening(run, call, InteractionBody::Approval(Box::new(request.unwrap())))
}

fn opening(run: &RunId, call: &CallId, body: InteractionBody) -> Opening {
    Opening {
        run_id: run.clone(),
        call_id: call.clone(),
        body,
        offered_to: vec![client("in-A")],
        expires_at: None,
        silence_ms: None,
    }
}

pub(super) fn settlement(id: &InteractionId, outcome: Outcome, at: Timestamp) -> Settlement {
    let by = By::client(ByKind::Client, &client("in-A"));
    Settlement { interaction_id: id.clone(), outcome, by, at, answer: None }
}

pub(super) fn allowed() -> CallDecision {
    CallDecision {
        decision: "allow".to_owned(),
        via: DecidedVia::Default,
        interaction_id: None,
        policy_id: None,
        by: None,
        note: None,
    }
}

pub(super) fn waits_for(id: &InteractionId, since: Timestamp) -> WaitingOn {
    WaitingOn {
        kind: WaitingKind::ToolCall,
        interaction_id: Some(id.clone()),
        since,
        deadline_at: None,
        can_answer: Vec::new(),
        path: Vec::new(),
    }
}

/// A call that went well.
pub(super) fn told(text: &str) -> CallEnd {
    CallEnd::told(text)
}

pub(super) fn remark(text: &str, steers: Option<&RunId>) -> Remark {
    Remark { branch_id: "th-1".into(), input: vec![Part::text(text)], steers: steers.cloned(), sender: None }
}

/// Messages that wait on the original branch, in order.
pub(super) fn line(bench: &Bench) -> Vec<MessageId> {
    bench.state.branches[&branch()].queue.iter().map(|input| input.entry.message_id.clone()).collect()
}

/// Runs that wait on the original branch, in order.
pub(super) fn waiting(bench: &Bench) -> Vec<RunId> {
    let queue: &VecDeque<_> = &bench.state.branches[&branch()].queue;
    queue.iter().filter(|input| input.begins_a_run()).map(|input| input.entry.run_id.clone()).collect()
}

pub(super) fn branch() -> ropewalk_protocol::BranchId {
    ThreadId::from("th-1").into()
}

/// A summary of what ends at `covers`, made in two requests.
pub(crate) fn compaction(covers: Link, text: &str) -> Compaction {
    let notice = Notice { code: "compacted", text: "Some were summarised.".to_owned(), severity: Severity::Info };
    let usage = Usage { input_tokens: 100, output_tokens: 10, requests: 2, ..Usage::default() };
    Compaction { covers, text: text.to_owned(), usage, notice }
}
