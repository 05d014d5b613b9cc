//! Operations at random from fixed seeds: after every one the log, the rows and the state in memory agree.

use rand::{Rng as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use ropewalk_protocol::{
    BranchId, CallId, InteractionId, ItemId, MessageId, Outcome, OutcomeStatus, Patch, Recovery, RunId,
};

use super::{
    bench::Bench,
    branching::submission_to,
    fixtures::{
        allowed, approval, calls, compaction, declaring, outcome, says, settlement, told, tool_call, waits_for,
    },
};
use crate::domain::{Change, Fact, PauseReason, Remark, World as _};

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
        let runs: Vec<RunId> = self.bench.state.runs.keys().cloned().collect();
        let run = runs.choose(&mut self.rng).cloned();
        match (self.rng.random_range(0..10), run) {
            (0, _) => self.of_branches(),
            (0..=1, _) | (_, None) => self.of_thread(),
            (2..=5, Some(run)) => self.of_answer(run),
            (6..=8, Some(run)) => self.of_interaction(run),
            (_, Some(run)) => self.of_end(run),
        }
    }

    fn of_thread(&mut self) -> Operation {
        let (kind, number) = (self.rng.random_range(0..17), self.rng.random_range(0..4));
        let at = self.some_branch();
        let branch = &self.bench.state.branches[&at];
        let mut line: Vec<MessageId> = branch.queue.iter().map(|input| input.entry.message_id.clone()).collect();
        let edited = line.choose(&mut self.rng).cloned();
        let run = branch.branch.active_run_id.clone();
        let begins = branch.queue.iter().filter(|input| input.begins_a_run());
        let waiting = begins.map(|input| input.entry.run_id.clone()).collect::<Vec<_>>().choose(&mut self.rng).cloned();
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
            (3, _) => Box::new(move |change| {
                change.release(&at);
            }),
            (4, _) => Box::new(move |change| {
                let steers = run.filter(|_| number > 1);
                let remark = super::fixtures::remark(&format!("Remark {number}"), steers.as_ref());
                drop(change.remark(Remark { branch_id: at, ..remark }));
            }),
            (5, _) => Box::new(move |change| {
                line.reverse();
                drop(change.reorder_queue(&at, line));
            }),
            (6, _) => Box::new(move |change| {
                let Some(message) = edited else { return };
                if number == 0 {
                    drop(change.clear_queue(&at));
                } else if number == 1 {
                    drop(change.remove_queued(&at, &message));
                } else {
                    let input = vec![ropewalk_protocol::Part::text(format!("Edited {number}"))];
                    drop(change.update_queued(&at, &message, input));
                }
            }),
            (13..=14, _) => Box::new(move |change| {
                let how = [Recovery::Resume, Recovery::Retry, Recovery::Rebase, Recovery::Retry][number];
                drop(change.continue_run(how, &at, None));
            }),
            (15, _) => Box::new(|change| change.nobody_sees()),
            (16, _) => Box::new(move |change| {
                let seq = change.seq().saturating_sub(number as u64);
                drop(change.mark_read((number == 1).then_some(at), seq));
            }),
            (7, _) => Box::new(move |change| {
                if let Some(run) = run
                    && change.state.runs.get(&run).is_some_and(|run| run.open_items.is_empty())
                {
                    change.deliver_remarks(&run);
                }
            }),
            _ => Box::new(move |change| drop(change.submit(submission_to(&at, &format!("Input {number}"))))),
        }
    }

    fn some_branch(&mut self) -> BranchId {
        let branches: Vec<BranchId> = self.bench.state.branches.keys().cloned().collect();
        branches.choose(&mut self.rng).cloned().unwrap()
    }

    /// A fork at any message that was ever said, a replacement, a title, or the end of a branch.
    fn of_branches(&mut self) -> Operation {
        let (kind, at) = (self.rng.random_range(0..8), self.some_branch());
        let message = self.bench.messages().choose(&mut self.rng).cloned();
        match (kind, message) {
            (0..=2, message) => match self.bench.fork_at(&at, message.as_ref(), "What if") {
                Some(fork) => Box::new(move |change| drop(change.fork(fork))),
                None => self.of_thread(),
            },
            (3..=5, Some(message)) => match self.bench.replaced(&at, &message) {
                Some((replaced, revision)) => {
                    let submission = submission_to(&at, "Instead");
                    Box::new(move |change| drop(change.replace(submission, replaced, revision)))
                }
                None => self.of_thread(),
            },
            (6, _) => Box::new(move |change| drop(change.update_branch(&at, Patch::Set(format!("Branch {kind}"))))),
            _ => Box::new(move |change| {
                if change.may_delete_branch(&at, None).is_ok() {
                    change.delete_branch(&at, &|_| Some("What was said".to_owned()));
                }
            }),
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
                let Some(state) = change.state.runs.get(&run) else { return };
                let Some(covers) = change.state.branches[&state.run.branch_id].head.clone() else { return };
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
