//! The answers of one batch, sent together when the last member has its own.

use std::sync::{Mutex, PoisonError};

use ropewalk_protocol::RequestId;

use crate::{Peer, encode, responder::After};

/// Shared by the responders of a batch; the last one to go sends the array. A batch without answers sends nothing.
pub(crate) struct Batch {
    peer: Peer,
    answers: Mutex<Answers>,
}

#[derive(Default)]
struct Answers {
    /// The array so far, without its closing bracket.
    array: Vec<u8>,
    after: After,
}

impl Batch {
    pub(crate) fn new(peer: &Peer) -> Self {
        Self { peer: peer.clone(), answers: Mutex::default() }
    }

    /// Adds an answer. One that would make the array longer than a line may be is replaced by an error.
    pub(crate) fn add(&self, id: &RequestId, answer: Vec<u8>, mut after: After) {
        let limit = self.peer.options().max_message_bytes;
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let total = answers.array.len() + answer.len() + 2;
        let opening = if answers.array.is_empty() { b'[' } else { b',' };
        answers.array.push(opening);
        if total > limit {
            let error = encode::error(id, &encode::too_large("answer", limit, total as u64));
            answers.array.extend_from_slice(&error);
        } else {
            answers.array.extend_from_slice(&answer);
        }
        answers.after.on_sent.append(&mut after.on_sent);
        answers.after.holds.append(&mut after.holds);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let answers = std::mem::take(self.answers.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !answers.array.is_empty() {
            let mut array = answers.array;
            array.push(b']');
            self.peer.send_answer(array, answers.after);
        }
    }
}
