//! `ropewalk files-server`: the bundled file tools over stdin and stdout, started by the daemon and by nobody else.

use std::{
    io::{self, BufRead, Read},
    process::ExitCode,
};

use clap::Args;

use super::{failure::Exit, out::Out};
use crate::files::{FileServer, Told, serve_stdio};

/// Bytes of the first line: some hundred thousand grants.
const FIRST_BYTES: u64 = 64 << 20;

/// Serve the files of some directories as an MCP server
///
/// What is granted is the first line of its input, as JSON: {"grants": [{"path", "capabilities"}], "closed": ["path"]}. MCP
/// begins after it.
#[derive(Args, Debug)]
pub struct FilesServerArgs {
    /// Do without the lock of the kernel
    #[arg(long)]
    no_landlock: bool,
}

/// Reads what is granted. What comes after it stays where it is, for whoever reads on.
fn told() -> io::Result<Told> {
    let mut line = Vec::new();
    io::stdin().lock().take(FIRST_BYTES).read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Err(io::Error::other("the first line of the input is to say what is granted, and it does not end"));
    }
    serde_json::from_slice(&line).map_err(|error| io::Error::other(format!("what is granted cannot be read: {error}")))
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
    let server = FileServer::over(&told()?, |note| out.note(note))?;
    if !args.no_landlock && !server.confine()? {
        out.note("the kernel does not lock this process in, or not wholly; it opens files beneath its grants only");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(serve_stdio(server));
    // A search that is still at work is let go of.
    runtime.shutdown_background();
    served
}
