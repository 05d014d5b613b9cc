//! Submitting in the modes that name a message: a fork follows it, a replacement takes its place.

use std::collections::BTreeMap;

use ropewalk_protocol::{BranchId, MessageId, Role, RpcError, RunSubmitted, Seq};

use super::{
    branch_refusals::{inside_a_batch, not_a_user_message, not_in_chain, refused, unknown_message},
    queue::check_room,
    submit::answer,
};
use crate::{
    catalogue::Operation,
    domain::{BranchError, DomainError, Fork, Link, Place, PlaceSearch, Replaced, Submission, Summary},
    engine::{ThreadHandle, Turn, places},
};

/// How often a message is looked for again, because branches were moved or deleted while it was.
const SEARCHES: usize = 8;

/// A fork to make, checked.
#[derive(Clone)]
pub struct ForkRequest {
    /// The input; its branch is the one the fork is made from.
    pub submission: Submission,
    /// The message it follows; the head of the branch if none is named.
    pub message_id: Option<MessageId>,
    /// The title of the new branch.
    pub title: Option<String>,
    /// The operation.
    pub operation: Option<Operation>,
}

/// A replacement to make, checked.
#[derive(Clone)]
pub struct ReplaceRequest {
    /// The input.
    pub submission: Submission,
    /// The message it takes the place of.
    pub message_id: MessageId,
    /// The operation.
    pub operation: Option<Operation>,
}

/// Where a fork begins.
struct Point {
    parent: BranchId,
    head: Option<Link>,
    summary: Option<Summary>,
}

/// What is known of a message before the log is read.
enum Known {
    /// Where a fork of it begins.
    Point(Point),
    /// Nothing yet: it has to be looked for.
    Sought(Sought),
}

/// A search that is to be made, and what its result is worth something for.
struct Sought {
    search: PlaceSearch,
    last: Seq,
    /// The branches as they were. While a revision is the same, a message has not left the chain.
    revisions: BTreeMap<BranchId, u64>,
}

/// A message that was found.
struct Found {
    place: Place,
    revisions: BTreeMap<BranchId, u64>,
}

impl ThreadHandle {
    /// Makes a branch at a message of any branch, and begins a run on it.
    ///
    /// # Errors
    /// `notFound` for an unknown branch or message, `invalidParams {reason: inside_a_batch}`, `overloaded` for a thread with
    /// too many branches, `unavailable`.
    pub async fn fork(&self, request: ForkRequest) -> Result<RunSubmitted, RpcError> {
        for _ in 0..SEARCHES {
            let (named, message_id) = (request.submission.branch_id.clone(), request.message_id.clone());
            let known = self.turn(move |turn| known(turn, &named, message_id.as_ref())).await?;
            let found = match known {
                Known::Point(point) => Err(point),
                Known::Sought(sought) => Ok(self.look_for(sought, request.message_id.as_ref()).await?),
            };
            let attempt = request.clone();
            if let Some(answer) = self.turn(move |turn| fork_at(turn, found, attempt)).await? {
                return Ok(answer);
            }
        }
        Err(restless())
    }

    /// Stores an input that takes the place of a message of its branch.
    ///
    /// # Errors
    /// `notFound` for an unknown branch or message, `conflict` with the branch as `current` for a message that is not in its
    /// chain (any more), `invalidParams {reason: not_a_user_message}`, `overloaded`, `unavailable`.
    pub async fn replace(&self, request: ReplaceRequest) -> Result<RunSubmitted, RpcError> {
        for _ in 0..SEARCHES {
            let (branch_id, message_id) = (request.submission.branch_id.clone(), request.message_id.clone());
            let sought = self
                .turn(move |turn| {
                    known_branch(turn, &branch_id)?;
                    if is_open(turn, &message_id) || summary_of(turn, &branch_id, &message_id).is_some() {
                        return Err(not_a_user_message(&message_id));
                    }
                    let Sought { search, last, revisions } = sought(turn, &message_id);
                    Ok(Sought { search: search.in_chain_of(branch_id), last, revisions })
                })
                .await?;
            let found = self.look_for(sought, Some(&request.message_id)).await?;
            let attempt = request.clone();
            if let Some(answer) = self.turn(move |turn| replace_at(turn, &found, attempt)).await? {
                return Ok(answer);
            }
        }
        Err(restless())
    }

    async fn look_for(&self, sought: Sought, message_id: Option<&MessageId>) -> Result<Found, RpcError> {
        let Sought { search, last, revisions } = sought;
        let place = places::find(self.shared(), self.id(), search, last).await?;
        let place = place.ok_or_else(|| unknown_message(message_id.map_or("", |id| id.as_str())))?;
        Ok(Found { place, revisions })
    }
}

fn known(turn: &Turn<'_>, named: &BranchId, message_id: Option<&MessageId>) -> Result<Known, RpcError> {
    let branch = known_branch(turn, named)?;
    let head = branch.head.clone();
    let Some(message_id) = message_id.filter(|id| head.as_ref().is_none_or(|head| head.message_id != **id)) else {
        return Ok(Known::Point(Point { parent: named.clone(), head, summary: branch.summary.clone() }));
    };
    if is_open(turn, message_id) {
        return Err(inside_a_batch(message_id));
    }
    // What follows a summary follows the newest message it stands for.
    if let Some((parent, summary)) = summary_of(turn, named, message_id) {
        return Ok(Known::Point(Point { parent, head: Some(summary.covers.clone()), summary: Some(summary) }));
    }
    Ok(Known::Sought(sought(turn, message_id)))
}

fn sought(turn: &Turn<'_>, message_id: &MessageId) -> Sought {
    let branches = &turn.state().branches;
    let heads = branches.iter().filter_map(|(id, branch)| Some((id.clone(), branch.head.clone()?)));
    Sought {
        search: PlaceSearch::new(message_id.clone(), heads),
        last: turn.change.seq(),
        revisions: branches.iter().map(|(id, branch)| (id.clone(), branch.branch.revision)).collect(),
    }
}

/// Makes the fork, unless the message has to be looked for again.
fn fork_at(
    turn: &mut Turn<'_>,
    found: Result<Found, Point>,
    request: ForkRequest,
) -> Result<Option<RunSubmitted>, RpcError> {
    let ForkRequest { submission, title, operation, .. } = request;
    let point = match found {
        Err(point) => point,
        Ok(found) if found.place.is_inside_batch => return Err(inside_a_batch(&found.place.link.message_id)),
        Ok(found) if found.has_moved(turn) => return Ok(None),
        Ok(found) => point_of(turn, &submission.branch_id, found.place)?,
    };
    let Point { parent, head, summary } = point;
    let header = turn.state().thread.clone();
    match turn.change.fork(Fork { parent, head, summary, title, submission }) {
        Ok((branch_id, submitted)) => answer(turn, operation, branch_id, submitted).map(Some),
        Err(BranchError::Refused(DomainError::NoBranch(_))) => Ok(None),
        Err(error) => Err(refused(error, &header)),
    }
}

/// Stores the replacement, unless the message has to be looked for again.
fn replace_at(turn: &mut Turn<'_>, found: &Found, request: ReplaceRequest) -> Result<Option<RunSubmitted>, RpcError> {
    let ReplaceRequest { submission, message_id, operation } = request;
    let branch_id = submission.branch_id.clone();
    let branch = known_branch(turn, &branch_id)?.branch.clone();
    let Some(revision) = found.revisions.get(&branch_id).filter(|_| found.place.branches.contains(&branch_id)) else {
        return Err(not_in_chain(&message_id, branch));
    };
    if found.place.role != Role::User {
        return Err(not_a_user_message(&message_id));
    }
    check_room(turn, &branch_id, &submission.input)?;
    let header = turn.state().thread.clone();
    let replaced = Replaced { message: found.place.link.clone(), parent: found.place.parent.clone(), is_gone: false };
    match turn.change.replace(submission, replaced, *revision) {
        Ok(submitted) => answer(turn, operation, branch_id, submitted).map(Some),
        Err(BranchError::Revision(_)) => Ok(None),
        Err(BranchError::NotInChain(branch)) => Err(not_in_chain(&message_id, *branch)),
        Err(error) => Err(refused(error, &header)),
    }
}

impl Found {
    /// Whether a branch that had the message in its chain has been moved or deleted since.
    fn has_moved(&self, turn: &Turn<'_>) -> bool {
        let revision = |id: &BranchId| turn.state().branches.get(id).map(|branch| branch.branch.revision);
        self.place.branches.iter().any(|id| revision(id) != self.revisions.get(id).copied())
    }
}

/// Where a fork of a message begins. It is made from the branch that was named, where that has the message in its chain,
/// else from the one it was written on, else from one that has it.
fn point_of(turn: &Turn<'_>, named: &BranchId, place: Place) -> Result<Point, RpcError> {
    let branches = &turn.state().branches;
    let holders = || place.branches.iter().filter(|id| *id != named);
    let of_named = place.branches.get(named);
    let of_writer = Some(&place.written_on).filter(|id| branches.contains_key(*id));
    let parent = of_named.or(of_writer).or_else(|| holders().next()).cloned();
    let parent = parent.ok_or_else(|| unknown_message(&place.link.message_id))?;
    let summaries = of_named.into_iter().chain(holders()).filter_map(|id| branches.get(id)?.summary.as_ref());
    let summary = summaries.into_iter().find(|summary| summary.covers.depth <= place.link.depth).cloned();
    Ok(Point { parent, head: Some(place.link), summary })
}

fn known_branch<'a>(turn: &'a Turn<'_>, id: &BranchId) -> Result<&'a crate::domain::BranchState, RpcError> {
    turn.state().branches.get(id).ok_or_else(|| RpcError::not_found("branch", id))
}

/// Whether a message is part of a batch whose calls are being worked off: it is in no chain yet.
fn is_open(turn: &Turn<'_>, id: &MessageId) -> bool {
    let mut batches = turn.state().runs.values().filter_map(|run| run.batch.as_ref());
    batches.any(|batch| batch.message_id == *id || batch.calls.iter().any(|call| call.call.message_id == *id))
}

/// The summary that is this message, and a branch that begins with it.
fn summary_of(turn: &Turn<'_>, named: &BranchId, id: &MessageId) -> Option<(BranchId, Summary)> {
    let branches = &turn.state().branches;
    let mut candidates = branches.get_key_value(named).into_iter().chain(branches);
    candidates.find_map(|(branch_id, branch)| {
        let summary = branch.summary.as_ref().filter(|summary| summary.message_id == *id)?;
        Some((branch_id.clone(), summary.clone()))
    })
}

/// Others have moved branches each time the message was found.
fn restless() -> RpcError {
    let detail = ropewalk_protocol::ErrorDetail::Conflict { current_revision: None, current: None };
    let message = "The branches of this thread were moved again and again while the message was looked for. Nothing was \
                   submitted. Repeat it in a moment.";
    RpcError::retryable(detail, message, Some(100))
}
