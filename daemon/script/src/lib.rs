//! What the scripted model says: a conversation in, the actions of its next answer out. Pure and deterministic.
//!
//! The model is driven by the user's own message, so that a person, a test and a demonstration all work without a key
//! and without a network. The same engine answers inside the daemon and, in the conformance kit, over HTTP.
//!
//! # Grammar
//!
//! A message is read line by line; a line is an instruction when its first word is one of these, in lower case, and
//! what follows fits. Every other line is plain text.
//!
//! | Line | What the model does |
//! |---|---|
//! | `call TOOL REST` | calls TOOL; REST is the arguments, byte for byte, `{}` when empty or blank |
//! | `say TEXT` | says TEXT, a delta a word |
//! | `think TEXT` | reasons TEXT, a delta a word |
//! | `sleep MS` | waits MS milliseconds, at most [`MAX_SLEEP_MS`] |
//! | `fail KIND` | ends the answer with that failure, see [`FailKind`] |
//! | `then …` | begins the next block; an instruction may follow on the same line |
//!
//! Several `say` lines of a block are lines of one answer, and so are several `think` lines. What follows a `fail` in
//! its block is never reached.
//!
//! # Which line answers which request
//!
//! * The script is the last user message with an instruction. Block *k* answers the *k*-th request since that message.
//! * When no block is left and the last block made calls, the answer reports: `TOOL: ` and the first text of each
//!   result the script got, a line each, TOOL being the name as the script has it.
//! * After that the script is over. Plain user messages before that point change nothing; one after it is plain input.
//! * Plain input is answered `You said: ` and the input.
//!
//! ```
//! use ropewalk_script::{Action, Turn, respond};
//!
//! let conversation = [Turn::user(["call get_issue {\"id\":\"7\"}"])];
//! let call = Action::Call { tool: "get_issue".to_owned(), arguments: "{\"id\":\"7\"}".to_owned() };
//! assert_eq!(respond(&conversation), [call]);
//! ```

mod answer;
mod grammar;
mod names;

pub use answer::respond;
pub use grammar::MAX_SLEEP_MS;
pub use names::resolve_name;

/// One message of a conversation, as much of it as the script needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// What a person or program said: its text parts.
    User(Vec<String>),
    /// What the model answered: the names of the tools it called, in order. Every answer counts as one request.
    Assistant(Vec<String>),
    /// The result of a call of the answer before it.
    Result {
        /// The name the call used.
        tool: String,
        /// The result's text parts.
        texts: Vec<String>,
    },
}

impl Turn {
    /// A user's message.
    pub fn user<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::User(texts.into_iter().map(Into::into).collect())
    }

    /// A model's answer that called these tools.
    pub fn assistant<T: Into<String>>(calls: impl IntoIterator<Item = T>) -> Self {
        Self::Assistant(calls.into_iter().map(Into::into).collect())
    }

    /// A call's result.
    pub fn result<T: Into<String>>(tool: impl Into<String>, texts: impl IntoIterator<Item = T>) -> Self {
        Self::Result { tool: tool.into(), texts: texts.into_iter().map(Into::into).collect() }
    }
}

/// One thing the model does, in the order of its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A delta of reasoning.
    Think(String),
    /// A delta of text.
    Say(String),
    /// A call. The name is as the script has it; [`resolve_name`] finds the tool it means.
    Call {
        /// The name.
        tool: String,
        /// The arguments, byte for byte.
        arguments: String,
    },
    /// A wait.
    Sleep {
        /// For how many milliseconds.
        ms: u64,
    },
    /// The answer ends badly here.
    Fail {
        /// How.
        kind: FailKind,
    },
}

macro_rules! fail_kinds {
    ($($(#[$doc:meta])* $kind:ident = $word:literal),* $(,)?) => {
        /// How an answer can fail; the words are those of a run's error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum FailKind {
            $($(#[$doc])* #[doc = concat!("Written `", $word, "`.")] $kind,)*
        }

        impl FailKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// The word a script uses.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$kind => $word,)* }
            }
        }
    };
}

fail_kinds! {
    /// The provider limits the rate.
    RateLimited = "rateLimited",
    /// The account has no quota left.
    Quota = "quota",
    /// The provider has too much to do.
    Overloaded = "overloaded",
    /// The key is refused.
    Auth = "auth",
    /// The provider refuses the request.
    BadRequest = "badRequest",
    /// The provider does not know the model.
    ModelNotFound = "modelNotFound",
    /// The request does not fit the window.
    ContextWindow = "contextWindow",
    /// The answer cannot be read.
    BadResponse = "badResponse",
    /// The answer ends before it is complete.
    CutOff = "cutOff",
    /// The provider falls silent.
    Stalled = "stalled",
    /// The provider cannot be reached.
    Unreachable = "unreachable",
    /// No endpoint is configured.
    NoEndpoint = "noEndpoint",
    /// The answer does not fit its schema.
    OutputInvalid = "outputInvalid",
    /// A budget is used up.
    Budget = "budget",
    /// The model repeats itself.
    Stuck = "stuck",
    /// The message the input follows is gone.
    ParentMissing = "parentMissing",
    /// The branch was deleted.
    BranchDeleted = "branchDeleted",
    /// The store failed.
    Storage = "storage",
    /// A fault of the daemon.
    Internal = "internal",
}

impl FailKind {
    /// The kind a word names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }
}

#[cfg(test)]
mod tests;
