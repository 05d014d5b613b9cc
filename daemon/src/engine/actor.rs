//! The owner of a thread: one task that does all its jobs, a record each, and syncs what has piled up together.

mod burial;
mod effects;
mod shown;

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use ropewalk_protocol::{
    DataKind, Event, InstanceId, InteractionId, ItemId, RpcError, RunId, RunStatus, Seq, Timestamp,
};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::{
    AttachedClient, Bus, ConnectionId, Engine, Shared, ThreadHandle, Turn,
    live::Live,
    operations::offer_to,
    origin::origin,
    rows, storage_error,
    thread::{Inner, fault},
    trouble::Trouble,
    turn::{Ephemeral, raw},
};
use crate::{
    domain::{Change, Effect, ThreadState},
    store::{Commit, LogName, Pin, Record, RowChange},
};

pub(super) use burial::no_thread;

use shown::changes;

/// Jobs that wait for a thread; whoever sends more waits with theirs.
const MAILBOX: usize = 1_024;
/// Jobs that share one sync at most.
const GROUP: usize = 256;
/// How long a thread without work or clients stays awake.
const SLEEP_AFTER: Duration = Duration::from_secs(20);

pub(super) type After = Box<dyn FnOnce(Result<(), RpcError>) + Send>;
pub(super) type Work = Box<dyn FnOnce(Result<&mut Turn<'_>, RpcError>) -> After + Send>;

/// One thing a thread is asked to do.
pub struct Job {
    work: Work,
    /// Whether it only looks, and writes nothing.
    looks: bool,
    /// The client instance behind it.
    origin: Option<InstanceId>,
}

impl Job {
    /// A job: what it does, or why it cannot, and what happens once that is durable or has failed.
    pub fn new(work: impl FnOnce(Result<&mut Turn<'_>, RpcError>) -> After + Send + 'static) -> Self {
        Self { work: Box::new(work), looks: false, origin: origin() }
    }

    /// A job that writes nothing. It shares no commit with jobs that write, so that it neither sees nor fails with what
    /// cannot be stored.
    pub fn looking(work: impl FnOnce(Result<&mut Turn<'_>, RpcError>) -> After + Send + 'static) -> Self {
        Self { work: Box::new(work), looks: true, origin: None }
    }

    /// Does it, or tells it why it cannot be done.
    pub(super) fn work(self, turn: Result<&mut Turn<'_>, RpcError>) -> After {
        (self.work)(turn)
    }
}

struct Actor {
    state: ThreadState,
    live: Live,
    jobs: mpsc::Receiver<Job>,
    /// The next job, which came while a group of another kind was put together.
    held: Option<Job>,
    handle: ThreadHandle,
    trouble: Option<Trouble>,
}

/// What one group of jobs leaves to do.
#[derive(Default)]
struct Group {
    records: Vec<Record>,
    rows: Vec<RowChange>,
    changes: Vec<(DataKind, String, Option<InstanceId>)>,
    published: Vec<Published>,
    effects: Vec<Effect>,
    offers: Vec<(InteractionId, Arc<dyn AttachedClient>)>,
    after: Vec<After>,
    completed: Vec<ItemId>,
    /// Hold the blobs the records name until those are durable or have failed.
    pins: Vec<Pin>,
    /// Why none of it is stored.
    refusal: Option<RpcError>,
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
        is_deleted: AtomicBool::new(false),
    };
    let handle = ThreadHandle { inner: Arc::new(inner) };
    let live = Live::new(shared.began_at(), &state);
    tokio::spawn(Actor { state, live, jobs, held: None, handle: handle.clone(), trouble: None }.own());
    handle
}

impl Actor {
    async fn own(mut self) {
        let shared = self.handle.shared().clone();
        loop {
            let undriven = self.trouble.as_ref().filter(|_| self.has_undriven());
            let rescue = undriven.map(|trouble| trouble.wait(shared.clock.now()));
            let held = self.held.take();
            let first = tokio::select! {
                biased;
                () = std::future::ready(()), if held.is_some() => held,
                () = shared.clock.sleep(rescue.unwrap_or_default()), if rescue.is_some() => self.rescue_job(),
                job = self.jobs.recv() => job,
                () = shared.clock.sleep(SLEEP_AFTER) => {
                    if self.may_sleep() { return }
                    continue;
                }
            };
            let Some(first) = first else { return };
            let known: Vec<ConnectionId> = self.live.attached.keys().copied().collect();
            let mut group = self.work(&shared, first);
            let durable = self.commit(&shared, &mut group).await;
            let is_stored = durable.is_ok();
            self.finish(&shared, group, durable, &known);
            if self.is_deleted(is_stored).await {
                return;
            }
            // The daemon is gone; or the first record failed, and there is no thread.
            if self.live.is_over || !is_stored && self.state.thread.seq == 0 {
                self.handle.inner.engine.forget(self.handle.id());
                return;
            }
        }
    }

    /// Whether there is a run that ought to be driven and is not.
    fn has_undriven(&self) -> bool {
        let driven = |run: &RunId| self.live.activations.contains_key(run);
        let mut working = self.state.runs.values().map(|state| &state.run).filter(|run| run.state != RunStatus::Paused);
        !self.live.is_parked && working.any(|run| !driven(&run.run_id))
    }

    /// What is done by itself some time after a record could not be stored.
    fn rescue_job(&self) -> Option<Job> {
        let outcome = self.trouble.as_ref()?.outcome();
        Some(Job::new(move |turn| {
            if let Ok(turn) = turn {
                turn.change.rescue(&outcome);
            }
            Box::new(|_| {})
        }))
    }

    /// A thread without work, without clients and without mail needs nobody. A paused run is no work.
    fn may_sleep(&self) -> bool {
        let works = self.state.runs.values().any(|state| state.run.state != RunStatus::Paused);
        let busy = works || !self.live.attached.is_empty() || self.handle.bus().has_subscribers();
        !busy && self.handle.inner.engine.release(self.handle.id(), || self.jobs.is_empty())
    }

    fn work(&mut self, shared: &Arc<Shared>, first: Job) -> Group {
        let mut group = Group { refusal: self.read_again(shared).err(), ..Group::default() };
        let looks = first.looks;
        let mut next = Some(first);
        while let Some(job) = next {
            if let Some(refusal) = &group.refusal {
                group.after.push(job.work(Err(refusal.clone())));
            } else {
                // A job that panics leaves nobody knows what: nothing of its group is stored, and the thread is read again.
                let worked = AssertUnwindSafe(|| self.one(shared, job, &mut group));
                let worked = std::panic::catch_unwind(worked).unwrap_or_else(|_| Err(fault()));
                group.refusal = worked.err();
            }
            let takes_more = group.after.len() < GROUP && self.live.verdict.is_none();
            next = takes_more.then(|| self.jobs.try_recv().ok()).flatten();
            if next.as_ref().is_some_and(|job| job.looks != looks) {
                self.held = next.take();
            }
        }
        group
    }

    /// What is in memory is read again if it is not what is stored.
    fn read_again(&mut self, shared: &Shared) -> Result<(), RpcError> {
        let Some(trouble) = self.trouble.as_mut().filter(|trouble| !trouble.is_read) else { return Ok(()) };
        let loaded = rows::load(&*shared.store, self.handle.id()).map_err(|error| storage_error(&error))?;
        trouble.is_read = true;
        let nothing = || {
            let header = ropewalk_protocol::Thread { seq: 0, ..self.state.thread.clone() };
            ThreadState::new(header)
        };
        self.state = loaded.unwrap_or_else(nothing);
        Ok(())
    }

    fn one(&mut self, shared: &Arc<Shared>, job: Job, group: &mut Group) -> Result<(), RpcError> {
        let ids: &Shared = shared;
        let mut turn = Turn {
            change: Change::new(&mut self.state, shared.clock.now(), ids),
            live: &mut self.live,
            shared,
            thread: &self.handle,
            ephemeral: Vec::new(),
            offers: Vec::new(),
            operations: Vec::new(),
            pins: Vec::new(),
        };
        let origin = job.origin.clone();
        let after = job.work(Ok(&mut turn));
        group.after.push(after);
        if !turn.live.is_watched() {
            turn.change.nobody_sees();
        }
        let (at, n) = (turn.change.at, turn.change.n());
        let Turn { change, live, ephemeral, operations, offers, pins, .. } = turn;
        let events = change.events.iter().map(raw).collect::<Result<Vec<Box<RawValue>>, RpcError>>()?;
        let facts = change.facts.iter().map(raw).collect::<Result<Vec<Box<RawValue>>, RpcError>>()?;
        for (event, position) in events.iter().zip(n..) {
            group.published.push(Published::Durable(position, at, event.clone()));
        }
        group.published.extend(ephemeral.into_iter().map(|event| Published::Ephemeral(at, event)));
        group.changes.extend(changes(&change).into_iter().map(|(kind, id)| (kind, id, origin.clone())));
        for event in &change.events {
            if let Event::ItemCompleted { item } = event {
                group.completed.push(item.item_id.clone());
                live.texts.remove(&item.item_id);
            }
        }
        group.effects.extend(change.effects);
        group.offers.extend(offers);
        let mut operations = operations.into_iter();
        let op = operations.next();
        if !events.is_empty() || !facts.is_empty() || op.is_some() {
            let blobs = pins.iter().map(|pin| pin.blob().clone()).collect();
            let whole = Record { n, at, blobs, op, facts, events };
            let n = whole.next_seq();
            let of_operation =
                |op| Record { n, at, blobs: Vec::new(), op: Some(op), facts: Vec::new(), events: Vec::new() };
            for record in std::iter::once(whole).chain(operations.map(of_operation)) {
                group.rows.extend(rows::changed(change.state, &record).map_err(|error| storage_error(&error))?);
                group.records.push(record);
            }
            group.pins.extend(pins);
        }
        Ok(())
    }

    async fn commit(&mut self, shared: &Arc<Shared>, group: &mut Group) -> Result<(), RpcError> {
        if let Some(refusal) = &group.refusal {
            return Err(refusal.clone());
        }
        if group.records.is_empty() {
            return Ok(());
        }
        let (records, rows) = (std::mem::take(&mut group.records), std::mem::take(&mut group.rows));
        let commit = Commit { log: LogName::Thread(self.handle.id().clone()), records, rows };
        shared.store.commit(commit).await.map_err(|error| storage_error(&error))?;
        if let Some(trouble) = &mut self.trouble {
            trouble.is_over(shared.clock.now());
        }
        Ok(())
    }

    fn finish(&mut self, shared: &Arc<Shared>, group: Group, durable: Result<(), RpcError>, known: &[ConnectionId]) {
        match &durable {
            Ok(()) => {
                for (kind, id, origin) in group.changes {
                    (shared.changes)(kind, &id, origin.as_ref());
                }
                self.publish(group.published, &group.completed);
            }
            Err(error) => self.forget(shared, error, known),
        }
        let is_stored = durable.is_ok();
        for after in group.after {
            after(durable.clone());
        }
        if is_stored {
            self.live.durable_seq.send_replace(self.state.thread.seq);
            for effect in group.effects {
                self.perform(effect);
            }
            for (interaction_id, client) in group.offers {
                offer_to(&mut self.live, &self.state, &self.handle, &interaction_id, &client);
            }
            if !self.has_undriven() {
                self.trouble = self.trouble.take().filter(|trouble| !trouble.takes_records());
            }
        }
    }

    /// A record could not be stored: what is in memory is not true any more and is read again from what is (ruling 39).
    /// Nobody drives the thread's runs then; they are rescued as soon as the log takes records again.
    fn forget(&mut self, shared: &Arc<Shared>, error: &RpcError, known: &[ConnectionId]) {
        tracing::error!(thread = %self.handle.id(), %error, "a record could not be stored");
        for activation in std::mem::take(&mut self.live.activations).into_values() {
            if let Some(task) = activation.task {
                task.abort();
            }
        }
        self.live.waits.clear();
        for item_id in std::mem::take(&mut self.live.texts).into_keys() {
            self.handle.bus().forget_text(&item_id);
        }
        // Whoever was to be attached with what failed has been told that it is not.
        self.live.attached.retain(|connection, _| known.contains(connection));
        self.trouble = Some(Trouble::after(self.trouble.take(), shared.clock.now(), error));
        if let Err(error) = self.read_again(shared) {
            tracing::error!(thread = %self.handle.id(), %error, "and its rows could not be read");
        }
    }
}
