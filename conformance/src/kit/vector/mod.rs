//! A vector: one claim about a daemon, as data that anybody's runner can play.

mod files;
mod read;
mod step;
#[cfg(test)]
mod tests;
mod verbs;

pub use files::{Vectors, daemon_vectors};
pub use read::BadVector;
pub use step::{Answer, Ending, Part, Restart, Step, Verb};

/// One claim about a daemon.
#[derive(Clone, Debug)]
pub struct Vector {
    /// Its name, which never changes: lists of known failures use it. Begins with the requirement's number where it has
    /// one.
    pub name: String,
    /// The file it is in, without its ending.
    pub topic: String,
    /// Why it exists: the rule it holds, or the failure in the field that it guards against.
    pub why: String,
    /// What it needs of the one who plays it.
    pub needs: Vec<Need>,
    /// What is done and expected, in order.
    pub steps: Vec<Step>,
}

/// What a vector needs of the one who plays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A daemon that nobody else talks to, on a home where nothing was done yet.
    Home,
    /// The same, and that the daemon can be ended and started again on its home.
    Restart,
}

impl Vector {
    /// Whether it needs a daemon of its own.
    #[must_use]
    pub const fn needs_own_daemon(&self) -> bool {
        !self.needs.is_empty()
    }
}

impl Need {
    /// Its word in a vector.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Restart => "restart",
        }
    }
}
