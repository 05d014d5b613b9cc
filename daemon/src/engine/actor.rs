//! The owner of a thread: one task that does all its jobs, a record each, and syncs what has piled up together.

use std::{sync::Arc, time::Duration};

use ropewalk_protocol::{Event, InteractionSettledParams, ItemId, RpcError, Seq, Timestamp};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::{
    Bus, Engine, Shared, ThreadHandle, Turn,
    live::Live,
    operations::{acknowledge, offer_interaction},
    rows, run,
    shared::storage_error,
    thread::Inner,
    turn::{Ephemeral, raw},
};
use crate::{
    domain::{Change, Effect, ThreadState},
    store::{Commit, LogName, Record},
};

/// Jobs that wait for a thread; whoever sends more waits with theirs.
const MAILBOX: usize = 1_024;
/// Jobs that share one sync at most.
const GROUP: usize = 256;
/// How long a thread without work or clients stays awake.
const SLEEP_AFTER: Duration = Duration::from_secs(20);

type After = Box<dyn FnOnce(Result<(), RpcError>) + Send>;
type Work = Box<dyn FnOnce(&mut Turn<'_>) -> After + Send>;

/// One thing a thread is asked to do.
pub struct Job(Work);

impl Job {
    /// A job: what it does, and what happens once that is durable or has failed.
    pub fn new(work: impl FnOnce(&mut Turn<'_>) -> After + Send + 'static) -> Self {
        Self(Box::new(work))
    }
}

struct Actor {
    state: ThreadState,
    live: Live,
    jobs: mpsc::Receiver<Job>,
    handle: ThreadHandle,
}

/// What one group of jobs leaves to do.
#[derive(Default)]
struct Group {
    records: Vec<Record>,
    published: Vec<Published>,
    effects: Vec<Effect>,
    after: Vec<After>,
    completed: Vec<ItemId>,
}

enum Published {
    Durable(Seq, Timestamp, Box<RawValue>),
    Ephemeral(Timestamp, Ephemeral),
}

/// Wakes a thread.
pub(super) fn spawn(engine: &Arc<Engine>, state: ThreadState) -> ThreadHandle {
    let shared = engine.shared().clone();
    let (sender, jobs) = mpsc::channel(MAILBOX);
    let seq = state.thread.seq;
    let inner = Inner {
        id: state.thread.thread_id.clone(),
        jobs: sender,
        bus: Arc::new(Bus::new(seq)),
        engine: engine.clone(),
        shared: shared.clone(),
    };
    let handle = ThreadHandle { inner: Arc::new(inner) };
    let live = Live::new(shared.clock.now(), seq);
    tokio::spawn(Actor { state, live, jobs, handle: handle.clone() }.own());
    handle
}

impl Actor {
    async fn own(mut self) {
        let shared = self.handle.shared().clone();
        loop {
            let first = tokio::select! {
                job = self.jobs.recv() => job,
                () = shared.clock.sleep(SLEEP_AFTER) => {
                    if self.may_sleep() { return }
                    continue;
                }
            };
            let Some(first) = first else { return };
            let mut group = self.work(&shared, first);
            let records = std::mem::take(&mut group.records);
            let durable = self.commit(&shared, records).await;
            self.finish(&shared, group, durable);
        }
    }

    /// A thread without work, without clients and without mail needs nobody.
    fn may_sleep(&self) -> bool {
        let busy = !self.state.runs.is_empty() || !self.live.attached.is_empty() || self.handle.bus().has_subscribers();
        !busy && self.handle.inner.engine.release(self.handle.id(), || self.jobs.is_empty())
    }

    fn work(&mut self, shared: &Arc<Shared>, first: Job) -> Group {
        let mut group = Group::default();
        let mut next = Some(first);
        while let Some(job) = next {
            self.one(shared, job, &mut group);
            next = (group.after.len() < GROUP).then(|| self.jobs.try_recv().ok()).flatten();
        }
        group
    }

    fn one(&mut self, shared: &Arc<Shared>, job: Job, group: &mut Group) {
        let ids: &Shared = shared;
        let mut turn = Turn {
            change: Change::new(&mut self.state, shared.clock.now(), ids),
            live: &mut self.live,
            shared,
            bus: self.handle.bus(),
            thread: &self.handle,
            ephemeral: Vec::new(),
            operation: None,
        };
        let after = (job.0)(&mut turn);
        let (at, n) = (turn.change.at, turn.change.n());
        let Turn { change, ephemeral, operation, .. } = turn;
        let events: Result<Vec<Box<RawValue>>, RpcError> = change.events.iter().map(raw).collect();
        let facts: Result<Vec<Box<RawValue>>, RpcError> = change.facts.iter().map(raw).collect();
        let (events, facts) = (events.unwrap_or_default(), facts.unwrap_or_default());
        group.completed.extend(change.events.iter().filter_map(|event| match event {
            Event::ItemCompleted { item } => Some(item.item_id.clone()),
            _ => None,
        }));
        for (event, position) in events.iter().zip(n..) {
            group.published.push(Published::Durable(position, at, event.clone()));
        }
        group.published.extend(ephemeral.into_iter().map(|event| Published::Ephemeral(at, event)));
        if !events.is_empty() || !facts.is_empty() || operation.is_some() {
            announce(shared, &change);
            group.records.push(Record { n, at, op: operation, facts, events });
        }
        group.effects.extend(change.effects);
        group.after.push(after);
    }

    async fn commit(&mut self, shared: &Arc<Shared>, records: Vec<Record>) -> Result<(), RpcError> {
        if records.is_empty() {
            return Ok(());
        }
        let rows = rows::changed(&mut self.state, &records).map_err(|error| storage_error(&error))?;
        let commit = Commit { log: LogName::Thread(self.handle.id().clone()), records, rows };
        shared.store.commit(commit).await.map_err(|error| storage_error(&error))
    }

    fn finish(&mut self, shared: &Arc<Shared>, group: Group, durable: Result<(), RpcError>) {
        if let Err(error) = &durable {
            self.forget(shared, error);
        } else {
            self.publish(group.published, &group.completed);
        }
        let stored = durable.is_ok();
        for after in group.after {
            after(durable.clone());
        }
        if stored {
            self.live.durable_seq.send_replace(self.state.thread.seq);
            for effect in group.effects {
                self.perform(effect);
            }
        }
    }

    fn publish(&self, published: Vec<Published>, completed: &[ItemId]) {
        let (bus, id) = (self.handle.bus(), self.handle.id());
        let any = !published.is_empty();
        for event in published {
            match event {
                Published::Durable(seq, at, event) => bus.durable(id, seq, at, &event),
                Published::Ephemeral(at, Ephemeral::Delta { item_id, text }) => bus.delta(id, at, &item_id, &text),
                Published::Ephemeral(at, Ephemeral::Progress(event)) => {
                    if let Ok(event) = serde_json::to_string(&event) {
                        bus.progress(id, at, &event);
                    }
                }
            }
        }
        for item_id in completed {
            bus.forget_text(item_id);
        }
        if any {
            bus.wake(id);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Drive(run_id) => run::drive(&mut self.live, &self.handle, run_id),
            Effect::Abandon(run_id) => {
                // Those that were settled with the run have been acknowledged by now; no other is open.
                self.live.waits.retain(|_, wait| wait.run_id != run_id);
                if let Some(task) = self.live.activations.remove(&run_id).and_then(|activation| activation.task) {
                    task.abort();
                }
                self.handle.shared().quieter.notify_waiters();
            }
            Effect::Offer(interaction_id) => {
                offer_interaction(&mut self.live, &self.state, &self.handle, &interaction_id)
            }
            Effect::Settled(settlement) => {
                let params = InteractionSettledParams {
                    interaction_id: settlement.interaction_id.clone(),
                    outcome: settlement.outcome,
                    by: settlement.by.clone(),
                    at: settlement.at,
                    answer: settlement.answer.clone(),
                };
                acknowledge(&mut self.live, &params);
            }
        }
    }

    /// A record could not be stored: what is in memory is not true any more and is read again from what is. Runs that
    /// were being driven are driven again from there.
    fn forget(&mut self, shared: &Arc<Shared>, error: &RpcError) {
        tracing::error!(thread = %self.handle.id(), %error, "a record could not be stored");
        for (_, activation) in self.live.activations.drain() {
            if let Some(task) = activation.task {
                task.abort();
            }
        }
        self.live.waits.clear();
        match rows::load(&*shared.store, self.handle.id()) {
            Ok(Some(state)) => self.state = state,
            // The thread's first record failed: there is no thread.
            Ok(None) => self.state.touched = crate::domain::Touched::default(),
            Err(error) => tracing::error!(thread = %self.handle.id(), %error, "and its rows could not be read"),
        }
    }
}

/// Tells lists what has changed.
fn announce(shared: &Shared, change: &Change<'_>) {
    use ropewalk_protocol::DataKind;
    let thread_id = &change.state.thread.thread_id;
    for event in &change.events {
        match event {
            Event::ThreadUpdated { .. } => (shared.changes)(DataKind::Thread, thread_id),
            Event::QueueChanged(_) => (shared.changes)(DataKind::Queue, thread_id),
            Event::RunStarted { run } | Event::RunState { run } => (shared.changes)(DataKind::Run, &run.run_id),
            Event::RunCompleted { run_id, .. } => (shared.changes)(DataKind::Run, run_id),
            Event::InteractionOpened { interaction } => {
                (shared.changes)(DataKind::Interaction, &interaction.interaction_id);
            }
            Event::InteractionSettled { interaction_id, .. } => {
                (shared.changes)(DataKind::Interaction, interaction_id);
            }
            Event::ToolsChanged(_) => (shared.changes)(DataKind::Tool, thread_id),
            _ => {}
        }
    }
}
