//! What threads are and how they change: state and rules, without clock, disk or network.
//!
//! A thread is the sum of its records. [`Change`] is a change in the making: an operation looks at the [`ThreadState`],
//! refuses with a [`DomainError`] before anything is written, or writes [`Event`](ropewalk_protocol::Event)s for readers
//! and [`Fact`]s for us. Both go through [`ThreadState::apply`], the only place where a thread changes, now and when a
//! log is read again. What has to happen outside afterwards is left as [`Effect`]s.

mod allowance;
mod apply;
mod apply_chain;
mod attention;
mod branches;
mod calls;
mod chain;
mod change;
mod changed_files;
mod error;
mod fact;
mod header;
mod interactions;
mod loopback;
mod notes;
mod pausing;
mod places;
mod queue;
mod queue_edits;
mod reading;
mod recovering;
mod recovery;
mod refusals;
mod remarks;
mod repeats;
mod replacing;
mod runs;
mod state;
mod steps;
mod summary;
mod tool_sets;
mod waiting;

#[cfg(test)]
pub(crate) mod tests;

pub use allowance::{Allowance, Used};
pub use apply::OfferedAgain;
pub use attention::{Wanted, thread_of};
pub use branches::{BranchError, Fork};
pub use calls::CallEnd;
pub use chain::{ChainMessage, ChainReader, Link, ProviderParts};
pub use change::{Change, Effect, World};
pub use error::DomainError;
pub use fact::{AnsweredCall, Fact, Joined, QueuedRun};
pub use header::StartThread;
pub use interactions::{Opening, Settlement};
pub use loopback::is_loopback;
pub use notes::Notice;
pub use pausing::PauseReason;
pub use places::{Place, PlaceSearch};
pub use queue::{Submission, Submitted, queued_run};
pub use recovering::{BadEnd, Remarks, RunInput};
pub use refusals::Refusals;
pub use remarks::{Remark, Remarked};
pub use repeats::Repeats;
pub use replacing::Replaced;
pub use runs::Partial;
pub use state::{Batch, BatchCall, BranchState, EndedRun, QueuedInput, RunState, ThreadState, ToolSet, Touched};
pub use steps::Answered;
pub use summary::{Carried, Compaction, Line, Summary, carried_request, summary_says, summary_text};
pub use tool_sets::{ClientTool, Declaring};
