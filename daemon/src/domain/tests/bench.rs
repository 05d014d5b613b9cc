//! A thread whose every change is checked against its record, its rows and the rules of history.

use std::{cell::Cell, collections::BTreeMap};

use ropewalk_protocol::{
    CallId, EndpointId, Event, ItemId, MessageId, Origin, OutcomeStatus, Part, RunId, Seq, Thread, Timestamp,
};

use super::{
    check,
    fixtures::{calls, declaring, outcome, says, submission},
};
use crate::{
    domain::{ChainMessage, Change, Effect, Fact, StartThread, Submitted, ThreadState, World},
    engine::{ThreadProjector, rows},
    store::{Key, LogName, Projection, Projector, Record, RowChange, Rows, Scan, StoreError},
};

/// Ids that count, so that a failing test reads well.
#[derive(Default)]
pub(super) struct Counting(Cell<u64>);

impl World for Counting {
    fn next_id(&self) -> String {
        self.0.set(self.0.get() + 1);
        format!("id-{:05}", self.0.get())
    }

    fn endpoint(&self, _: &Thread, asked: Option<&EndpointId>) -> Option<(EndpointId, String)> {
        Some((asked.cloned().unwrap_or_else(|| "scripted".into()), "m-1".to_owned()))
    }
}

/// The rows of an index.
#[derive(Default)]
pub(super) struct Index(BTreeMap<Key, Vec<u8>>);

impl Index {
    /// How often the thread stands in an order.
    pub(super) fn places(&self, order: &str) -> usize {
        self.0.keys().filter(|key| key.0.starts_with(&Key::of(&[order]).0)).count()
    }

    fn apply(&mut self, changes: &[RowChange]) {
        for change in changes {
            match change {
                RowChange::Put(key, value) => drop(self.0.insert(key.clone(), value.clone())),
                RowChange::Delete(key) => drop(self.0.remove(key)),
            }
        }
    }
}

impl Rows for Index {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.0.get(key).cloned())
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        let all = self.0.iter().filter(|(key, _)| key.0.starts_with(&scan.prefix.0));
        Ok(all.map(|(key, value)| (key.clone(), value.clone())).take(scan.limit).collect())
    }
}

/// A record, read back.
pub(super) struct Kept {
    pub(super) n: Seq,
    pub(super) events: Vec<Event>,
    pub(super) facts: Vec<Fact>,
}

/// A thread under test.
pub(super) struct Bench {
    pub(super) state: ThreadState,
    pub(super) world: Counting,
    pub(super) at: Timestamp,
    pub(super) log: Vec<Kept>,
    pub(super) index: Index,
    /// Bytes of the rows of the last record.
    pub(super) row_bytes: usize,
    replayed: ThreadState,
    rebuilt: Index,
    projection: Box<dyn Projection>,
}

/// What one change came to.
#[derive(Debug)]
pub(super) struct Done<T> {
    pub(super) value: T,
    pub(super) events: Vec<Event>,
    pub(super) effects: Vec<Effect>,
}

impl<T> Done<T> {
    /// The types of its events, in order; of a queue's change the change.
    pub(super) fn types(&self) -> Vec<String> {
        let name = |event: &Event| {
            let event = serde_json::to_value(event).unwrap();
            let word = |field: &str| event[field].as_str().unwrap_or_default().to_owned();
            if word("type") == "queueChanged" { format!("queue {}", word("change")) } else { word("type") }
        };
        self.events.iter().map(name).collect()
    }
}

impl Bench {
    /// A thread that has been started by `client("bot", "in-A")`, without tools.
    pub(super) fn new() -> Self {
        let at: Timestamp = "2026-11-30T10:00:00Z".parse().unwrap();
        let start = StartThread {
            thread_id: "th-1".into(),
            project_id: "pr-1".into(),
            title: None,
            endpoint_id: None,
            instructions: Some("Be brief.".to_owned()),
            agent: None,
            origin: Origin { client_name: "bot".to_owned(), channel: None, user_id: None },
        };
        let state = ThreadState::new(start.header(at));
        let mut bench = Self {
            replayed: state.clone(),
            state,
            world: Counting::default(),
            at,
            log: Vec::new(),
            index: Index::default(),
            row_bytes: 0,
            rebuilt: Index::default(),
            projection: ThreadProjector.begin(&LogName::Thread("th-1".into())),
        };
        bench.change(|change| change.start_thread(&start, &declaring("in-A", None, false)).unwrap());
        bench
    }

    /// Makes a change of one second later, and checks everything that holds of any change.
    pub(super) fn change<T>(&mut self, work: impl FnOnce(&mut Change<'_>) -> T) -> Done<T> {
        self.at = self.at.plus_millis(1_000);
        let mut change = Change::new(&mut self.state, self.at, &self.world);
        let value = work(&mut change);
        let n = change.n();
        let Change { events, facts, effects, .. } = change;
        if !events.is_empty() || !facts.is_empty() {
            let raw = |value: &dyn erased::Json| value.raw();
            let record = Record {
                n,
                at: self.at,
                blobs: Vec::new(),
                op: None,
                facts: facts.iter().map(|fact| raw(fact)).collect(),
                events: events.iter().map(|event| raw(event)).collect(),
            };
            self.keep(record);
        }
        check::state(&self.state, &self.log);
        Done { value, events, effects }
    }

    fn keep(&mut self, record: Record) {
        let changes = rows::changed(&mut self.state, &record).unwrap();
        let projected = self.projection.project(&record, &self.rebuilt).unwrap();
        self.row_bytes = changes.iter().map(size).sum();
        self.index.apply(&changes);
        self.rebuilt.apply(&projected);
        assert_eq!(as_text(&self.index), as_text(&self.rebuilt), "an index built from the log is another one");
        let kept = Kept {
            n: record.n,
            events: record.events.iter().map(|event| serde_json::from_str(event.get()).unwrap()).collect(),
            facts: record.facts.iter().map(|fact| serde_json::from_str(fact.get()).unwrap()).collect(),
        };
        for event in &kept.events {
            self.replayed.apply(event, record.at);
        }
        for fact in &kept.facts {
            self.replayed.apply_fact(fact, record.n);
        }
        self.replayed.touched = Default::default();
        self.replayed.attention = self.replayed.what_is_wanted();
        assert_eq!(self.replayed, self.state, "the log leads to another state");
        let loaded = rows::load(&self.index, &"th-1".into()).unwrap().expect("the thread has rows");
        assert_eq!(loaded, self.state, "the rows lead to another state");
        self.log.push(kept);
    }

    /// The chain of the original branch, oldest first.
    pub(super) fn chain(&self) -> Vec<ChainMessage> {
        check::chain(&self.state, &self.log, &"th-1".into())
    }

    /// Who says what in the chain of the original branch.
    pub(super) fn said(&self) -> Vec<String> {
        let say = |message: ChainMessage| {
            let texts: Vec<_> =
                message.message.content.iter().filter_map(Part::as_text).map(ToOwned::to_owned).collect();
            let role = serde_json::to_value(message.message.role).unwrap();
            format!("{}: {}", role.as_str().unwrap(), texts.join(" "))
        };
        self.chain().into_iter().map(say).collect()
    }

    pub(super) fn submit(&mut self, text: &str) -> Done<Submitted> {
        let submission = submission(text);
        let done = self.change(|change| change.submit(submission));
        Done { value: done.value.unwrap(), events: done.events, effects: done.effects }
    }

    /// The model begins to say something in a run.
    pub(super) fn begin_text(&mut self, run: &RunId) -> (ItemId, MessageId) {
        let ids: (ItemId, MessageId) = (self.world.next_id().into(), self.world.next_id().into());
        let (item, message) = ids.clone();
        self.change(|change| change.text_started(run, &item, &message, false));
        ids
    }

    /// The model answers with these calls, in the record that `also` goes on with.
    pub(super) fn calls(&mut self, run: &RunId, names: &[&str]) -> Vec<CallId> {
        let answered = calls(&self.world, names);
        let ids = answered.calls.iter().map(|(call, _)| call.call_id.clone()).collect();
        self.change(|change| change.answered(run, answered));
        ids
    }

    /// The model answers with text, which ends the run.
    pub(super) fn complete(&mut self, run: &RunId, text: &str) -> Done<()> {
        let answered = says(&self.world, text);
        self.change(|change| {
            let (item, _) = answered.text.clone().unwrap();
            change.text_started(run, &item, &answered.message_id.clone(), false);
            change.answered(run, answered);
            change.finish_run(run, outcome(OutcomeStatus::Completed), &|_| None);
        })
    }

    pub(super) fn stop(&mut self, run: &RunId) -> Done<()> {
        self.change(|change| change.finish_run(run, outcome(OutcomeStatus::Stopped), &|_| None))
    }
}

fn size(change: &RowChange) -> usize {
    match change {
        RowChange::Put(key, value) => key.0.len() + value.len(),
        RowChange::Delete(key) => key.0.len(),
    }
}

mod erased {
    /// Anything of ours as it stands in a log.
    pub(super) trait Json {
        fn raw(&self) -> Box<serde_json::value::RawValue>;
    }

    impl<T: serde::Serialize> Json for T {
        fn raw(&self) -> Box<serde_json::value::RawValue> {
            serde_json::value::to_raw_value(self).unwrap()
        }
    }
}

fn as_text(index: &Index) -> BTreeMap<String, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\0', "/");
    index.0.iter().map(|(key, value)| (text(&key.0), text(value))).collect()
}
