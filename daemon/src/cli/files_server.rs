//! `ropewalk files-server`: the bundled file tools over stdin and stdout, started by the daemon and by nobody else.

use std::{io, process::ExitCode};

use clap::Args;

use super::{failure::Exit, out::Out};
use crate::files::{FileServer, Grant, serve_stdio};

/// Serve the files of some directories as an MCP server
#[derive(Args, Debug)]
pub struct FilesServerArgs {
    /// What is granted, as JSON: a list of {path, capabilities}
    #[arg(value_name = "GRANTS", value_parser = grants)]
    grants: Grants,
    /// Do without the lock of the kernel
    #[arg(long)]
    no_landlock: bool,
}

/// All grants, in a type of their own: clap would read a list as several arguments.
#[derive(Clone, Debug)]
struct Grants(Vec<Grant>);

fn grants(text: &str) -> Result<Grants, String> {
    serde_json::from_str(text).map(Grants).map_err(|error| error.to_string())
}

/// Serves until the input ends. The process is locked in before it has a second thread, so that every one is.
pub fn run(args: &FilesServerArgs, out: &Out) -> ExitCode {
    match serve(args, out) {
        Ok(()) => ExitCode::from(Exit::DONE.0),
        Err(error) => {
            out.note(&format!("error: the files cannot be served: {error}"));
            ExitCode::from(Exit::FAILED.0)
        }
    }
}

fn serve(args: &FilesServerArgs, out: &Out) -> io::Result<()> {
    let server = FileServer::over(&args.grants.0, |note| out.note(note))?;
    if !args.no_landlock && !server.confine()? {
        out.note("the kernel does not lock this process in, or not wholly; it opens files beneath its grants only");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(serve_stdio(server));
    // A search that is still at work is let go of.
    runtime.shutdown_background();
    served
}
