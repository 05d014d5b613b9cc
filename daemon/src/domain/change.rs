//! A change of a thread in the making.

use ropewalk_protocol::{ClientRef, EndpointId, Event, InteractionId, RunId, Seq, Thread, Timestamp};

use super::{Fact, Settlement, ThreadState};

/// What a change needs to know of the world around the thread.
pub trait World {
    /// A new id as text.
    fn next_id(&self) -> String;

    /// The endpoint a run of this thread uses and its model, where `asked` is the one its submit named. `None` when
    /// there is none it may use; the run fails then, but it begins.
    fn endpoint(&self, thread: &Thread, asked: Option<&EndpointId>) -> Option<(EndpointId, String)>;
}

/// What has to happen outside once a change is durable.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Drive this run from where it is.
    Drive(RunId),
    /// This run is over: nothing of it may go on.
    Abandon(RunId),
    /// Offer this interaction to whoever may settle it.
    Offer(InteractionId),
    /// Tell everyone who was offered it that this interaction is over.
    Settled(Box<Settlement>),
    /// Tell these that it is over for them; it goes on with somebody else.
    Withdrawn(Vec<ClientRef>, Box<Settlement>),
}

/// A change of a thread in the making: one record of its log.
pub struct Change<'a> {
    /// The thread as it is with what the change has written so far.
    pub state: &'a mut ThreadState,
    /// The time of the record.
    pub at: Timestamp,
    /// What there is around the thread.
    pub world: &'a dyn World,
    /// The events so far.
    pub events: Vec<Event>,
    /// The facts so far.
    pub facts: Vec<Fact>,
    /// What has to happen afterwards.
    pub effects: Vec<Effect>,
    first_seq: Seq,
}

impl<'a> Change<'a> {
    /// A change that has written nothing yet.
    pub fn new(state: &'a mut ThreadState, at: Timestamp, world: &'a dyn World) -> Self {
        let first_seq = state.thread.seq + 1;
        Self { state, at, world, events: Vec::new(), facts: Vec::new(), effects: Vec::new(), first_seq }
    }

    /// The sequence number of the record: that of its first event.
    #[must_use]
    pub const fn n(&self) -> Seq {
        self.first_seq
    }

    /// The sequence number of the last event of the thread with this change.
    #[must_use]
    pub const fn seq(&self) -> Seq {
        self.state.thread.seq
    }

    /// Whether nothing has been written.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.events.is_empty() && self.facts.is_empty()
    }

    /// Writes an event.
    pub fn event(&mut self, event: Event) {
        self.state.apply(&event, self.at);
        self.events.push(event);
    }

    /// Writes a fact. A record's facts are read after its events, so a fact never prepares an event of its own record.
    pub fn fact(&mut self, fact: Fact) {
        self.state.apply_fact(&fact, self.first_seq);
        self.facts.push(fact);
    }

    /// Leaves something to be done once the change is durable.
    pub fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// A new id.
    #[must_use]
    pub fn id<T: From<String>>(&self) -> T {
        self.world.next_id().into()
    }
}
