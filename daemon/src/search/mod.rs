//! Looking for text: the one dialect, and the scan over messages that `thread/search`, `app_read` and the command line share.
//!
//! [`Matcher`] is the dialect, of file tools too. A [`Query`] says what a message must have, and [`scan`] walks an
//! [`Archive`] in the order of project, thread and message until a page is full: no index, no ranking, and a [`Place`] to go
//! on from that stays right while threads are used.

mod archive;
mod fragment;
mod matcher;
mod place;
mod query;
mod scan;
#[cfg(test)]
mod tests;

pub use archive::{Archive, Shelf, Visit};
pub use fragment::around;
pub use matcher::{Dialect, Matcher};
pub use place::{Place, Spot};
pub use query::{Matched, Query};
pub use scan::{Bounds, Found, scan};
