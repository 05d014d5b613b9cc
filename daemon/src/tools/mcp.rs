//! What the daemon makes of the servers an owner adds: what they and their tools are called, which tools can be used at all,
//! and what has changed since they were approved. Pure, like all of the path; whoever speaks to servers is behind
//! [`ServerClients`].

mod approved;
mod clients;
mod ids;
mod listed;
mod names;
mod patterns;
mod review;
mod spec;
mod usable;

#[cfg(test)]
pub(crate) mod tests;

pub use approved::{Approved, Compared};
pub use clients::{Connection, ServerClients, Trouble};
pub use ids::{MAX_TOOL_ID_CHARACTERS, tool_ids};
pub use listed::{ListedTool, Listing, MAX_TOOLS, kind, read_annotations};
pub use names::{MAX_SLUG_CHARACTERS, agent_tool, connection_type, function, permission, slug};
pub use patterns::without_patterns;
pub use review::{Choice, Chosen, Reviewed, choose, counts, review};
pub use spec::{OwnedServer, server_tools};
pub use usable::{Unusable, check_usable};
