//! What a search needs of whoever keeps the messages.

use ropewalk_protocol::{Message, ProjectId, SearchHit, ThreadId};

use super::{Place, Query, Spot, query::Matched};

/// A thread that may be looked through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelf {
    /// Its project.
    pub project_id: ProjectId,
    /// Its id.
    pub thread_id: ThreadId,
    /// How many messages its branches have, one that several share counted for each.
    pub messages: u64,
}

impl Shelf {
    /// The place behind all of its messages, or behind one of them.
    #[must_use]
    pub fn place(&self, spot: Option<Spot>) -> Place {
        Place { project_id: self.project_id.clone(), thread_id: self.thread_id.clone(), spot }
    }
}

/// Is shown a message: where it is, and what it says where that may match. `false` ends the reading.
pub type Visit<'a> = &'a mut dyn FnMut(Spot, Option<Message>) -> bool;

/// The messages of threads, in the order of project, thread and message. Everything here may wait for a disk.
pub trait Archive {
    /// Why it cannot be read.
    type Error;

    /// A thread that is in the scope of the search; nothing for one that is not, or not any more.
    ///
    /// # Errors
    /// When it cannot be read.
    fn shelf(&self, place: &Place) -> Result<Option<Shelf>, Self::Error>;

    /// Some of the threads in the scope behind a place; none are left when there are none of them.
    ///
    /// # Errors
    /// When they cannot be read.
    fn beyond(&self, place: Option<&Place>) -> Result<Vec<Shelf>, Self::Error>;

    /// Whether a thread may have what is looked for: `false` only where it has not.
    ///
    /// # Errors
    /// When it cannot be read.
    fn may_have(&self, shelf: &Shelf, query: &Query) -> Result<bool, Self::Error>;

    /// Shows the messages of a thread behind a spot, in their order. One that cannot match is shown without what it says.
    /// Whether the end was reached.
    ///
    /// # Errors
    /// When they cannot be read.
    fn read(&self, shelf: &Shelf, after: Option<Spot>, query: &Query, visit: Visit<'_>) -> Result<bool, Self::Error>;

    /// A message that was found, as it is shown.
    ///
    /// # Errors
    /// When its thread cannot be read.
    fn hit(&self, shelf: &Shelf, message: Message, matched: Matched) -> Result<SearchHit, Self::Error>;
}
