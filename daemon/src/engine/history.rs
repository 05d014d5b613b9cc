//! Reading a thread's past out of its log: events by number, and the chain of a branch from its head.

use std::{collections::VecDeque, sync::Arc};

use ropewalk_protocol::{BranchId, ErrorDetail, Event, RpcError, Seq, ThreadId};
use serde_json::value::RawValue;

use super::{Shared, live::ChainCache, storage_error};
use crate::{
    domain::{ChainMessage, ChainReader, Fact, Joined, Line, Link, Summary},
    store::{LogName, Record},
};

/// Bytes of a log read at once.
const WINDOW_BYTES: usize = 262_144;
/// How much is read at most to find the end of a row of records without events: more than the longest record has.
const WIDEST_WINDOW_BYTES: usize = 128 << 20;
/// Events before a message that its window begins with.
const WINDOW_EVENTS: Seq = 512;

/// Records of a thread, beginning with the one that has event `from`. More of them begin with the event after the last of
/// these; without any event, these are the last.
///
/// # Errors
/// `unavailable`, when the log cannot be read.
pub async fn records(shared: &Shared, id: &ThreadId, from: Seq) -> Result<Vec<Arc<Record>>, RpcError> {
    let log = LogName::Thread(id.clone());
    let mut window = WINDOW_BYTES;
    loop {
        let records = shared.store.read(&log, from, window).await.map_err(|error| storage_error(&error))?;
        // A record without events has the number of the one after it. A window that ends with such records must reach
        // further, or whoever asks for what comes next would miss that one, which may be far longer than they are.
        let ends_with_event = records.last().is_none_or(|last| !last.events.is_empty());
        if ends_with_event || window >= WIDEST_WINDOW_BYTES {
            return Ok(records);
        }
        window *= 8;
    }
}

/// The same, but nothing where the log is damaged: what is before the damage is all there is of it.
///
/// # Errors
/// As [`records`], but for damage.
pub async fn readable_records(shared: &Shared, id: &ThreadId, from: Seq) -> Result<Vec<Arc<Record>>, RpcError> {
    match records(shared, id, from).await {
        Err(error) if is_damage(&error) => Ok(Vec::new()),
        read => read,
    }
}

/// Whether something cannot be read because acknowledged records of its log are damaged.
#[must_use]
pub fn is_damage(error: &RpcError) -> bool {
    matches!(&error.data.detail, ErrorDetail::Unavailable { reason, .. } if reason == "log_damaged")
}

/// The head of a branch by what can be read of a damaged log, from its first record on: the rows know a head that stands
/// beyond the damage. Nothing when no message of it can be read.
///
/// # Errors
/// `unavailable`, when the log cannot be read for another reason.
pub async fn readable_head(shared: &Shared, id: &ThreadId, branch_id: &BranchId) -> Result<Option<Link>, RpcError> {
    let (mut head, mut next) = (None, 1);
    loop {
        let records = readable_records(shared, id, next).await?;
        let Some(last) = records.last() else { return Ok(head) };
        let reached = last.next_seq();
        for record in records.iter().filter(|record| record.n >= next) {
            for fact in record.facts.iter().filter_map(|fact| serde_json::from_str::<Fact>(fact.get()).ok()) {
                match fact {
                    Fact::Joined { branch_id: of, messages, parent } if of == *branch_id => {
                        let before = parent.map_or(0, |parent| parent.depth + 1);
                        let link = |last: &Joined| Link {
                            message_id: last.message_id.clone(),
                            n: record.n,
                            depth: before + messages.len() as u64 - 1,
                        };
                        head = messages.last().map(link).or(head);
                    }
                    Fact::Head { branch_id: of, head: moved } if of == *branch_id => head = moved,
                    Fact::Forked { branch_id: of, head: begun, .. } if of == *branch_id => head = Some(begun),
                    _ => {}
                }
            }
        }
        if reached <= next {
            return Ok(head);
        }
        next = reached;
    }
}

/// At most `limit` messages of a chain from its head on, newest first, and where to go on. The last one is its summary,
/// where it has one.
///
/// # Errors
/// `unavailable`, when the log cannot be read or does not hold what it should.
pub async fn chain(
    shared: &Shared,
    id: &ThreadId,
    line: &Line,
    limit: usize,
) -> Result<(VecDeque<(Link, ChainMessage)>, Option<Link>), RpcError> {
    chain_within(shared, id, line, limit, WINDOW_EVENTS).await
}

/// The same, looking for the first of them no further back than `reach` events at first.
pub(super) async fn chain_within(
    shared: &Shared,
    id: &ThreadId,
    line: &Line,
    limit: usize,
    mut reach: Seq,
) -> Result<(VecDeque<(Link, ChainMessage)>, Option<Link>), RpcError> {
    let mut found = VecDeque::new();
    let mut next = line.head.clone();
    while let Some(link) = next.clone() {
        if found.len() >= limit {
            break;
        }
        if let Some(covers) = line.summary.as_ref().filter(|summary| link.is_covered_by(summary)) {
            found.push_back(summary(shared, id, covers).await?);
            return Ok((found, None));
        }
        let from = link.n.saturating_sub(reach).max(1);
        let reader = window(shared, id, from, link.n).await?;
        let from = reader.needs(&link);
        let (part, rest) = reader.walk(id, &link, line.summary.as_ref(), limit - found.len());
        if part.is_empty() {
            if reach > link.n && from >= 1 {
                return Err(damaged(id, link.n));
            }
            // The message began before this window: reach further back.
            reach = (reach * 8).max(link.n.saturating_sub(from));
            continue;
        }
        found.extend(part);
        next = rest;
        reach = WINDOW_EVENTS;
    }
    Ok((found, next))
}

/// The whole chain of a branch, oldest first: what the model is asked with. `known` is a chain that was read before; only
/// what has joined since is read again.
///
/// # Errors
/// As [`chain`].
pub async fn whole_chain(
    shared: &Shared,
    id: &ThreadId,
    line: &Line,
    known: Option<ChainCache>,
) -> Result<Arc<Vec<Arc<ChainMessage>>>, RpcError> {
    let Some(head) = line.head.clone() else { return Ok(Arc::default()) };
    let since = known.filter(|known| known.head.depth <= head.depth && known.summary == line.summary);
    let missing = since.as_ref().map_or(head.depth + 1, |known| head.depth - known.head.depth);
    let missing = usize::try_from(missing).unwrap_or(usize::MAX);
    // What is missing came after what is known, and nothing before that has to be read again.
    let reach = since.as_ref().map_or(WINDOW_EVENTS, |known| head.n.saturating_sub(known.head.n).max(1));
    let (newer, below) = chain_within(shared, id, line, missing, reach).await?;
    if let Some(known) = since {
        if below.as_ref() == Some(&known.head) || missing == 0 && head == known.head {
            let mut messages = known.messages;
            Arc::make_mut(&mut messages).extend(newer.into_iter().rev().map(|(_, message)| Arc::new(message)));
            return Ok(messages);
        }
        // The head was moved elsewhere meanwhile: what is known is of another line.
        let (all, _) = chain(shared, id, line, usize::MAX).await?;
        return Ok(Arc::new(all.into_iter().rev().map(|(_, message)| Arc::new(message)).collect()));
    }
    Ok(Arc::new(newer.into_iter().rev().map(|(_, message)| Arc::new(message)).collect()))
}

async fn summary(shared: &Shared, id: &ThreadId, of: &Summary) -> Result<(Link, ChainMessage), RpcError> {
    let link = Link { message_id: of.message_id.clone(), n: of.n, depth: of.covers.depth };
    let reader = window(shared, id, of.n, of.n).await?;
    let message = reader.summary(id, of).ok_or_else(|| damaged(id, of.n))?;
    Ok((link, message))
}

async fn window(shared: &Shared, id: &ThreadId, from: Seq, to: Seq) -> Result<ChainReader, RpcError> {
    let mut reader = ChainReader::default();
    let mut next = from;
    loop {
        let records = records(shared, id, next).await?;
        let Some(last) = records.last() else { break };
        let reached = last.next_seq();
        for record in records.iter().filter(|record| record.n <= to) {
            add(&mut reader, record);
        }
        if last.n >= to || reached <= next {
            break;
        }
        next = reached;
    }
    Ok(reader)
}

fn add(reader: &mut ChainReader, record: &Record) {
    // Most events are of no interest here; looking at their first bytes saves parsing them.
    let completed = record.events.iter().filter(|event| event.get().starts_with("{\"type\":\"itemCompleted\""));
    let begins = |fact: &RawValue, name: &str| fact.get().starts_with(&format!("{{\"fact\":\"{name}\""));
    let joined = record.facts.iter().filter(|fact| begins(fact, "joined") || begins(fact, "compacted"));
    let parse = |text: &RawValue| serde_json::from_str::<Event>(text.get()).ok();
    reader.record(
        record.n,
        completed.filter_map(|event| parse(event)),
        joined.filter_map(|fact| serde_json::from_str::<Fact>(fact.get()).ok()),
    );
}

fn damaged(id: &ThreadId, n: Seq) -> RpcError {
    storage_error(&crate::store::StoreError::Read {
        what: format!("the message of thread {id} at event {n}"),
        cause: "the log does not hold it".to_owned(),
    })
}
