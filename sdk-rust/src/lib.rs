//! The Rust SDK of Ropewalk, a local agent runtime: connect to the daemon, declare functions of your program as tools,
//! run prompts, answer approvals.
//!
//! ```no_run
//! use ropewalk::{Approval, Decision, Ropewalk, ToolContext, ToolError};
//!
//! /// Which issue.
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct GetIssue {
//!     /// The number, without `#`.
//!     id: String,
//! }
//!
//! /// Read an issue of the tracker.
//! #[ropewalk::tool(read_only)]
//! async fn get_issue(args: GetIssue, cx: ToolContext) -> Result<String, ToolError> {
//!     cx.progress("asking the tracker", 0.5);
//!     Ok(format!("#{} Login fails on Tuesdays", args.id))
//! }
//!
//! async fn ask(approval: Approval) -> Decision {
//!     println!("{}?", approval.summary);
//!     Decision::Accept
//! }
//!
//! # async fn example() -> Result<(), ropewalk::Error> {
//! let client = Ropewalk::connect().on_approval(ask).await?;
//! let thread = client.threads().start().tool(get_issue()).await?;
//! let result = thread.run("What is issue 7 about?").await?.into_result()?;
//! println!("{}", result.text());
//! # Ok(()) }
//! ```
//!
//! In the order in which a program meets it: [`Ropewalk::connect`] makes a [`Client`]; its nouns, such as
//! [`Client::threads`], have the verbs of the wire; a [`Thread`] takes [`Tool`]s and input, and gives events; a
//! [`RunRequest`] is awaited for a [`RunResult`] or streamed. [`Client::call`] and [`Client::raw`] reach all of the
//! wire, whose types are in [`protocol`].
//!
//! **Tools run in your program, with its permissions, and are not sandboxed.** A handler checks its arguments and whether
//! its caller may do what it asks for.
//!
//! A connection that is lost, to a daemon that was restarted for instance, is made again by itself; a program notices nothing
//! but the time. What is guaranteed then says [`Client`].
//!
//! It needs a tokio runtime with time and I/O. Every future is `Send` and may be dropped at any point without stopping what was submitted. Handlers run in a fence:
//! a panic is the answer to that one call.

mod client;
mod connect;
mod duties;
mod environment;
mod error;
mod events;
mod ids;
mod link;
mod nouns;
mod recovery;
mod run;
mod start;
mod thread;
mod tools;
mod transport;

pub use ropewalk_macros::tool;
pub use ropewalk_protocol as protocol;
pub use ropewalk_protocol::{ApprovalAnswer, Decision, InputAnswer, Mode, Part, QuestionAnswer, RpcError, Unattended};

pub use client::Client;
pub use connect::{Connect, Ropewalk};
pub use duties::{Approval, InputReply, IntoApprovalAnswer, IntoInputAnswer, Questions};
pub use error::Error;
pub use events::EventStream;
pub use link::Connection;
pub use nouns::{
    Attentions, Blobs, Branches, Context, Daemon, Endpoints, Grants, Instructions, Interactions, Items, Memory,
    Policies, Projects, Queue, Runs, Secrets, ServerReviews, Servers, Settings, Threads,
};
pub use run::{Input, Run, RunEvent, RunRequest, RunResult, RunStream, image, image_file};
pub use thread::{Registration, ResumeThread, Resumed, StartThread, Thread, ThreadBranches};
pub use tools::{IntoToolResult, Json, NoArguments, Tool, ToolBuilder, ToolContext, ToolError, ToolOutput, Tools};

/// The Rust of the documentation is compiled with the crate, so that it cannot go stale.
#[cfg(doctest)]
mod documentation {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/quickstart-rust.md")]
    struct Quickstart;
    #[doc = include_str!("../../docs/tools.md")]
    struct Tools;
    #[doc = include_str!("../../docs/approvals.md")]
    struct Approvals;
}
