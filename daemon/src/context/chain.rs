//! Where a chain may be cut: before a message that is no result, so that calls and results stay together.

use std::sync::Arc;

use ropewalk_protocol::{MessageId, Role};

use crate::domain::{Carried, ChainMessage, carried_request};

/// How many of the oldest messages have to go so that the rest has at most `room` tokens; all of them where not even the
/// newest ones fit. `tokens` has those of each message.
#[must_use]
pub fn surplus(messages: &[Arc<ChainMessage>], tokens: &[u64], room: u64) -> usize {
    let mut left = 0;
    let mut first_kept = messages.len();
    for (place, (message, tokens)) in messages.iter().zip(tokens).enumerate().rev() {
        left += tokens;
        if left > room {
            break;
        }
        if message.message.role != Role::Tool && !message.message.summary {
            first_kept = place;
        }
    }
    first_kept
}

/// Where the calls begin whose results the model has not seen yet; the end of the chain where there are none.
#[must_use]
pub fn unseen(messages: &[Arc<ChainMessage>]) -> usize {
    let role = |place: usize| messages.get(place).map(|chained| chained.message.role);
    let newest = messages.iter().rposition(|chained| chained.message.role == Role::Assistant);
    newest.filter(|place| role(place + 1) == Some(Role::Tool)).unwrap_or(messages.len())
}

/// The same cut or a later one, at the beginning of a turn, as long as the request at `request` stays.
#[must_use]
pub fn at_a_turn(messages: &[Arc<ChainMessage>], cut: usize, request: usize) -> usize {
    let begins = |place: &usize| messages[*place].message.role == Role::User;
    (cut..=request).find(begins).unwrap_or(cut)
}

/// What the summary of the first `cut` messages has to carry of the request that a run works on: nothing, if its message
/// stays.
#[must_use]
pub fn carried(messages: &[Arc<ChainMessage>], cut: usize, request: &MessageId) -> Option<Carried> {
    let place = messages.iter().position(|chained| chained.message.message_id == *request);
    let answers = |from: usize| {
        let covered = messages[from..cut].iter();
        covered.filter(|chained| chained.message.role == Role::Assistant).count() as u64
    };
    match place {
        Some(place) if place >= cut => None,
        Some(place) => {
            let texts = messages[place].message.content.iter().filter_map(ropewalk_protocol::Part::as_text);
            let text = texts.collect::<Vec<_>>().join("\n");
            Some(Carried { text, answers: answers(place) })
        }
        // It was among what an earlier summary covers.
        None => {
            let summary = messages.first().filter(|first| first.message.summary)?;
            let before = carried_request(summary.message.content.first()?.as_text()?)?;
            Some(Carried { answers: before.answers + answers(1.min(cut)), ..before })
        }
    }
}
