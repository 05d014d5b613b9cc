//! Calls the daemon makes itself: what is written down before one, and what becomes of it when the daemon dies.

use std::time::Duration;

use ropewalk_protocol::Annotations;
use serde_json::json;

use super::{Before, begins, may_be_repeated};
use crate::{
    domain::{Answered, AnsweredCall, World as _},
    engine::{
        ThreadHandle, Turn,
        run::report::Reporter,
        tests::{
            client::Person,
            life::{Life, begin, call_ends, soon},
        },
    },
    tools::{ToolSpec, ask_user},
};

fn tool(annotations: Annotations) -> ToolSpec {
    ToolSpec { annotations, ..ask_user::tool() }
}

/// Has a run call a tool, as if its model had answered so.
async fn calls(thread: &ThreadHandle, run: &ropewalk_protocol::RunId, name: &str) -> ropewalk_protocol::CallId {
    let (run, name) = (run.clone(), name.to_owned());
    let call = move |turn: &mut Turn<'_>| {
        let ids = turn.shared.clone();
        let known = AnsweredCall {
            call_id: ids.next_id().into(),
            item_id: ids.next_id().into(),
            name: name.clone(),
            raw_arguments: None,
            message_id: ids.next_id().into(),
        };
        let message_id: ropewalk_protocol::MessageId = ids.next_id().into();
        let item = json!({
            "messageId": message_id, "callId": known.call_id, "arguments": {},
            "tool": {"flatName": name, "name": name, "source": "files", "digest": "d"},
        });
        let call_id = known.call_id.clone();
        turn.change.answered(
            &run,
            Answered {
                message_id,
                text: None,
                reasoning: None,
                calls: vec![(known, serde_json::from_value(item).unwrap())],
                usage: Default::default(),
                provider_parts: None,
                is_incomplete: false,
            },
        );
        Ok(call_id)
    };
    soon(thread.turn(call)).await.unwrap()
}

#[test]
fn k17_only_a_tool_that_says_that_twice_is_once_is_called_again() {
    let unsaid = tool(Annotations::default());
    let read_only = tool(Annotations { read_only_hint: Some(true), ..Annotations::default() });
    let idempotent = tool(Annotations { idempotent_hint: Some(true), ..Annotations::default() });
    assert!(!may_be_repeated(&unsaid) && may_be_repeated(&read_only) && may_be_repeated(&idempotent));
    let begun = Before { is_decided: true, is_asked: false, shown: None, was_sent: false, was_begun: true };
    assert!(begun.is_lost(Some(&unsaid)) && begun.is_lost(None));
    assert!(!begun.is_lost(Some(&read_only)) && !begun.is_lost(Some(&idempotent)));
    let decided = Before { was_begun: false, ..begun };
    assert!(!decided.is_lost(Some(&unsaid)), "what was only decided is made");
    let sent = Before { was_sent: true, ..decided };
    assert!(!sent.is_lost(Some(&unsaid)) && sent.is_lost(None), "a client is offered its call again");
}

#[tokio::test]
async fn k17_a_call_of_the_daemons_own_is_written_down_first_and_its_outcome_is_unknown_after_a_crash() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let _asked = life.asked().await;
    let call = calls(&thread, &run, "write_file").await;
    let generation = soon(thread.turn(|turn| Ok(turn.live.generation))).await.unwrap();
    let reporter = Reporter::new(thread.clone(), run.clone(), generation);
    let is_begun = || async {
        let (run, call) = (run.clone(), call.clone());
        soon(thread.turn(move |turn| Ok(turn.state().call(&run, &call).unwrap().is_begun))).await.unwrap()
    };
    soon(begins(&reporter, &ask_user::tool(), &call)).await.unwrap();
    assert!(!is_begun().await, "one that may be made again is not noted");
    soon(begins(&reporter, &tool(Annotations::default()), &call)).await.unwrap();
    assert!(is_begun().await);

    let mut life = life.crash(Duration::from_secs(1)).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    let told = asked.history().pop().unwrap();
    assert!(told.starts_with("tool: ") && told.contains("unknown"), "the model is told: {told}");
    asked.ends("I shall look.");
    life.ended(&thread, &run).await;
    assert_eq!(call_ends(&thread).await, [json!(["outcomeUnknown", "outcome_unknown", "unknown"])]);
}
