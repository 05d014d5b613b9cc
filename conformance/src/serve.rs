//! The scripted server as a command.

use std::io;

use clap::Args;

use crate::{ScriptedServer, ServerOptions};

/// What `conformance serve` takes.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// The port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Refuse, with status 400, what real providers refuse.
    #[arg(long)]
    pub strict: bool,
    /// Refuse, with status 401, requests without this key.
    #[arg(long)]
    pub key: Option<String>,
    /// Refuse, in the provider's own words, requests with more tokens than this; four bytes of text are one.
    #[arg(long, value_name = "TOKENS")]
    pub window: Option<u64>,
}

/// Serves until the process is interrupted. The first line on stdout is the base URL.
///
/// # Errors
/// When the port cannot be listened on.
pub async fn serve(args: ServeArgs) -> io::Result<()> {
    let ServeArgs { port, strict, key, window: window_tokens } = args;
    let options = ServerOptions { strict, key, window_tokens, ..ServerOptions::default() };
    let server = ScriptedServer::start_on(port, options).await?;
    announce(&server);
    tokio::signal::ctrl_c().await
}

#[expect(clippy::print_stdout, reason = "the address on stdout is what the caller waits for")]
fn announce(server: &ScriptedServer) {
    println!("{}", server.base_url());
}
