//! An event as it arrived: read if this build knows its type, else kept as a position, so that nothing looks lost.

use std::sync::Arc;

use ropewalk_protocol::{Event, Seq, ThreadEvent, ThreadId};
use serde::Deserialize;
use serde_json::value::RawValue;

/// An event, shared by all its readers.
#[derive(Clone, Debug)]
pub(crate) struct Delivered {
    /// The position of a durable event.
    pub(crate) seq: Option<Seq>,
    /// The durable event an ephemeral one follows.
    pub(crate) after: Option<Seq>,
    /// The event; none if its type is newer than this build.
    pub(crate) event: Option<Arc<ThreadEvent>>,
    /// How many bytes it had on the wire.
    pub(crate) bytes: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    thread_id: ThreadId,
    seq: Option<Seq>,
    after: Option<Seq>,
}

impl Delivered {
    /// Reads the parameters of `thread/event`; says what is wrong when not even their position can be read.
    pub(crate) fn read(params: &RawValue) -> Result<(ThreadId, Self), serde_json::Error> {
        let bytes = params.get().len();
        match serde_json::from_str::<ThreadEvent>(params.get()) {
            Ok(event) => {
                let (seq, after) = (event.seq, event.after);
                Ok((event.thread_id.clone(), Self { seq, after, event: Some(Arc::new(event)), bytes }))
            }
            Err(error) => {
                let header: Header = serde_json::from_str(params.get())?;
                tracing::debug!(thread = %header.thread_id, seq = header.seq, %error, "an event of an unknown type");
                Ok((header.thread_id, Self { seq: header.seq, after: header.after, event: None, bytes }))
            }
        }
    }

    /// The last durable position this event tells of.
    pub(crate) fn position(&self) -> Seq {
        self.seq.or(self.after).unwrap_or(0)
    }

    /// Adds the text of the delta that follows this one directly; says whether it did.
    pub(crate) fn merge(&mut self, next: &Self) -> bool {
        let (Some(this), Some(other)) = (&mut self.event, &next.event) else { return false };
        let Event::ItemDelta { item_id: next_item, offset: next_offset, text: next_text } = &other.event else {
            return false;
        };
        let follows = self.after == next.after
            && matches!(&this.event, Event::ItemDelta { item_id, offset, text }
                if item_id == next_item && offset + text.len() as u64 == *next_offset);
        if !follows {
            return false;
        }
        if let Event::ItemDelta { text, .. } = &mut Arc::make_mut(this).event {
            text.push_str(next_text);
        }
        self.bytes += next_text.len();
        true
    }
}
