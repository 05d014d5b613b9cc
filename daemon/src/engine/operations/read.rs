//! Reading a thread: its header, its tools, its chain, its events and what is asked.

use ropewalk_protocol::{
    BranchId, Event, EventPage, Interaction, InteractionBody, InteractionId, InteractionKind, InteractionState,
    ItemBody, MessagePage, RpcError, Run, RunId, Seq, Thread, ThreadEvent, Tool, limits::PAGE_CHARACTERS,
};

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use serde_json::Value;

use super::{attach::check_after, offer::is_able};
use crate::{
    domain::{Line, Link, OfferedAgain as _, ThreadState},
    engine::{ThreadHandle, Turn, bus::event_line, history, live::Live, run::toolbox, storage_error},
    store::LogName,
    tools::veil::is_veiled,
};

impl ThreadHandle {
    /// The header and the branches.
    ///
    /// # Errors
    /// `unavailable`.
    pub async fn read(&self) -> Result<Thread, RpcError> {
        self.look(|turn| {
            let mut thread = turn.state().thread.clone();
            thread.branches = Some(turn.state().branches.values().map(|branch| branch.branch.clone()).collect());
            Ok(thread)
        })
        .await
    }

    /// The effective tools, in the order of their flat names.
    ///
    /// # Errors
    /// `unavailable`.
    pub async fn tools(&self, schemas: bool) -> Result<Vec<Tool>, RpcError> {
        self.look(move |turn| Ok(effective_tools(turn, schemas))).await
    }

    /// Whether any client follows the thread.
    ///
    /// # Errors
    /// `unavailable`.
    pub async fn is_watched(&self) -> Result<bool, RpcError> {
        self.look(|turn| Ok(turn.live.is_watched())).await
    }

    /// The interactions that are open, with arguments, oldest first.
    ///
    /// # Errors
    /// `unavailable`.
    pub async fn open_interactions(&self) -> Result<Vec<Interaction>, RpcError> {
        self.look(|turn| {
            let open = turn.state().interactions.values();
            Ok(open.map(|open| with_arguments(turn.live, turn.state(), open)).collect())
        })
        .await
    }

    /// The interactions that are settled, oldest first, read from the log.
    ///
    /// # Errors
    /// `unavailable`, when the log cannot be read.
    pub async fn settled_interactions(&self) -> Result<Vec<Interaction>, RpcError> {
        let mut open: BTreeMap<InteractionId, Interaction> = BTreeMap::new();
        let mut settled = Vec::new();
        let mut next = 1;
        loop {
            let records = history::readable_records(self.shared(), self.id(), next).await?;
            let Some(last) = records.last() else { return Ok(settled) };
            next = last.next_seq().max(next + 1);
            for record in records {
                for event in record.events.iter().filter(|event| event.get().starts_with("{\"type\":\"interaction")) {
                    match serde_json::from_str(event.get()).map_err(|error| unreadable(&error))? {
                        Event::InteractionOpened { interaction } => {
                            open.insert(interaction.interaction_id.clone(), interaction);
                        }
                        Event::InteractionSettled { interaction_id, outcome, by, answer } => {
                            let Some(mut interaction) = open.remove(&interaction_id) else { continue };
                            interaction.state = InteractionState::Settled;
                            interaction.outcome = Some(outcome);
                            interaction.by = Some(by);
                            interaction.answer = answer;
                            interaction.settled_at = Some(record.at);
                            settled.push(interaction);
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// A run under way or waiting in a queue; `None` when it has ended. With the thread's last event.
    ///
    /// # Errors
    /// `unavailable`.
    pub async fn run_now(&self, run_id: RunId) -> Result<(Option<Run>, Seq), RpcError> {
        self.look(move |turn| {
            let run = turn.state().runs.get(&run_id).map(|state| shown_run(turn.live, turn.state(), &state.run));
            Ok((run, turn.change.seq()))
        })
        .await
    }

    /// Resolves when the thread has more durable events than `seq`.
    ///
    /// # Errors
    /// `unavailable`.
    pub async fn after(&self, seq: Seq) -> Result<(), RpcError> {
        let mut durable = self.look(|turn| Ok(turn.live.durable_seq.subscribe())).await?;
        // The sender lives as long as the thread is awake, which this handle sees to.
        let _ = durable.wait_for(|now| *now > seq).await;
        Ok(())
    }

    /// A page of a branch's chain, from `from` or its head on, newest first.
    ///
    /// # Errors
    /// `notFound` for an unknown branch, `unavailable`.
    pub async fn messages(
        &self,
        branch_id: BranchId,
        from: Option<Link>,
        limit: usize,
    ) -> Result<(MessagePage, Option<Link>), RpcError> {
        let wanted = branch_id.clone();
        let (line, seq) = self
            .look(move |turn| {
                let branch =
                    turn.state().branches.get(&branch_id).ok_or_else(|| RpcError::not_found("branch", &branch_id))?;
                Ok((branch.line(), turn.change.seq()))
            })
            .await?;
        let line = Line { head: from.or(line.head), summary: line.summary };
        let (messages, mut next) = match history::chain(self.shared(), self.id(), &line, limit).await {
            // What stands before the damage is shown, without a summary that may stand beyond it.
            Err(error) if history::is_damage(&error) => {
                let head = history::readable_head(self.shared(), self.id(), &wanted).await?;
                history::chain(self.shared(), self.id(), &Line { head, summary: None }, limit).await?
            }
            chain => chain?,
        };
        let mut items = Vec::new();
        let mut characters = 0_u64;
        for (link, found) in messages {
            let size = serde_json::to_string(&found.message).map_or(0, |text| text.len() as u64);
            if !items.is_empty() && characters + size > PAGE_CHARACTERS {
                next = Some(link);
                break;
            }
            characters += size;
            items.push(found.message);
        }
        Ok((MessagePage { items, next_cursor: None, seq }, next))
    }

    /// Lines of the durable events `from` to `last`, about `max_bytes` of them, and the last event they have.
    ///
    /// # Errors
    /// `unavailable`, when the log cannot be read.
    pub async fn event_lines(&self, from: Seq, last: Seq, max_bytes: usize) -> Result<(Bytes, Seq), RpcError> {
        let mut chunk = BytesMut::new();
        let mut reached = from.saturating_sub(1);
        for record in history::records(self.shared(), self.id(), from).await? {
            for (event, seq) in record.events.iter().zip(record.n..) {
                if seq < from || seq > last || chunk.len() >= max_bytes {
                    continue;
                }
                chunk.extend_from_slice(&event_line(self.id(), "seq", seq, record.at, event.get()));
                reached = seq;
            }
        }
        Ok((chunk.freeze(), reached))
    }

    /// Durable events after one, at most `limit` of them.
    ///
    /// # Errors
    /// `invalidParams {reason: after_the_end}`, `unavailable`: where the log is damaged also behind the last event that can
    /// be read.
    pub async fn events(&self, after: Seq, limit: usize) -> Result<EventPage, RpcError> {
        let last = self
            .look(move |turn| {
                check_after(turn, Some(after))?;
                Ok(turn.change.seq())
            })
            .await?;
        let mut events: Vec<ThreadEvent> = Vec::new();
        let mut characters = 0_u64;
        if after < last {
            let records = history::records(self.shared(), self.id(), after + 1).await?;
            let numbered = records.iter().flat_map(|record| {
                let events = record.events.iter().zip(record.n..);
                events.map(move |(event, seq)| (record.at, event, seq))
            });
            for (at, event, seq) in numbered.filter(|(_, _, seq)| (after + 1..=last).contains(seq)) {
                characters += event.get().len() as u64;
                if events.len() >= limit || !events.is_empty() && characters > PAGE_CHARACTERS {
                    break;
                }
                let event = serde_json::from_str(event.get()).map_err(|error| unreadable(&error))?;
                events.push(ThreadEvent { thread_id: self.id().clone(), seq: Some(seq), after: None, at, event });
            }
        }
        // Whoever has read all that can be read is told that there was more.
        let damage =
            events.is_empty().then(|| self.shared().store.damage(&LogName::Thread(self.id().clone()))).flatten();
        if let Some(error) = damage {
            return Err(storage_error(&error));
        }
        let next_after = events.last().and_then(|event| event.seq).unwrap_or(after);
        Ok(EventPage { events, next_after })
    }
}

/// The thread's tools as rules and presence make them now.
pub fn effective_tools(turn: &Turn<'_>, schemas: bool) -> Vec<Tool> {
    toolbox::of_turn(turn).show(schemas)
}

/// An open interaction as it is listed: its request with the arguments.
fn with_arguments(live: &Live, state: &ThreadState, open: &Interaction) -> Interaction {
    let mut shown = open.clone();
    if let Some(wait) = live.waits.get(&open.interaction_id) {
        shown.body = wait.body.clone();
        shown.offered_again(open.attempt);
        // Secrets reach the client that carries the call out, and no list.
        if let InteractionBody::ToolCall(request) = &mut shown.body
            && let Some(veiled) = veiled_arguments(state, open)
        {
            request.arguments = Some(veiled);
        }
    }
    shown
}

/// The arguments of an open call as its item shows them, where they had secrets.
fn veiled_arguments(state: &ThreadState, open: &Interaction) -> Option<Value> {
    let call = state.call(&open.run_id, &open.call_id)?;
    let (_, item) = state.runs.get(&open.run_id)?.open_items.get(&call.call.item_id)?;
    match &item.body {
        ItemBody::ToolCall(item) if is_veiled(&item.arguments.to_string()) => Some(item.arguments.clone()),
        _ => None,
    }
}

/// A run under way as it is shown: who could answer what it waits for and until when are as of this moment (ruling 11).
pub fn shown_run(live: &Live, state: &ThreadState, run: &Run) -> Run {
    let mut shown = run.clone();
    let Some(waiting) = &mut shown.waiting_on else { return shown };
    let Some(open) = waiting.interaction_id.as_ref().and_then(|id| state.interactions.get(id)) else { return shown };
    let kind = open.body.kind();
    waiting.can_answer = if kind == InteractionKind::ToolCall {
        open.offered_to.iter().filter(|owner| live.holder(owner).is_some()).cloned().collect()
    } else {
        live.can_answer(&open.interaction_id, |capabilities| is_able(kind, capabilities))
    };
    let life = live.waits.get(&open.interaction_id).map(|wait| *wait.life.borrow());
    let silent_at = life.zip(open.silence_ms).map(|(life, silence_ms)| life.plus_millis(silence_ms));
    waiting.deadline_at = silent_at.into_iter().chain(open.expires_at).min();
    shown
}

pub(super) fn unreadable(error: &serde_json::Error) -> RpcError {
    super::super::storage_error(&crate::store::StoreError::Read {
        what: "an event".to_owned(),
        cause: error.to_string(),
    })
}
