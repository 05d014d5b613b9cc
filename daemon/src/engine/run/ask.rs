//! Asking the model once, and showing what it says as it streams.

use futures::{StreamExt, future::BoxFuture};
use ropewalk_protocol::{ItemId, MessageId, RunErrorKind};

use super::{
    report::Reporter,
    request::{self, Plan},
    retry::{Failure, STEP_CEILING},
};
use crate::{
    domain::World as _,
    models::{ModelAnswer, ModelError, ModelEvent},
};

/// Model events taken together when they are there already, so that a fast model costs few jobs.
const EVENTS_AT_ONCE: usize = 256;
/// Bytes of text and reasoning of one answer, far more than any model gives. Even if each of them has to be escaped, the
/// item fits in a line of the wire.
const ANSWER_TEXT_BYTES: usize = 2 << 20;

/// What the model said, whole.
pub struct Heard {
    /// Its answer.
    pub answer: ModelAnswer,
    /// Whether it says the same whenever it is asked the same.
    pub is_certain: bool,
}

/// Asks the model, and shows what it says. `ceiling` ends when no answer is worth waiting for any more.
pub async fn ask(
    reporter: &Reporter,
    plan: Plan,
    texts: &mut Texts<'_>,
    ceiling: &mut BoxFuture<'static, ()>,
) -> Result<Heard, Failure> {
    let asked = request::request(reporter, plan).await;
    let (model, request) = asked.map_err(|error| Failure { error, is_final: false })?;
    let is_certain = model.is_deterministic();
    let failure = |error| Failure { error, is_final: is_certain };
    let mut stream = model.stream(request).ready_chunks(EVENTS_AT_ONCE);
    loop {
        let events = tokio::select! {
            biased;
            () = &mut *ceiling => return Err(Failure { error: unending(), is_final: true }),
            events = stream.next() => events,
        };
        let Some(events) = events else { return Err(failure(cut_off())) };
        for event in events {
            match event {
                Ok(ModelEvent::Text(text)) => texts.add(false, text),
                Ok(ModelEvent::Reasoning(text)) => texts.add(true, text),
                Ok(ModelEvent::Finished(answer)) => {
                    texts.flush().await;
                    let is_over = texts.is_full || answer.text.len() + answer.reasoning.len() > ANSWER_TEXT_BYTES;
                    return if is_over { Err(too_much()) } else { Ok(Heard { answer, is_certain }) };
                }
                Err(error) => {
                    texts.flush().await;
                    return Err(failure(error));
                }
            }
        }
        texts.flush().await;
        if texts.is_full {
            return Err(too_much());
        }
    }
}

/// The stream ended without its last event.
fn cut_off() -> ModelError {
    ModelError::new(RunErrorKind::CutOff, "The model's answer ended before it was complete.")
}

/// The answer trickled until the step had taken as long as it may.
fn unending() -> ModelError {
    let minutes = STEP_CEILING.as_secs() / 60;
    let message = format!("The model's answer was not complete after {minutes} minutes; no more of it was taken.");
    ModelError::new(RunErrorKind::Stalled, message)
}

/// An answer that ran away once is not paid for five times.
fn too_much() -> Failure {
    Failure { error: endless(ANSWER_TEXT_BYTES, "text"), is_final: true }
}

/// An answer that is dropped because it does not end, or not soon enough.
pub fn endless(limit: usize, what: &str) -> ModelError {
    let message = format!("The model's answer has more than {limit} bytes of {what}; no more of it was taken.");
    ModelError::new(RunErrorKind::BadResponse, message)
}

/// The texts of one answer as they stream.
pub struct Texts<'a> {
    reporter: &'a Reporter,
    /// The message the texts belong to.
    pub message_id: MessageId,
    /// The item of the text, once it has begun.
    pub text: Option<ItemId>,
    /// The item of the reasoning, once it has begun.
    pub reasoning: Option<ItemId>,
    pending: Vec<(bool, String)>,
    /// How much there was in all.
    bytes: usize,
    /// Whether there was more than an answer may have, and the rest was dropped.
    is_full: bool,
}

impl<'a> Texts<'a> {
    /// Nothing has been said yet.
    pub fn new(reporter: &'a Reporter) -> Self {
        let message_id = reporter.shared().next_id().into();
        Self { reporter, message_id, text: None, reasoning: None, pending: Vec::new(), bytes: 0, is_full: false }
    }

    /// Whether the model has said something.
    pub const fn has_begun(&self) -> bool {
        self.text.is_some() || self.reasoning.is_some()
    }

    fn add(&mut self, reasoning: bool, mut text: String) {
        let room = ANSWER_TEXT_BYTES - self.bytes;
        if text.len() > room {
            text.truncate(text.floor_char_boundary(room));
            self.is_full = true;
        }
        self.bytes += text.len();
        match self.pending.last_mut() {
            Some((kind, so_far)) if *kind == reasoning => so_far.push_str(&text),
            _ => self.pending.push((reasoning, text)),
        }
    }

    async fn flush(&mut self) {
        for (reasoning, text) in std::mem::take(&mut self.pending) {
            let slot = if reasoning { &mut self.reasoning } else { &mut self.text };
            let begins = slot.is_none();
            let item_id = slot.get_or_insert_with(|| self.reporter.shared().next_id().into()).clone();
            let message_id = self.message_id.clone();
            self.reporter
                .post(move |turn, run_id| {
                    if begins {
                        turn.change.text_started(run_id, &item_id, &message_id, reasoning);
                    }
                    turn.delta(&item_id, text);
                })
                .await;
        }
    }
}
