//! Operations at random from fixed seeds: after every one the log, the rows and the state in memory agree.

use rand::{Rng as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use ropewalk_protocol::{CallId, InteractionId, ItemId, Outcome, OutcomeStatus, Patch, RunId};

use super::{
    bench::Bench,
    fixtures::{
        allowed, approval, branch, calls, compaction, declaring, outcome, says, settlement, submission, told,
        tool_call, waits_for,
    },
};
use crate::domain::{Change, Fact, PauseReason, World as _};

const SEEDS: u64 = 16;
const CHANGES: usize = 40;

#[test]
fn whatever_happens_the_log_and_the_rows_lead_to_the_same_state() {
    for seed in 0..SEEDS {
        let mut driver = Driver { rng: StdRng::seed_from_u64(seed), bench: Bench::new() };
        for _ in 0..CHANGES {
            driver.change();
        }
    }
}

struct Driver {
    rng: StdRng,
    bench: Bench,
}

/// Something to do in a change, decided before it.
type Operation = Box<dyn FnOnce(&mut Change<'_>)>;

impl Driver {
    /// One to four operations in one record, each decided by what the thread is after the last change.
    fn change(&mut self) {
        let count = self.rng.random_range(1..=4);
        let operations: Vec<Operation> = (0..count).map(|_| self.operation()).collect();
        self.bench.change(|change| operations.into_iter().for_each(|operation| operation(change)));
    }

    fn operation(&mut self) -> Operation {
        let run = self.bench.state.runs.keys().next().cloned();
        match (self.rng.random_range(0..10), run) {
            (0..=1, _) | (_, None) => self.of_thread(),
            (2..=5, Some(run)) => self.of_answer(run),
            (6..=8, Some(run)) => self.of_interaction(run),
            (_, Some(run)) => self.of_end(run),
        }
    }

    fn of_thread(&mut self) -> Operation {
        let (kind, number) = (self.rng.random_range(0..13), self.rng.random_range(0..4));
        let mut line = super::fixtures::line(&self.bench);
        let edited = line.choose(&mut self.rng).cloned();
        let run = self.bench.state.runs.keys().next().cloned();
        let waiting = super::fixtures::waiting(&self.bench).choose(&mut self.rng).cloned();
        match (kind, waiting) {
            (0, _) => Box::new(move |change| {
                let title = Patch::Set(format!("Title {number}"));
                drop(change.update_header(None, title, None, Patch::Keep, Some(number == 0)));
            }),
            (1, _) => Box::new(move |change| {
                let sets: [&[&str]; 4] = [&["look"], &["look", "find"], &["find"], &[]];
                let instance = if number % 2 == 0 { "in-A" } else { "in-B" };
                drop(change.declare_tools(&declaring(instance, Some(sets[number]), number > 1)));
            }),
            (2, Some(run)) => Box::new(move |change| {
                change.drop_queued(&run);
            }),
            (3, _) => Box::new(|change| {
                change.release(&branch());
            }),
            (4, _) => Box::new(move |change| {
                let steers = run.filter(|_| number > 1);
                drop(change.remark(super::fixtures::remark(&format!("Remark {number}"), steers.as_ref())));
            }),
            (5, _) => Box::new(move |change| {
                line.reverse();
                drop(change.reorder_queue(&branch(), line));
            }),
            (6, _) => Box::new(move |change| {
                let Some(message) = edited else { return };
                if number == 0 {
                    drop(change.clear_queue(&branch()));
                } else if number == 1 {
                    drop(change.remove_queued(&branch(), &message));
                } else {
                    let input = vec![ropewalk_protocol::Part::text(format!("Edited {number}"))];
                    drop(change.update_queued(&branch(), &message, input));
                }
            }),
            (7, _) => Box::new(move |change| {
                if let Some(run) = run
                    && change.state.runs.get(&run).is_some_and(|run| run.open_items.is_empty())
                {
                    change.deliver_remarks(&run);
                }
            }),
            _ => Box::new(move |change| drop(change.submit(submission(&format!("Input {number}"))))),
        }
    }

    fn of_answer(&mut self, run: RunId) -> Operation {
        let state = &self.bench.state.runs[&run];
        let (item, message) = (self.bench.world.next_id().into(), self.bench.world.next_id().into());
        if let Some(batch) = &state.batch {
            let open: Vec<CallId> =
                batch.calls.iter().filter(|call| !call.done).map(|call| call.call.call_id.clone()).collect();
            let call = open.choose(&mut self.rng).cloned().unwrap();
            let digest = format!("digest {}", self.rng.random_range(0..3));
            return Box::new(move |change| {
                change.call_came_to(&run, digest);
                change.complete_call(&run, &call, told("a result"));
            });
        }
        let streaming: Vec<ItemId> = state.open_items.keys().cloned().collect();
        match (self.rng.random_range(0..4), streaming.first().cloned()) {
            (0, None) => Box::new(move |change| {
                change.text_started(&run, &item, &message, false);
            }),
            (0, Some(_)) => Box::new(move |change| change.attempt_failed(&run, &|_| Some("Half".to_owned()))),
            (1, Some(item)) => Box::new(move |change| {
                change.fact(Fact::Checkpoint { item_id: item, text: "some more ".to_owned() });
            }),
            (2, None) => {
                let answered = says(&self.bench.world, "An answer.");
                Box::new(move |change| {
                    if change.state.runs.get(&run).is_some_and(|run| run.batch.is_none() && run.open_items.is_empty()) {
                        let (item, _) = answered.text.clone().unwrap();
                        change.text_started(&run, &item, &answered.message_id.clone(), false);
                        change.answered(&run, answered);
                        change.finish_run(&run, outcome(OutcomeStatus::Completed), &|_| None);
                    }
                })
            }
            (_, text) => {
                let names: &[&str] =
                    [&["look"] as &[&str], &["look", "look"], &["find", "look", "find"]].choose(&mut self.rng).unwrap();
                let mut answered = calls(&self.bench.world, names);
                answered.text = text.map(|item| (item, "Let me look.".to_owned()));
                Box::new(move |change| {
                    if change.state.runs.get(&run).is_some_and(|run| run.batch.is_none()) {
                        change.answered(&run, answered);
                    }
                })
            }
        }
    }

    fn of_interaction(&mut self, run: RunId) -> Operation {
        let (id, at): (InteractionId, _) = (self.bench.world.next_id().into(), self.bench.at);
        let kind = self.rng.random_range(0..6);
        let open: Vec<InteractionId> = self.bench.state.interactions.keys().cloned().collect();
        match (kind, open.choose(&mut self.rng).cloned()) {
            (0, Some(open)) => Box::new(move |change| {
                change.offer_again(&open);
            }),
            (1..=3, Some(open)) => Box::new(move |change| {
                change.settle(settlement(&open, Outcome::Answered, at));
                change.run_waits(&run, None);
            }),
            _ => Box::new(move |change| {
                let Some(batch) = change.state.runs.get(&run).and_then(|run| run.batch.as_ref()) else { return };
                let Some(call) = batch.calls.iter().find(|call| !call.done) else { return };
                let call = call.call.call_id.clone();
                let opening = if kind == 5 { approval(&run, &call, &id) } else { tool_call(&run, &call, &id) };
                change.decide_call(&run, &call, allowed(), Some(7));
                change.open_interaction(&id, opening);
                change.run_waits(&run, Some(waits_for(&id, at)));
            }),
        }
    }

    fn of_end(&mut self, run: RunId) -> Operation {
        let partial = self.rng.random_bool(0.5).then(|| "What was said".to_owned());
        match self.rng.random_range(0..11) {
            6 => Box::new(move |change| {
                change.pause_run(&run, PauseReason::Budget, "Enough.".to_owned());
            }),
            7 => Box::new(move |change| drop(change.resume_run(&run))),
            8 => Box::new(move |change| {
                if change.state.runs.get(&run).is_some_and(|run| run.batch.is_none()) {
                    change.repair(&run, "It is not JSON.".to_owned());
                }
            }),
            9..=10 => Box::new(move |change| {
                let Some(covers) = change.state.branches[&branch()].head.clone() else { return };
                change.compact(&run, compaction(covers, "What was said so far."));
            }),
            0 => Box::new(|change| change.recover()),
            1 => Box::new(move |change| {
                change.park_run(&run);
                change.recover();
            }),
            2 => Box::new(|change| change.rescue(&outcome(OutcomeStatus::Failed))),
            3 => Box::new(move |change| change.finish_run(&run, outcome(OutcomeStatus::Failed), &|_| partial.clone())),
            _ => Box::new(move |change| change.finish_run(&run, outcome(OutcomeStatus::Stopped), &|_| partial.clone())),
        }
    }
}
