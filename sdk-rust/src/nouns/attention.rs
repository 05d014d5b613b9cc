//! What waits for the person, over all threads.

use super::{noun, verbs};

noun! {
    /// What waits for the person.
    Attentions
}

impl Attentions {
    verbs! {
        /// What waits, thread by thread: each once, until it is over or was seen.
        list = AttentionList;
        /// Says that the person has seen something that waits.
        seen = AttentionSeen;
    }
}
