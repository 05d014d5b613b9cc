//! How a run ended.

use ropewalk_protocol::{BranchId, ChangeSet, MessageId, Method, OutcomeStatus, RunId, RunOutcome, RunSubmit, Usage};
use serde::de::DeserializeOwned;

use crate::Error;

/// How a run ended. A run that failed, was stopped or interrupted is such a result too, and no error:
/// [`into_result`](Self::into_result) makes one of it, for those who want to use `?`.
///
/// ```no_run
/// # async fn example(thread: ropewalk::Thread) -> Result<(), ropewalk::Error> {
/// let answer = thread.run("Summarise the open issues.").await?.into_result()?;
/// println!("{} ({} tokens)", answer.text(), answer.usage.output_tokens);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunResult {
    /// The run.
    pub run_id: RunId,
    /// Its branch; a new one for a fork.
    pub branch_id: BranchId,
    /// The message the input became.
    pub message_id: MessageId,
    /// The ending, with the final answer or what went wrong.
    pub outcome: RunOutcome,
    /// What its model requests cost.
    pub usage: Usage,
    /// The files it changed.
    pub change_set: Option<ChangeSet>,
}

impl RunResult {
    /// The final answer; empty when there is none.
    #[must_use]
    pub fn text(&self) -> &str {
        self.outcome.text.as_deref().unwrap_or_default()
    }

    /// The final answer as a value, for a run whose answer was asked for with
    /// [`RunRequest::output`](crate::RunRequest::output).
    ///
    /// ```no_run
    /// # async fn example(thread: ropewalk::Thread) -> Result<(), ropewalk::Error> {
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Issue {
    ///     number: u64,
    /// }
    /// let issue: Issue = thread.run("Which issue is this about?").output::<Issue>().await?.output()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::RunNotCompleted`], and [`Error::Unreadable`] when no schema was asked for, or that of another type.
    pub fn output<T: DeserializeOwned>(self) -> Result<T, Error> {
        let data = self.into_result()?.outcome.structured;
        let unreadable = |reason: String| Error::Unreadable { method: RunSubmit::NAME.to_owned(), reason };
        let data =
            data.ok_or_else(|| unreadable("the run has no answer as data; ask for it with `output`".to_owned()))?;
        serde_json::from_value(data).map_err(|error| unreadable(error.to_string()))
    }

    /// Whether the run ended well.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.outcome.status == OutcomeStatus::Completed
    }

    /// Itself if the run completed, else an error that says how it ended.
    ///
    /// # Errors
    /// [`Error::RunNotCompleted`], which carries this result.
    pub fn into_result(self) -> Result<Self, Error> {
        if self.is_completed() { Ok(self) } else { Err(Error::RunNotCompleted(Box::new(self))) }
    }

    /// A sentence about an ending that is not `completed`.
    pub(crate) fn why(&self) -> String {
        let outcome = &self.outcome;
        let reason = outcome.error.as_ref().map(|error| error.message.as_str()).or(outcome.reason.as_deref());
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        let who = outcome.by.as_ref().and_then(|by| by.client_name.as_deref());
        let who = who.map(|name| format!(" by {name}")).unwrap_or_default();
        match outcome.status {
            OutcomeStatus::Completed => "The run completed.".to_owned(),
            OutcomeStatus::Failed => format!("The run failed{reason}"),
            OutcomeStatus::Stopped => format!("The run was stopped{who}{reason}"),
            OutcomeStatus::Interrupted => format!("The run was interrupted{reason}"),
        }
    }
}
