//! The sweep after a crash, parking, and the rescue after storage trouble.

use ropewalk_protocol::{InteractionId, ItemBody, ItemState, OutcomeStatus, RunStatus};

use super::{
    bench::Bench,
    fixtures::{calls, outcome, says, told, tool_call, waits_for},
};
use crate::domain::{Effect, Fact, World as _};

fn checkpoint(bench: &mut Bench, item: &ropewalk_protocol::ItemId, text: &str) {
    let fact = Fact::Checkpoint { item_id: item.clone(), text: text.to_owned() };
    bench.change(|change| change.fact(fact));
}

#[test]
fn ruling_33_a_text_that_was_streaming_closes_with_what_was_kept_and_stays_out_of_the_chain() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let (item, _) = bench.begin_text(&run);
    checkpoint(&mut bench, &item, "Once upon ");
    checkpoint(&mut bench, &item, "a time");
    let done = bench.change(|change| change.recover());
    assert_eq!((done.types(), done.effects), (vec!["itemCompleted".to_owned()], vec![Effect::Drive(run.clone())]));
    let ropewalk_protocol::Event::ItemCompleted { item } = &done.events[0] else { panic!("the item closes") };
    let ItemBody::AssistantMessage { text, incomplete, .. } = &item.body else { panic!("it is the text") };
    assert_eq!((text.as_str(), *incomplete, item.state), ("Once upon a time", true, ItemState::Cancelled));
    assert_eq!(bench.said(), ["user: go"]);
    assert!(bench.change(|change| change.recover()).events.is_empty(), "a second sweep finds nothing to do");
    bench.complete(&run, "Once upon a time there was.");
    assert_eq!(bench.said().last().unwrap(), "assistant: Once upon a time there was.");
}

#[test]
fn k50_calls_and_interactions_stay_as_they_were() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let calls = bench.calls(&run, &["a", "b"]);
    bench.change(|change| change.complete_call(&run, &calls[0], told("a's")));
    let id: InteractionId = bench.world.next_id().into();
    let (opening, at) = (tool_call(&run, &calls[1], &id), bench.at);
    bench.change(|change| {
        change.open_interaction(&id, opening);
        change.run_waits(&run, Some(waits_for(&id, at)));
    });
    let done = bench.change(|change| change.recover());
    assert_eq!((done.events.len(), done.effects), (0, vec![Effect::Drive(run.clone())]));
    let attempt = bench.change(|change| change.offer_again(&id)).value;
    assert_eq!((attempt, bench.state.interactions[&id].attempt), (Some(2), 2));
    bench.change(|change| change.complete_call(&run, &calls[1], told("b's")));
    assert_eq!(bench.said()[2..], ["tool: a's", "tool: b's"]);
}

#[test]
fn ruling_15_a_wait_for_the_endpoint_is_the_daemons_own_and_is_parked_or_left_with_it() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let waits = ropewalk_protocol::WaitingOn {
        kind: ropewalk_protocol::WaitingKind::Endpoint,
        interaction_id: None,
        ..waits_for(&bench.world.next_id().into(), bench.at)
    };
    for parks in [true, false] {
        bench.change(|change| change.run_waits(&run, Some(waits.clone())));
        if parks {
            bench.change(|change| change.park_run(&run));
            assert_eq!(bench.state.runs[&run].run.state, RunStatus::Paused);
        }
        let done = bench.change(|change| change.recover());
        assert_eq!((done.types(), done.effects), (vec!["runState".to_owned()], vec![Effect::Drive(run.clone())]));
        let going = &bench.state.runs[&run].run;
        assert_eq!((going.state, going.waiting_on.as_ref()), (RunStatus::Running, None));
    }
}

#[test]
fn l12_an_attempt_that_failed_leaves_its_text_in_the_log_and_out_of_the_chain() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let (item, _) = bench.begin_text(&run);
    checkpoint(&mut bench, &item, "Once ");
    let done = bench.change(|change| change.attempt_failed(&run, &|_| Some("Once upon".to_owned())));
    let ropewalk_protocol::Event::ItemCompleted { item } = &done.events[0] else { panic!("the item closes") };
    let ItemBody::AssistantMessage { text, incomplete, .. } = &item.body else { panic!("it is the text") };
    assert_eq!((text.as_str(), *incomplete, item.state), ("Once upon", true, ItemState::Failed));
    assert!(bench.state.runs[&run].checkpoints.is_empty());
    assert_eq!(bench.said(), ["user: go"]);
    assert!(bench.change(|change| change.attempt_failed(&run, &|_| None)).events.is_empty());
}

#[test]
fn ruling_15_a_parked_run_goes_on_by_itself_and_one_that_waits_stays_waiting() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    bench.change(|change| change.park_run(&run));
    let parked = &bench.state.runs[&run].run;
    assert_eq!((parked.state, parked.reason.as_deref()), (RunStatus::Paused, Some("shutdown")));
    let done = bench.change(|change| change.recover());
    assert_eq!((done.types(), done.effects), (vec!["runState".to_owned()], vec![Effect::Drive(run.clone())]));
    assert_eq!(bench.state.runs[&run].run.state, RunStatus::Running);

    let call = bench.calls(&run, &["a"]).remove(0);
    let id: InteractionId = bench.world.next_id().into();
    let (opening, at) = (tool_call(&run, &call, &id), bench.at);
    bench.change(|change| {
        change.open_interaction(&id, opening);
        change.run_waits(&run, Some(waits_for(&id, at)));
    });
    assert!(bench.change(|change| change.park_run(&run)).events.is_empty());
    assert_eq!(bench.state.runs[&run].run.state, RunStatus::Waiting);
}

#[test]
fn k38_a_rescue_ends_runs_at_their_model_and_takes_up_those_at_their_calls() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let (item, _) = bench.begin_text(&run);
    checkpoint(&mut bench, &item, "Half");
    let done = bench.change(|change| change.rescue(&outcome(OutcomeStatus::Failed)));
    assert_eq!(done.types(), ["itemCompleted", "runCompleted"]);
    assert_eq!(bench.said(), ["user: go", "assistant: Half"]);

    let run = bench.submit("again").value.run_id;
    let call = bench.calls(&run, &["a"]).remove(0);
    let done = bench.change(|change| change.rescue(&outcome(OutcomeStatus::Failed)));
    assert_eq!((done.events.len(), done.effects), (0, vec![Effect::Drive(run.clone())]));
    bench.change(|change| change.complete_call(&run, &call, told("a's")));
}

#[test]
fn an_answer_and_the_end_of_its_run_read_from_one_record_count_the_step_once() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let (first, second) = (calls(&bench.world, &["a"]), says(&bench.world, "done"));
    let call = first.calls[0].0.call_id.clone();
    bench.change(|change| {
        change.answered(&run, first);
        change.complete_call(&run, &call, told("a's"));
        change.run_waits(&run, None);
        let (item, _) = second.text.clone().unwrap();
        change.text_started(&run, &item, &second.message_id.clone(), false);
        change.answered(&run, second);
        change.finish_run(&run, outcome(OutcomeStatus::Completed), &|_| None);
    });
    let row: crate::engine::rows::RunRow =
        crate::engine::rows::get(&bench.index, &crate::store::keys::run(&run)).unwrap().unwrap();
    assert_eq!((row.run.steps, row.run.tool_calls, row.run.usage.requests), (2, 1, 2));
}
