//! Answers that came whole and are not enough: cut by the output limit, or without a word.

use ropewalk_protocol::{RunErrorKind, RunId};

use super::{
    party::Party,
    report::{Over, Reporter},
    step::Stepped,
};
use crate::{
    domain::CallEnd,
    engine::Turn,
    models::{ModelAnswer, ModelError},
    tools::{
        CallFailure,
        path::{self, ModelToolCall},
    },
};

/// Answers in a row whose calls may be cut off before the run fails. The model is told of each but the last.
const CUT_ANSWERS: u32 = 3;
/// Empty answers in a row before the run fails. The model is asked for a word after each but the last.
const EMPTY_ANSWERS: u32 = 3;
/// What the note after an empty answer is for, in its sender.
const EMPTY_ANSWER: &str = "emptyAnswer";
/// The note itself. An empty answer often means that the work is done, and then a sentence is what the user waits for.
const ASK_FOR_A_WORD: &str =
    "Your answer was empty. If the work is done, say so in a sentence; otherwise go on with it.";

/// What a person can do about the output limit.
const RAISE_THE_LIMIT: &str = "Ask for less at once, or raise maxOutputTokens of the endpoint.";

/// What is missing from an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Whether its calls are all there and whole is unknown, so that none can be made.
    WholeCalls,
    /// The end of its text.
    EndOfText,
    /// Anything for the user or the tools.
    Anything,
}

/// How many answers in a row were not enough.
#[derive(Default)]
pub struct Shortfalls {
    cut: u32,
    empty: u32,
}

impl Shortfalls {
    /// What is missing from this answer. `is_certain`: its model says the same whatever it is told, so that its silence
    /// is its answer.
    pub fn of(&mut self, answer: &ModelAnswer, is_certain: bool) -> Option<Lack> {
        let is_silent = answer.calls.is_empty() && answer.text.trim().is_empty();
        let lack = match (answer.is_cut, answer.calls.is_empty()) {
            (true, true) => Some(Lack::EndOfText),
            (true, false) => Some(Lack::WholeCalls),
            (false, _) => (is_silent && !is_certain).then_some(Lack::Anything),
        };
        match lack {
            Some(Lack::WholeCalls) => self.cut += 1,
            Some(Lack::Anything) => self.empty += 1,
            Some(Lack::EndOfText) => {}
            None => *self = Self::default(),
        }
        lack
    }

    /// What the run fails with, if this is where it fails.
    fn end(&self, lack: Lack) -> Option<ModelError> {
        let (kind, message) = match lack {
            Lack::EndOfText => {
                let message =
                    format!("The model's output limit cut off its answer; what it said is kept. {RAISE_THE_LIMIT}");
                (RunErrorKind::CutOff, message)
            }
            Lack::WholeCalls if self.cut >= CUT_ANSWERS => {
                let times = self.cut;
                let message = format!(
                    "{times} answers in a row were cut off by the model's output limit within their calls. None of these calls was made, and each time the model was told to do less in one answer. {RAISE_THE_LIMIT}"
                );
                (RunErrorKind::CutOff, message)
            }
            Lack::Anything if self.empty >= EMPTY_ANSWERS => {
                let (times, asked) = (self.empty, self.empty - 1);
                let message = format!(
                    "The model gave {times} empty answers in a row; after {asked} of them it was asked to say something."
                );
                (RunErrorKind::BadResponse, message)
            }
            Lack::WholeCalls | Lack::Anything => return None,
        };
        Some(ModelError { retryable: false, ..ModelError::new(kind, message) })
    }

    /// Stores such an answer by `store`, and either tells the model what it lacks or ends the run. `calls` are those of
    /// the answer; each gets its result here.
    pub async fn settle(
        &self,
        reporter: &Reporter,
        lack: Lack,
        calls: Vec<ModelToolCall>,
        party: &Party,
        store: impl FnOnce(&mut Turn<'_>, &RunId) + Send + 'static,
    ) -> Result<Stepped, Over> {
        let outcome = self.end(lack).map(|error| party.outcome(error));
        let stepped = if outcome.is_some() { Stepped::Ended } else { Stepped::Again };
        reporter
            .report(move |turn, run_id| {
                store(turn, run_id);
                for call in calls {
                    turn.change.complete_call(run_id, &call.call_id, not_made(&call));
                }
                match outcome {
                    Some(outcome) => turn.finish_run(run_id, outcome),
                    None if lack == Lack::Anything => {
                        turn.change.note(run_id, EMPTY_ANSWER, ASK_FOR_A_WORD.to_owned());
                    }
                    None => {}
                }
            })
            .await?;
        Ok(stepped)
    }
}

fn not_made(call: &ModelToolCall) -> CallEnd {
    CallEnd { summary: Some(call.name.clone()), ..path::failed(&call.name, &CallFailure::AnswerCut) }
}
