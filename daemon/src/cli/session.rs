//! What commands that talk to a daemon share: flags, the connection, and results for programs.

use std::path::PathBuf;

use clap::Args;
use ropewalk::{Client, Connect, Ropewalk};
use ropewalk_protocol::Method;
use serde::Serialize;

use super::{
    environment::Environment,
    failure::{Exit, Failure},
    out::Out,
};
use crate::server::{Home, Places, StartError};

/// What a client of the command line is called.
pub(crate) const CLIENT_NAME: &str = "ropewalk";

/// Over these flags in the help.
const EVERYWHERE: &str = "Options of all commands";

/// Flags of all commands.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Global {
    /// The daemon's home; $ROPEWALK_HOME, else the platform's state directory, unless given
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true, help_heading = EVERYWHERE)]
    pub(crate) home: Option<PathBuf>,
    /// The daemon's socket; $ROPEWALK_SOCKET, else the one that belongs to the home, unless given
    #[arg(long, global = true, value_name = "PATH", hide_short_help = true, help_heading = EVERYWHERE)]
    pub(crate) socket: Option<PathBuf>,
    /// Print the result as JSON, as the method behind the command gives it
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) json: bool,
}

/// What a command works with.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) global: Global,
    pub(crate) environment: Environment,
    pub(crate) out: Out,
}

impl Context {
    /// The home and the socket that are meant.
    pub(crate) fn home(&self) -> Result<Home, StartError> {
        let places = Places { home: self.global.home.clone(), socket: self.global.socket.clone() };
        Home::resolve(&places, &self.environment.places())
    }

    /// A client being connected to the daemon that is meant.
    pub(crate) fn connecting(&self) -> Result<Connect, Failure> {
        // The socket is always said, so that this program and the SDK cannot mean two different ones.
        let mut connect = Ropewalk::connect().name(CLIENT_NAME).socket(self.home()?.socket);
        if let Some(home) = &self.global.home {
            connect = connect.home(std::path::absolute(home).unwrap_or_else(|_| home.clone()));
        }
        Ok(connect)
    }

    /// A client of the daemon that is meant, which is started if none runs.
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
        Ok(self.connecting()?.await?)
    }

    /// Calls a method and shows its result: as it is with `--json`, else in words.
    pub(crate) async fn show<M: Method<Result: Serialize>>(
        &self,
        client: &Client,
        params: M::Params,
        words: impl FnOnce(&M::Result) -> String,
    ) -> Result<Exit, Failure> {
        let result = client.call::<M>(params).await?;
        self.result(&result, words(&result).as_str());
        Ok(Exit::DONE)
    }

    /// Shows a result: as it is with `--json`, else these words.
    pub(crate) fn result(&self, result: &impl Serialize, words: &str) {
        if self.global.json {
            self.out.json(result);
        } else if !words.is_empty() {
            self.out.line(&super::text::printable(words));
        }
    }
}

/// A name that may also be an id, looked up in a list.
pub(crate) fn named<'a, T>(
    noun: &str,
    wanted: &str,
    items: &'a [T],
    id: impl Fn(&T) -> &str,
    name: impl Fn(&T) -> &str,
) -> Result<&'a T, Failure> {
    if let Some(item) = items.iter().find(|item| id(item) == wanted) {
        return Ok(item);
    }
    let found: Vec<_> = items.iter().filter(|item| name(item) == wanted).collect();
    match *found {
        [item] => Ok(item),
        [] => {
            let names: Vec<_> = items.iter().map(name).collect();
            let known = if names.is_empty() {
                "There is none yet.".to_owned()
            } else {
                format!("There is: {}.", names.join(", "))
            };
            Err(Failure::Failed(format!("There is no {noun} `{wanted}`. {known}")))
        }
        _ => {
            let ids: Vec<_> = found.iter().map(|item| id(item)).collect();
            Err(Failure::Failed(format!("`{wanted}` is the name of several; say which by its id: {}.", ids.join(", "))))
        }
    }
}
