//! `ropewalk schema`: the protocol as JSON Schema, for programs that make types or documentation of it.

use clap::Args;

use super::{failure::Exit, session::Context};

/// Print the schema bundle of the protocol
///
/// One JSON Schema 2020-12 document: every method, notification, event, error and limit. Needs no daemon.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  ropewalk schema > schema.json")]
pub(crate) struct SchemaArgs {
    /// Print the digest of the bundle alone: `schemaHash` of the handshake
    #[arg(long)]
    hash: bool,
}

/// Runs it.
pub(crate) fn run(args: &SchemaArgs, context: &Context) -> Exit {
    if args.hash {
        context.out.line(ropewalk_protocol::schema_hash());
    } else {
        let bundle = serde_json::to_string_pretty(&ropewalk_protocol::bundle()).expect("the bundle is a JSON value");
        context.out.line(&bundle);
    }
    Exit::DONE
}
