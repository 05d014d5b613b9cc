//! Steps, batches and interactions: history is valid at every commit, and everything settles once.

use ropewalk_protocol::{Effect as CallEffect, InteractionId, ItemBody, ItemState, Outcome, OutcomeStatus};

use super::{
    bench::Bench,
    fixtures::{allowed, approval, calls, outcome, says, settlement, submission, told, tool_call, usage, waits_for},
};
use crate::domain::{Effect, World as _};

#[test]
fn ruling_32_a_batch_joins_the_chain_with_its_last_result_only() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let calls = bench.calls(&run, &["look", "look", "find"]);
    assert_eq!(bench.said(), ["user: go"]);
    for (call, text) in calls.iter().zip(["one", "two", "three"]) {
        assert_eq!(bench.said(), ["user: go"], "the chain shows no call without its result");
        bench.change(|change| change.complete_call(&run, call, told(text)));
    }
    assert_eq!(bench.said(), ["user: go", "assistant: ", "tool: one", "tool: two", "tool: three"]);
    assert_eq!(bench.state.runs[&run].calls_by_tool["look"], 2);
    bench.complete(&run, "done");
    assert_eq!(bench.said().last().unwrap(), "assistant: done");
}

#[test]
fn results_may_come_in_any_order_and_join_in_the_order_of_their_calls() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let calls = bench.calls(&run, &["a", "b"]);
    bench.change(|change| change.complete_call(&run, &calls[1], told("b's")));
    bench.change(|change| change.complete_call(&run, &calls[0], told("a's")));
    assert_eq!(bench.said()[2..], ["tool: a's", "tool: b's"]);
}

#[test]
fn a_call_completes_once() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let calls = bench.calls(&run, &["a", "b"]);
    bench.change(|change| change.complete_call(&run, &calls[0], told("first")));
    let again = bench.change(|change| change.complete_call(&run, &calls[0], told("second")));
    assert!(again.events.is_empty());
    bench.change(|change| change.complete_call(&run, &calls[1], told("other")));
    assert!(bench.said().contains(&"tool: first".to_owned()));
}

#[test]
fn an_answer_its_calls_and_their_first_wait_fit_into_one_record() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let answered = calls(&bench.world, &["look"]);
    let call = answered.calls[0].0.call_id.clone();
    let (id, at): (InteractionId, _) = (bench.world.next_id().into(), bench.at);
    let opening = tool_call(&run, &call, &id);
    let done = bench.change(|change| {
        change.answered(&run, answered);
        change.decide_call(&run, &call, allowed(), None);
        change.open_interaction(&id, opening);
        change.run_waits(&run, Some(waits_for(&id, at)));
    });
    assert_eq!(done.types(), ["itemStarted", "interactionOpened", "runState"]);
    assert_eq!(done.effects, [Effect::Offer(id)]);
    let state = &bench.state.runs[&run].run;
    assert_eq!((state.steps, state.tool_calls, &state.usage), (1, 1, &usage()), "the step is counted once");
}

#[test]
fn an_interaction_settles_once_and_before_its_item() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let call = bench.calls(&run, &["look"]).remove(0);
    let id: InteractionId = bench.world.next_id().into();
    let (opening, at) = (tool_call(&run, &call, &id), bench.at);
    bench.change(|change| change.open_interaction(&id, opening));
    let done = bench.change(|change| {
        change.settle(settlement(&id, Outcome::Answered, at));
        change.settle(settlement(&id, Outcome::Expired, at));
        change.complete_call(&run, &call, told("done"));
    });
    assert_eq!(done.types(), ["interactionSettled", "itemCompleted"]);
    assert!(bench.change(|change| change.settle(settlement(&id, Outcome::Cancelled, at))).events.is_empty());
    let ropewalk_protocol::Event::ItemCompleted { item } = &done.events[1] else { panic!("the item completes") };
    let ItemBody::ToolCall(body) = &item.body else { panic!("it is a call") };
    assert_eq!(body.interaction_id, Some(id), "the item names the interaction that carried it");
}

#[test]
fn a_call_that_ends_while_it_is_asked_about_cancels_the_question() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let call = bench.calls(&run, &["look"]).remove(0);
    let id: InteractionId = bench.world.next_id().into();
    let opening = approval(&run, &call, &id);
    bench.change(|change| change.open_interaction(&id, opening));
    let done = bench.change(|change| change.complete_call(&run, &call, told("not needed")));
    assert_eq!(done.types(), ["interactionSettled", "itemCompleted"]);
}

#[test]
fn a_stop_in_any_phase_leaves_a_valid_history() {
    // While the model streams: what it has said stays.
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    bench.begin_text(&run);
    let done = bench.change(|change| {
        change.finish_run(&run, outcome(OutcomeStatus::Stopped), &|_| Some("half a sent".to_owned()));
    });
    assert_eq!(done.types(), ["itemCompleted", "runCompleted"]);
    assert_eq!(bench.said(), ["user: go", "assistant: half a sent"]);
    assert!(bench.chain()[1].message.incomplete);

    // Before it has said anything: nothing of it is in the chain.
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    bench.begin_text(&run);
    bench.stop(&run);
    assert_eq!(bench.said(), ["user: go"]);

    // In the middle of a batch, with an approval open: one call is done, one is asked about, one was not looked at.
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let calls = bench.calls(&run, &["a", "b", "c"]);
    bench.change(|change| change.complete_call(&run, &calls[0], told("a's")));
    let id: InteractionId = bench.world.next_id().into();
    let opening = approval(&run, &calls[1], &id);
    bench.change(|change| change.open_interaction(&id, opening));
    let done = bench.stop(&run);
    assert_eq!(done.types(), ["interactionSettled", "itemCompleted", "itemCompleted", "runCompleted"]);
    assert_eq!(bench.said()[2], "tool: a's");
    assert_eq!(bench.chain().len(), 5);
    let errors: Vec<_> = bench.chain().iter().filter_map(|message| message.message.is_error).collect();
    assert_eq!(errors, [false, true, true]);
}

#[test]
fn ruling_23_a_stopped_call_has_an_unknown_effect_once_it_was_sent_and_none_before() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let calls = bench.calls(&run, &["sent", "kept"]);
    let id: InteractionId = bench.world.next_id().into();
    let opening = tool_call(&run, &calls[0], &id);
    bench.change(|change| change.open_interaction(&id, opening));
    let done = bench.stop(&run);
    let effect = |event: &ropewalk_protocol::Event| match event {
        ropewalk_protocol::Event::ItemCompleted { item } => match &item.body {
            ItemBody::ToolCall(call) => Some((item.state, call.effect, call.error.clone().unwrap().code)),
            _ => None,
        },
        _ => None,
    };
    let effects: Vec<_> = done.events.iter().filter_map(effect).collect();
    let cancelled = |effect| (ItemState::Cancelled, Some(effect), "cancelled".to_owned());
    assert_eq!(effects, [cancelled(CallEffect::Unknown), cancelled(CallEffect::None)]);
}

#[test]
fn k27_silence_of_the_model_leaves_no_message() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let silent = crate::domain::Answered { text: None, ..says(&bench.world, "") };
    bench.change(|change| {
        change.answered(&run, silent);
        change.finish_run(&run, outcome(OutcomeStatus::Completed), &|_| None);
    });
    assert_eq!(bench.said(), ["user: go"]);
}

#[test]
fn a_first_answer_that_ends_a_run_moves_the_queue_in_its_record() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    bench.change(|change| change.submit(submission("next")).unwrap());
    let done = bench.complete(&run, "done");
    let all = ["itemStarted", "itemCompleted", "runCompleted", "queue started", "runStarted", "itemCompleted"];
    assert_eq!(done.types(), all);
    assert_eq!(bench.said(), ["user: go", "assistant: done", "user: next"]);
}

#[test]
fn the_rows_of_one_call_do_not_grow_with_the_calls_of_its_message() {
    let row_bytes_of_one = |many: usize| {
        let mut bench = Bench::new();
        let run = bench.submit("go").value.run_id;
        let calls = bench.calls(&run, &vec!["look"; many]);
        bench.change(|change| change.complete_call(&run, &calls[0], told("one")));
        let row_bytes = bench.row_bytes;
        for call in &calls[1..] {
            bench.change(|change| change.complete_call(&run, call, told("more")));
        }
        bench.complete(&run, "done");
        for kind in ["openRun", "openItem", "openBatch", "openCall"] {
            assert_eq!(bench.index.places(kind), 0, "{kind} of a run that has ended");
        }
        row_bytes
    };
    let (few, many) = (row_bytes_of_one(4), row_bytes_of_one(64));
    assert!(many < few + 200, "{few} bytes for one of 4 calls, {many} for one of 64");
}
