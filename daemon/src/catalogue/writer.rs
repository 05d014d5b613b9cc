//! The one writer: decide on the documents as they are, make it durable, only then show it and answer.

use std::{
    future::Future,
    sync::{Arc, atomic::Ordering},
};

use ropewalk_protocol::{By, ByKind, ClientRef, DataKind, InstanceId, OperationId, Timestamp};
use serde::Serialize;

use super::{
    Catalogue, Refusal, Snapshot,
    document::{DocumentChange, rows_of},
    facts::OtherFact,
};
use crate::{
    clock::Ids,
    store::{Commit, LogName, OperationRecord, Record, RowChange, StoreError},
};

/// On whose behalf something is changed.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The client; none when the daemon does it by itself.
    pub client: Option<ClientRef>,
    /// The operation that a repeat is recognised by. Dispatch has already found that it is new.
    pub operation: Option<Operation>,
}

/// An operation that is being done.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its id.
    pub id: OperationId,
    /// A keyed digest of method and parameters.
    pub digest: String,
    /// The method.
    pub method: String,
}

/// What lists may look different after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The kinds of things that changed, each once, in order.
    pub kinds: Vec<DataKind>,
    /// Their ids, each once, in order; settings have none.
    pub ids: Vec<String>,
    /// The client instance behind it.
    pub origin: Option<InstanceId>,
}

impl Caller {
    /// Who it is, as documents name it.
    pub(super) fn by(&self) -> By {
        match &self.client {
            Some(client) => By::client(ByKind::Client, client),
            None => By::of(ByKind::Daemon),
        }
    }
}

/// What a change comes to: the documents it changes, and the answer once they have.
pub(super) struct Decision<A> {
    pub(super) changes: Vec<DocumentChange>,
    /// What else the record says.
    pub(super) others: Vec<OtherFact>,
    /// Rows that follow from it and that only who asked for it knows. Those that follow from the record come after them.
    pub(super) rows: Vec<RowChange>,
    answer: Box<dyn FnOnce(&Snapshot) -> A + Send>,
}

impl<A> Decision<A> {
    /// Changes, and the answer made from the documents after them.
    pub(super) fn new(changes: Vec<DocumentChange>, answer: impl FnOnce(&Snapshot) -> A + Send + 'static) -> Self {
        Self { changes, others: Vec::new(), rows: Vec::new(), answer: Box::new(answer) }
    }

    /// The same decision, saying these as well.
    pub(super) fn with(self, others: Vec<OtherFact>, rows: Vec<RowChange>) -> Self {
        Self { others, rows, ..self }
    }

    /// An answer that changes nothing.
    pub(super) fn nothing(answer: A) -> Self
    where
        A: Send + 'static,
    {
        Self::new(Vec::new(), move |_| answer)
    }

    /// The same changes with another answer.
    pub(super) fn answering<B>(self, answer: impl FnOnce(&Snapshot) -> B + Send + 'static) -> Decision<B> {
        Decision::new(self.changes, answer).with(self.others, self.rows)
    }
}

/// What a decision takes from the world: the time, and ids made of it.
pub(super) struct Moment<'a> {
    pub(super) now: Timestamp,
    pub(super) ids: &'a Ids,
}

impl Moment<'_> {
    /// A new id.
    pub(super) fn id<T: From<String>>(&self) -> T {
        self.ids.next(self.now).into()
    }
}

impl Catalogue {
    /// Decides on a change and carries it out.
    pub(super) async fn change<A: Serialize + Send + 'static>(
        self: &Arc<Self>,
        caller: Caller,
        decide: impl FnOnce(&Snapshot, &Moment<'_>) -> Result<Decision<A>, Refusal> + Send + 'static,
    ) -> Result<A, Refusal> {
        let this = Arc::clone(self);
        self.exclusively(async move {
            let moment = Moment { now: this.clock.now(), ids: &this.ids };
            let decision = decide(&this.snapshot(), &moment)?;
            this.commit(caller, decision).await
        })
        .await
    }

    /// Keeps the answer of an operation that changed no document, so that a repeat is answered with it.
    ///
    /// # Errors
    /// When it could not be stored; the operation was done all the same.
    pub async fn note_answer<A: Serialize + Send + 'static>(
        self: &Arc<Self>,
        caller: Caller,
        answer: A,
    ) -> Result<A, Refusal> {
        self.change(caller, |_, _| Ok(Decision::nothing(answer))).await
    }

    /// Runs work while nobody else changes anything.
    ///
    /// The work has a task of its own: a caller that goes away while a record is being written must not leave it
    /// durable and unseen.
    pub(super) async fn exclusively<A: Send + 'static>(
        self: &Arc<Self>,
        work: impl Future<Output = Result<A, Refusal>> + Send + 'static,
    ) -> Result<A, Refusal> {
        let turn = Arc::clone(&self.turn);
        let task = tokio::spawn(async move {
            let _turn = turn.lock_owned().await;
            work.await
        });
        match task.await {
            Ok(outcome) => outcome,
            Err(ended) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
            Err(_) => Err(Refusal::Stopping),
        }
    }

    /// Makes a decision durable, shows it, and answers. Only inside [`Self::exclusively`].
    pub(super) async fn commit<A: Serialize>(&self, caller: Caller, decision: Decision<A>) -> Result<A, Refusal> {
        let before = self.snapshot();
        if decision.changes.is_empty() && decision.others.is_empty() && caller.operation.is_none() {
            return Ok((decision.answer)(&before));
        }
        let facts = decision.changes.iter().map(DocumentChange::fact);
        let facts = facts.chain(decision.others.iter().map(OtherFact::write)).collect::<Result<_, _>>();
        let facts = facts.map_err(unwritable)?;
        let changed = changed(&decision.changes, &caller);
        let after = if decision.changes.is_empty() { before } else { Arc::new(before.with(decision.changes)) };
        let answer = (decision.answer)(&after);
        let op = caller.operation.map(|operation| operation.answered(&answer)).transpose().map_err(unwritable)?;
        let record = Record { n: 1, at: self.clock.now(), blobs: Vec::new(), op, facts, events: Vec::new() };
        let mut rows = decision.rows;
        rows.extend(rows_of(&record, &*self.store).map_err(unwritable)?);
        self.store.commit(Commit { log: LogName::Daemon, records: vec![record], rows }).await?;
        self.commits.fetch_add(1, Ordering::AcqRel);
        self.publish(after, changed);
        Ok(answer)
    }

    fn publish(&self, after: Arc<Snapshot>, changed: Changed) {
        self.current.send_if_modified(|current| {
            let newer = current.generation != after.generation;
            *current = after;
            newer
        });
        if !changed.kinds.is_empty() {
            // Nobody listening is no error: lists are read anew by whoever shows them next.
            let _ = self.changes.send(changed);
        }
    }
}

impl Operation {
    fn answered(self, answer: &impl Serialize) -> Result<OperationRecord, serde_json::Error> {
        let answer = serde_json::value::to_raw_value(answer)?;
        Ok(OperationRecord { id: self.id, digest: self.digest, method: self.method, answer })
    }
}

fn changed(changes: &[DocumentChange], caller: &Caller) -> Changed {
    let (mut kinds, ids): (Vec<_>, Vec<_>) = changes.iter().map(DocumentChange::shown).unzip();
    // What rules and servers make of the tools of threads is worked out when those are read (ruling 11).
    if kinds.iter().any(|kind| matches!(kind, DataKind::Policy | DataKind::Server)) {
        kinds.push(DataKind::Tool);
    }
    let mut ids: Vec<_> = ids.into_iter().flatten().map(ToOwned::to_owned).collect();
    kinds.sort_unstable();
    kinds.dedup();
    ids.sort_unstable();
    ids.dedup();
    Changed { kinds, ids, origin: caller.client.as_ref().map(|client| client.instance_id.clone()) }
}

fn unwritable(cause: impl std::fmt::Display) -> Refusal {
    Refusal::Store(StoreError::Write { log: "daemon".to_owned(), cause: cause.to_string(), full: false })
}
