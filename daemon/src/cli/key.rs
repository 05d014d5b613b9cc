//! Keys on their way in: from a pipe, a variable or the keyboard, and never from the command line.

use std::io::{self, IsTerminal, Read};

use clap::Args;

use super::{failure::Failure, interrupts::Interrupts, person::Person, session::Context};

/// Longest key that is read, in bytes; the daemon has the last word.
const KEY_BYTES: u64 = 65_536;

/// Where a key comes from. Command lines are seen by other programs and kept in histories, so a key is not one of the
/// arguments.
#[derive(Args, Clone, Debug, Default)]
#[group(multiple = false)]
pub(crate) struct KeyArgs {
    /// Read the key from stdin; at a terminal it is asked for and not shown
    #[arg(long)]
    key_stdin: bool,
    /// Read the key from this variable of the environment
    #[arg(long, value_name = "VAR")]
    key_env: Option<String>,
}

impl KeyArgs {
    /// The key, if one was named.
    pub(crate) async fn read(&self, context: &Context) -> Result<Option<String>, Failure> {
        match &self.key_env {
            Some(variable) => match context.environment.text(variable) {
                Some(key) => Ok(Some(key)),
                None => Err(Failure::Usage(format!("The variable {variable} is not set, or is no text."))),
            },
            None if self.key_stdin => from_stdin(context).await.map(Some),
            None => Ok(None),
        }
    }

    /// The key; from stdin unless said otherwise.
    pub(crate) async fn read_required(&self, context: &Context) -> Result<String, Failure> {
        match self.read(context).await? {
            Some(key) => Ok(key),
            None => from_stdin(context).await,
        }
    }
}

async fn from_stdin(context: &Context) -> Result<String, Failure> {
    let key = if io::stdin().is_terminal() { from_terminal(context).await? } else { from_pipe()? };
    match key.trim() {
        "" => Err(Failure::Usage("There was no key on stdin.".to_owned())),
        key => Ok(key.to_owned()),
    }
}

fn from_pipe() -> Result<String, Failure> {
    let mut key = String::new();
    let read = io::stdin().lock().take(KEY_BYTES).read_to_string(&mut key);
    read.map_err(|error| Failure::Usage(format!("The key cannot be read from stdin: {error}.")))?;
    Ok(key)
}

async fn from_terminal(context: &Context) -> Result<String, Failure> {
    let nobody = || Failure::Usage("Nobody can be asked for the key here. Write it to stdin.".to_owned());
    let person = Person::find(&context.out).ok_or_else(nobody)?;
    // A Ctrl-C that ended the process here would leave a terminal that shows nothing.
    let mut interrupts = Interrupts::of_process();
    let hidden = Hidden::begin();
    let mut attention = person.attention().await;
    let key = tokio::select! {
        key = attention.ask("Key (not shown): ") => key.unwrap_or_default(),
        () = interrupts.next() => return Err(Failure::Interrupted),
    };
    drop(hidden);
    attention.show("");
    Ok(key)
}

/// While it lives, the terminal does not show what is typed.
struct Hidden {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

impl Hidden {
    #[cfg(unix)]
    fn begin() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

        let before = tcgetattr(io::stdin()).ok();
        if let Some(mut hidden) = before.clone() {
            hidden.local_modes.remove(LocalModes::ECHO);
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &hidden);
        }
        Self { before }
    }

    #[cfg(not(unix))]
    const fn begin() -> Self {
        Self {}
    }
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Flush, before);
        }
    }
}
