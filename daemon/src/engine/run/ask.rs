//! Asking the model once, and showing what it says as it streams.

use futures::StreamExt;
use ropewalk_protocol::{ItemId, MessageId, RunErrorKind};

use super::{
    report::{Over, Reporter},
    request::{self, Plan},
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

/// Asks the model, and shows what it says.
pub async fn ask(
    reporter: &Reporter,
    plan: Plan,
    texts: &mut Texts<'_>,
) -> Result<Result<ModelAnswer, ModelError>, Over> {
    let request = match request::request(reporter, plan).await {
        Ok(request) => request,
        Err(error) => return Ok(Err(error)),
    };
    let (model, request) = request;
    let mut stream = model.stream(request).ready_chunks(EVENTS_AT_ONCE);
    while let Some(events) = stream.next().await {
        for event in events {
            match event {
                Ok(ModelEvent::Text(text)) => texts.add(false, text),
                Ok(ModelEvent::Reasoning(text)) => texts.add(true, text),
                Ok(ModelEvent::Finished(answer)) => {
                    texts.flush().await;
                    let is_over = texts.is_full || answer.text.len() + answer.reasoning.len() > ANSWER_TEXT_BYTES;
                    return Ok(if is_over { Err(endless(ANSWER_TEXT_BYTES, "text")) } else { Ok(answer) });
                }
                Err(error) => {
                    texts.flush().await;
                    return Ok(Err(error));
                }
            }
        }
        texts.flush().await;
        if texts.is_full {
            return Ok(Err(endless(ANSWER_TEXT_BYTES, "text")));
        }
    }
    let message = "The model's answer ended before it was complete.".to_owned();
    Ok(Err(ModelError { kind: RunErrorKind::CutOff, message, retryable: true, retry_after_ms: None }))
}
/// An answer that is dropped because it does not end, or not soon enough.
pub fn endless(limit: usize, what: &str) -> ModelError {
    let message = format!("The model's answer has more than {limit} bytes of {what}; no more of it was taken.");
    ModelError { kind: RunErrorKind::BadResponse, message, retryable: true, retry_after_ms: None }
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
