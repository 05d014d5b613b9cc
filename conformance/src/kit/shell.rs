//! What the commands of the kit have in common with the terminal they run in.

use std::io::{self, Write as _};

/// Resolves when the program is told to end.
pub(super) async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminated) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
        }
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

/// Whoever reads the output may leave early, as `head` does: nothing is wrong then.
pub(super) fn print(text: &str) {
    drop(writeln!(io::stdout(), "{text}"));
}

#[expect(clippy::print_stderr, reason = "a command says on stderr why it failed")]
pub(super) fn complain(error: &io::Error) {
    eprintln!("conformance: {error}");
}
