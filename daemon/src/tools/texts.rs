//! Every way in which a call can end without a good result: its code, its state, its effect, and what the model is told.
//!
//! Nobody else spells these. The endings never blur: a refusal by a person, a refusal by a rule, silence and a lost client
//! each have a code and a sentence of their own.

use ropewalk_protocol::{CallError, Effect, EffectiveLevel, ItemState, Part, Problem, Severity, limits};

use crate::context::cut::first_characters;

#[cfg(test)]
mod tests;

/// Characters of a person's note that the model is told.
const NOTE_CHARACTERS: usize = limits::DESCRIPTION_CHARACTERS as usize;

/// How a call ended, when it ended without a good result (ruling 23).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallFailure {
    /// The name is no tool of this run.
    UnknownTool {
        /// Names that may have been meant.
        near: Vec<String>,
    },
    /// The arguments are no JSON.
    InvalidJson {
        /// What is wrong and where.
        reason: String,
    },
    /// The arguments do not fit the tool.
    InvalidArguments {
        /// What is wrong with them, five at most.
        problems: Vec<Problem>,
    },
    /// The answer that made the call was cut off by the model's output limit, so that nobody knows whether these are all
    /// the arguments.
    AnswerCut,
    /// The tool's definition did not fit into the model's request.
    ToolLeftOut,
    /// The tool is declared and nothing carries it out.
    ToolUnwired,
    /// The client that holds the tool's handler has gone, and the call was never sent.
    OwnerAway,
    /// The tool or its server cannot be used now, and the call was never sent.
    Unavailable {
        /// Which kind of trouble: `server_offline`, `tool_blocked`, `tool_quarantined`, `tool_gone`, `request_too_large`,
        /// `reauth_required`.
        code: &'static str,
        /// What is wrong, as a sentence that names the server.
        reason: String,
    },
    /// A rule denies it.
    ToolDenied {
        /// Where that rule is.
        level: EffectiveLevel,
    },
    /// A person refused it.
    Declined {
        /// What the person said.
        note: Option<String>,
        /// Whether the person stopped the run as well.
        stopped: bool,
    },
    /// A person refused exactly this call earlier in the run, and is not asked again.
    DeclinedBefore {
        /// What the person said then.
        note: Option<String>,
    },
    /// One run may not call it more often.
    CallLimit {
        /// How often it may.
        limit: u64,
    },
    /// Nobody answered in time whether it may be called, or what was asked.
    Expired,
    /// Nobody could be asked.
    Undeliverable,
    /// The run was stopped.
    Cancelled {
        /// Whether the call had been sent to its source.
        sent: bool,
    },
    /// Its source was silent for too long, or took too long in all.
    Timeout {
        /// How long was waited.
        after_ms: u64,
    },
    /// Its source went away while it had the call.
    OutcomeUnknown,
    /// Its source's result breaks a rule.
    InvalidResult {
        /// What is wrong with it.
        problem: Problem,
    },
    /// Its source's result is over a limit.
    ResultTooLarge {
        /// The limit.
        limit: u64,
        /// What is limited, such as `bytes`.
        what: String,
    },
    /// Its source says that it failed, or could not carry it out.
    Reported {
        /// The source's own word.
        code: String,
        /// The source's own sentence.
        message: String,
    },
}

impl CallFailure {
    /// An answer of -32601 to `tool/call`, or a binding without a handler.
    #[must_use]
    pub fn unsupported_tool(message: impl Into<String>) -> Self {
        Self::Reported { code: "UnsupportedTool".to_owned(), message: message.into() }
    }

    /// Any other error as the answer to `tool/call`.
    #[must_use]
    pub fn adapter_failed(message: impl Into<String>) -> Self {
        Self::Reported { code: "AdapterToolCallFailed".to_owned(), message: message.into() }
    }

    /// One problem of the arguments.
    #[must_use]
    pub fn invalid_argument(path: &str, reason: impl Into<String>) -> Self {
        Self::InvalidArguments { problems: vec![Problem { path: path.to_owned(), reason: reason.into() }] }
    }

    /// The stable word for it.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::UnknownTool { .. } => "unknown_tool",
            Self::InvalidJson { .. } => "invalid_json",
            // Arguments that may lack their end are arguments that do not fit, even where what is there fits.
            Self::InvalidArguments { .. } | Self::AnswerCut => "invalid_arguments",
            Self::ToolLeftOut => "tool_left_out",
            Self::ToolUnwired => "tool_unwired",
            Self::OwnerAway => "owner_away",
            Self::Unavailable { code, .. } => code,
            Self::ToolDenied { .. } => "tool_denied",
            Self::Declined { .. } | Self::DeclinedBefore { .. } => "declined",
            Self::CallLimit { .. } => "call_limit",
            Self::Expired => "expired",
            Self::Undeliverable => "undeliverable",
            Self::Cancelled { .. } => "cancelled",
            Self::Timeout { .. } => "timeout",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::InvalidResult { .. } => "invalid_result",
            Self::ResultTooLarge { .. } => "result_too_large",
            Self::Reported { code, .. } => code,
        }
    }

    /// The state of the call's item.
    #[must_use]
    pub const fn state(&self) -> ItemState {
        match self {
            Self::ToolDenied { .. } | Self::Declined { .. } | Self::DeclinedBefore { .. } | Self::CallLimit { .. } => {
                ItemState::Refused
            }
            Self::Expired => ItemState::Expired,
            Self::Undeliverable => ItemState::Undeliverable,
            Self::Cancelled { .. } => ItemState::Cancelled,
            Self::OutcomeUnknown => ItemState::OutcomeUnknown,
            _ => ItemState::Failed,
        }
    }

    /// What is known of its effect.
    #[must_use]
    pub const fn effect(&self) -> Effect {
        match self {
            Self::Timeout { .. } | Self::OutcomeUnknown | Self::Reported { .. } | Self::Cancelled { sent: true } => {
                Effect::Unknown
            }
            Self::InvalidResult { .. } | Self::ResultTooLarge { .. } => Effect::Done,
            _ => Effect::None,
        }
    }

    /// How much attention the call's item deserves: somebody's will is a warning, a fault an error.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        match self.state() {
            ItemState::Failed | ItemState::OutcomeUnknown => Severity::Error,
            _ => Severity::Warning,
        }
    }

    /// What the model is told about its call of the tool with this name. At most 262,144 characters.
    #[must_use]
    pub fn text(&self, tool: &str) -> String {
        match self {
            Self::UnknownTool { near } => unknown_tool(tool, near),
            Self::InvalidJson { reason } => {
                format!(
                    "The arguments of {tool} are not JSON: {reason}. It was not called. Correct them and call it again."
                )
            }
            Self::InvalidArguments { problems } => {
                let problems = listed(problems);
                format!(
                    "The arguments of {tool} do not fit: {problems}. It was not called. Correct them and call it again."
                )
            }
            Self::AnswerCut => format!(
                "Your answer was cut off by its output limit, so none of its calls was made: the arguments of {tool} may be incomplete. Make the call again, with less in one answer."
            ),
            Self::ToolLeftOut => format!(
                "{tool} exists, but its description did not fit into this request, so it was not called. Nobody refused it. Look for it with tool_search."
            ),
            Self::ToolUnwired => format!("{tool} is declared, but nothing here carries it out. Go on without it."),
            Self::OwnerAway => format!(
                "The program that carries out {tool} is not connected, so it was not called. Go on without it, or say that it is missing."
            ),
            Self::Unavailable { reason, .. } => {
                format!("{tool} was not called. {reason} Go on without it, or say that it is missing.")
            }
            Self::ToolDenied { level } => {
                format!("A rule of {} denies {tool}. Do not try it again.", place(*level))
            }
            Self::Declined { note, stopped } => declined(tool, note.as_deref(), *stopped),
            Self::DeclinedBefore { note } => declined_before(tool, note.as_deref()),
            Self::CallLimit { limit } => format!(
                "{tool} may be called {limit} times in one run, and this run has done so. It was not called. Do not try it again in this run."
            ),
            Self::Expired => format!("Nobody answered in time whether {tool} may be called, so it was not called."),
            Self::Undeliverable => format!(
                "Nobody is here who could be asked whether {tool} may be called, so it was not called. Nobody refused it. Say in your answer what is left to decide."
            ),
            Self::Cancelled { sent: false } => {
                format!("The run was stopped before {tool} was called. It was not called.")
            }
            Self::Cancelled { sent: true } => format!(
                "The run was stopped while {tool} was at work. Whether it had an effect is unknown; find out before you call it again."
            ),
            Self::Timeout { after_ms } => format!(
                "{tool} did not answer within {}. Whether it had an effect is unknown; find out before you call it again.",
                duration(*after_ms)
            ),
            Self::OutcomeUnknown => format!(
                "The program that carries out {tool} went away while it was at work. Whether it had an effect is unknown; find out before you call it again."
            ),
            Self::InvalidResult { problem } => format!(
                "{tool} was carried out, but its result breaks a rule and cannot be shown: {}. Calling it again may repeat its effect.",
                if problem.path.is_empty() { format!("it {}", problem.reason) } else { described(problem) }
            ),
            Self::ResultTooLarge { limit, what } => format!(
                "{tool} was carried out, but its result is over the limit of {limit} {what} and cannot be shown. Ask for less; calling it again may repeat its effect."
            ),
            Self::Reported { code, message } => format!("{tool} failed: {message} ({code})"),
        }
    }

    /// The error of the call's item: for a failure the source reported, its own sentence.
    #[must_use]
    pub fn error(&self, tool: &str) -> CallError {
        let message = match self {
            Self::Reported { message, .. } => message.clone(),
            _ => self.text(tool),
        };
        CallError { code: self.code().to_owned(), message }
    }

    /// What the model is told, as the content of the call's item.
    #[must_use]
    pub fn content(&self, tool: &str) -> Vec<Part> {
        vec![Part::text(self.text(tool))]
    }
}

fn unknown_tool(tool: &str, near: &[String]) -> String {
    let tool = first_characters(tool, 80);
    let hint = if near.is_empty() {
        "Use only the tools you were given.".to_owned()
    } else {
        format!("Did you mean {}?", near.join(", "))
    };
    format!("There is no tool {tool}. {hint}")
}

fn declined(tool: &str, note: Option<&str>, stopped: bool) -> String {
    let what = if stopped { "refused this call and stopped the run" } else { "refused this call" };
    match note.map(str::trim).filter(|note| !note.is_empty()) {
        Some(note) => format!("A person {what} of {tool}, and said: {}", first_characters(note, NOTE_CHARACTERS)),
        None => format!("A person {what} of {tool}. Do not try the same again; go on without it or ask what to do."),
    }
}

fn declined_before(tool: &str, note: Option<&str>) -> String {
    let told = format!(
        "Nobody was asked again, so {tool} was not called. Go on without it: a person has refused exactly this call in this run"
    );
    match note.map(str::trim).filter(|note| !note.is_empty()) {
        Some(note) => format!("{told}, and said: {}", first_characters(note, NOTE_CHARACTERS)),
        None => format!("{told}."),
    }
}

const fn place(level: EffectiveLevel) -> &'static str {
    match level {
        EffectiveLevel::Thread => "this thread",
        EffectiveLevel::Project => "this project",
        EffectiveLevel::Global => "all projects",
        EffectiveLevel::Default => "its source",
    }
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(described).collect::<Vec<_>>().join("; ")
}

fn described(problem: &Problem) -> String {
    if problem.path.is_empty() {
        format!("they {}", problem.reason)
    } else {
        format!("{} {}", problem.path, problem.reason)
    }
}

fn duration(ms: u64) -> String {
    if ms.is_multiple_of(60_000) && ms > 60_000 {
        format!("{} minutes", ms / 60_000)
    } else {
        let seconds = (ms + 500) / 1_000;
        if seconds == 1 { "1 second".to_owned() } else { format!("{seconds} seconds") }
    }
}
