//! A stop in every phase of a batch of four calls over three sources: a client's tools, a question, a server's tool.

use std::collections::BTreeSet;

use ropewalk_protocol::{Event, InteractionId, ItemId, OutcomeStatus, Recovery, RunStatus};
use serde_json::{Value, json};

use super::{
    client::{Offered, Person, Told},
    life::{Life, begin, call_ends, completed, events, idle, soon, tools},
    notes::{Notes, WRITE},
    recovering::recover,
};
use crate::{
    engine::{StopTarget, ThreadHandle},
    store::{LogName, Store as _},
};

const QUESTION: &str = r#"{"questions":[{"id":"q","text":"Which?"}]}"#;

/// What its model calls.
const CALLS: [(&str, &str); 4] = [("write", "{}"), ("mcp_app__ask_user", QUESTION), (WRITE, "{}"), ("look", "{}")];

/// A run whose model makes four calls, over three sources, two of them asked about.
struct Batch {
    life: Life,
    person: Person,
    notes: Notes,
    thread: ThreadHandle,
}

impl Batch {
    async fn new() -> Self {
        let ((life, notes), person) = (Notes::beside().await, Person::new("in-A"));
        let declared = tools(&[("write", json!({"approval": "ask"})), ("look", json!({}))]);
        let thread = life.start(&person, declared).await;
        Self { life, person, notes, thread }
    }

    /// Goes on up to a phase; whether there are so many.
    async fn reaches(&mut self, phase: usize) -> bool {
        let asked = self.life.asked().await;
        if phase == 0 {
            return true;
        }
        asked.calls(&CALLS);
        let steps: [(&str, Value); 5] = [
            ("approval/request", json!({"decision": "accept"})),
            ("tool/call", json!({"success": true, "contentItems": [{"type": "text", "text": "written"}]})),
            ("input/request", json!({"dismissed": true})),
            ("approval/request", json!({"decision": "accept"})),
            ("tool/call", json!({"success": true, "contentItems": [{"type": "text", "text": "seen"}]})),
        ];
        let mut reached = 0;
        for (at, (method, answer)) in steps.into_iter().enumerate() {
            if at == 4 {
                self.notes.called().await;
                reached += 1;
                if reached == phase {
                    return true;
                }
                self.notes.answers();
            }
            let offered = self.person.offered(method).await;
            reached += 1;
            if reached == phase {
                return true;
            }
            self.person.answers(&offered, answer).await;
        }
        reached += 1;
        if reached == phase {
            // All results are there, and the model thinks again.
            self.life.asked().await;
            return true;
        }
        false
    }

    async fn stop(&self) {
        let target = StopTarget::Branch(self.thread.id().clone().into());
        soon(self.thread.stop(target, self.person.end.client_ref().clone(), None)).await.unwrap();
    }
}

/// Nothing of the run is open, and the record that ended it has all that its end settled.
async fn is_closed(life: &Life, thread: &ThreadHandle) {
    assert_eq!(soon(thread.open_interactions()).await.unwrap(), []);
    let log = life.store.store.read(&LogName::Thread(thread.id().clone()), 1, usize::MAX).await.unwrap();
    let is_end = |event: &str| event.contains("\"type\":\"runCompleted\"");
    let end = log.iter().find(|record| record.events.iter().any(|event| is_end(event.get()))).unwrap();
    let (mut items, mut interactions) = (BTreeSet::<ItemId>::new(), BTreeSet::<InteractionId>::new());
    let settled_before: Vec<Event> = events(thread).await.into_iter().map(|event| event.event).collect();
    for event in settled_before {
        match event {
            Event::ItemStarted { item } => drop(items.insert(item.item_id)),
            Event::ItemCompleted { item } => drop(items.remove(&item.item_id)),
            Event::InteractionOpened { interaction } => drop(interactions.insert(interaction.interaction_id)),
            Event::InteractionSettled { interaction_id, .. } => {
                assert!(interactions.remove(&interaction_id), "settled once");
            }
            Event::RunCompleted { .. } => break,
            _ => {}
        }
    }
    assert!(items.is_empty() && interactions.is_empty(), "all of it is closed before the run has ended");
    // What a reader sees at any record is whole: no record but the last one settled a call by the stop.
    let cancelled = |text: &str| text.contains("itemCompleted") && text.contains("\"cancelled\"");
    let early = log.iter().filter(|record| record.n < end.n).flat_map(|record| &record.events);
    assert!(early.into_iter().all(|event| !cancelled(event.get())), "the refused and all later ones in one commit");
}

#[tokio::test]
async fn app_181_app_182_app_184_a_stop_in_every_phase_of_a_batch_leaves_a_history_that_goes_on() {
    let mut phases = 0;
    loop {
        let mut batch = Batch::new().await;
        let run = begin(&batch.thread, "go").await;
        if !batch.reaches(phases).await {
            break;
        }
        batch.stop().await;
        // Nobody waits: whoever goes on at once takes the same lock and never sees a half state.
        let next = recover(&batch.thread, Recovery::Resume, None).await.unwrap();
        assert_eq!((next.state, &next.previous_run_id), (RunStatus::Running, &Some(run.clone())));
        let asked = batch.life.asked().await;
        let results = asked.history().iter().filter(|said| said.starts_with("tool: ")).count();
        assert_eq!(results, if phases == 0 { 0 } else { 4 }, "every call has its result in phase {phases}");
        is_closed(&batch.life, &batch.thread).await;
        asked.ends("Done.");
        batch.life.ended(&batch.thread, &next.run_id).await;
        let ended = batch.life.run(&batch.thread, &run).await;
        assert_eq!(ended.outcome.unwrap().status, OutcomeStatus::Stopped);
        batch.life.said(&batch.thread).await;
        assert_eq!(batch.notes.at_work(), 0, "no call of a server is left at work");
        if phases > 0 {
            let ends = call_ends(&batch.thread).await;
            let unmade = json!(["cancelled", "cancelled", "none"]);
            let later = match phases {
                1..=2 => 3,
                3 => 2,
                4..=5 => 1,
                _ => 0,
            };
            assert!(ends[4 - later..].iter().all(|end| *end == unmade), "{phases}: {ends:?}");
            assert_eq!(ends.len(), 4);
        }
        phases += 1;
    }
    assert_eq!(phases, 8, "two for each call that is asked about, one for each other, the model before and after");
}

/// The same at every point between two turns of the daemon, however little has happened.
#[test]
fn app_181_app_183_a_stop_at_any_moment_of_a_batch_is_never_half_visible() {
    // The test has its turn after every turn of another task.
    let runtime = tokio::runtime::Builder::new_current_thread().event_interval(1).enable_all().build().unwrap();
    runtime.block_on(stops_at_every_moment());
}

async fn stops_at_every_moment() {
    for moment in 0.. {
        let mut batch = Batch::new().await;
        let (client, thread) = (batch.person.end.client_ref().clone(), batch.thread.clone());
        let run = begin(&thread, "go").await;
        batch.notes.answers();
        batch.life.asked().await.calls(&CALLS);
        let answering = tokio::spawn(answers_all(batch.person));
        for _ in 0..moment {
            tokio::task::yield_now().await;
        }
        let is_over = batch.life.is_asked();
        let stop = thread.stop(StopTarget::Run(run.clone()), client, None);
        soon(stop).await.unwrap();
        answering.abort();
        is_closed(&batch.life, &thread).await;
        let ended = batch.life.ended(&thread, &run).await;
        assert_eq!(ended.outcome.unwrap().status, OutcomeStatus::Stopped);
        assert!(matches!(completed(&thread).await.len(), 0 | 4), "the answer with all its calls, or nothing of it");
        batch.life.said(&thread).await;
        idle().await;
        assert_eq!(batch.notes.at_work(), 0);
        if is_over {
            assert!(moment > 20, "there were moments between: {moment}");
            return;
        }
        assert!(moment < 2_000, "the batch comes to its end");
    }
}

async fn answers_all(mut person: Person) {
    loop {
        let Told::Offer(offer, thread) = person.told().await else { continue };
        let answer = match offer.method {
            "tool/call" => json!({"success": true, "contentItems": [{"type": "text", "text": "done"}]}),
            "input/request" => json!({"dismissed": true}),
            _ => json!({"decision": "accept"}),
        };
        person.answers(&Offered { offer, thread }, answer).await;
    }
}
