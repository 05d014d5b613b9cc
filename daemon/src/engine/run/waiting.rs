//! Waiting for an interaction to be settled: by an answer, a deadline, a rule, or because nobody could answer.

use std::time::Duration;

use ropewalk_protocol::{
    By, ByKind, ClientRef, Interaction, InteractionBody, InteractionId, InteractionKind, Outcome, RunId, Timestamp,
    Unattended, WaitingKind, WaitingOn,
};
use tokio::sync::{oneshot, watch};

use super::{
    passing::{Holding, holding, was_sent},
    report::{Over, Reporter},
};
use crate::{
    domain::Opening,
    engine::{
        Turn,
        live::{Claim, Wait},
        operations::is_able,
    },
    tools::ToolSpec,
};

/// An interaction somebody waits for.
pub struct Waiting {
    /// Which.
    pub id: InteractionId,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// When it was opened.
    pub opened_at: Timestamp,
    kind: InteractionKind,
    settled: oneshot::Receiver<Claim>,
    life: watch::Receiver<Timestamp>,
    attendance: watch::Receiver<u64>,
}

/// Makes what is asked, once the id of the interaction and its deadline are known.
pub type MakesBody = Box<dyn FnOnce(&InteractionId, Option<Timestamp>) -> InteractionBody + Send>;

/// An interaction to open for a call, or to take up again after the daemon has died.
pub struct Asking {
    /// Its id, if it is opened now.
    pub id: InteractionId,
    /// What is asked, with its arguments.
    pub body: MakesBody,
    /// Its kind.
    pub kind: InteractionKind,
    /// The call.
    pub call_id: ropewalk_protocol::CallId,
    /// Who is offered it; for a question or approval whoever is attached.
    pub owner: Option<ClientRef>,
    /// How long it may stay open.
    pub lifetime_ms: Option<u64>,
    /// How long a tool call may be silent.
    pub silence_ms: Option<u64>,
}

/// Opens an interaction in the run's next record, or takes up the one the call has open already.
pub async fn open(reporter: &Reporter, asking: Asking) -> Result<Waiting, Over> {
    reporter.report(move |turn, run_id| open_in(turn, run_id, asking)).await
}

fn open_in(turn: &mut Turn<'_>, run_id: &RunId, asking: Asking) -> Waiting {
    let (sender, settled) = oneshot::channel();
    let existing = taken_up(turn, &asking);
    let is_new = existing.is_none();
    let (id, expires_at, opened_at) = existing
        .unwrap_or_else(|| (asking.id.clone(), asking.lifetime_ms.map(|ms| turn.at().plus_millis(ms)), turn.at()));
    let body = (asking.body)(&id, expires_at);
    let life = watch::Sender::new(turn.at());
    let (life_of, attendance) = (life.subscribe(), turn.live.attendance.subscribe());
    turn.live.waits.insert(
        id.clone(),
        Wait {
            run_id: run_id.clone(),
            body: body.clone(),
            settled: Some(sender),
            claim: None,
            acknowledge: Vec::new(),
            offered: std::collections::BTreeMap::new(),
            life,
        },
    );
    let offered_to = match &asking.owner {
        Some(owner) => vec![owner.clone()],
        None => turn.live.can_answer(&id, |capabilities| is_able(asking.kind, capabilities)),
    };
    if is_new {
        let opening = Opening {
            run_id: run_id.clone(),
            call_id: asking.call_id,
            body,
            offered_to: offered_to.clone(),
            expires_at,
            silence_ms: asking.silence_ms,
        };
        turn.change.open_interaction(&id, opening);
    } else {
        // Those that were asked may have been asked in another life of the daemon: the attempt tells them.
        turn.change.offer_again(&id);
        turn.change.effect(crate::domain::Effect::Offer(id.clone()));
    }
    let waiting_on = waiting_on(turn, &id, asking.kind, expires_at, asking.silence_ms, offered_to);
    if is_new || turn.state().runs.get(run_id).is_some_and(|run| run.run.waiting_on.is_none()) {
        turn.change.run_waits(run_id, Some(waiting_on));
    }
    let expires_at = expires_at.map(|at| at.max(earliest_end(turn, opened_at)));
    Waiting { id, expires_at, opened_at, kind: asking.kind, settled, life: life_of, attendance }
}

/// The interaction that the call has open already: its id, when it expires, and when it was opened.
fn taken_up(turn: &mut Turn<'_>, asking: &Asking) -> Option<(InteractionId, Option<Timestamp>, Timestamp)> {
    let is_meant = |open: &&Interaction| open.call_id == asking.call_id && open.body.kind() == asking.kind;
    let open = turn.state().interactions.values().find(is_meant)?;
    let (id, opened_at) = (open.interaction_id.clone(), open.opened_at);
    let was_open_before = opened_at < turn.live.began_at;
    if was_open_before && asking.kind == InteractionKind::ToolCall && turn.live.prolonged.insert(id.clone()) {
        turn.change.prolong(&id, turn.live.down_ms);
    }
    let expires_at = turn.state().interactions.get(&id).and_then(|open| open.expires_at);
    Some((id, expires_at, opened_at))
}

/// A deadline that passed while no daemon ran leaves those who were there some time to come back (ruling 9).
fn earliest_end(turn: &Turn<'_>, opened_at: Timestamp) -> Timestamp {
    let began_at = turn.live.began_at;
    if opened_at >= began_at {
        return opened_at;
    }
    began_at.plus_millis(turn.shared.catalogue.snapshot().settings.owner_grace_ms)
}

fn waiting_on(
    turn: &Turn<'_>,
    id: &InteractionId,
    kind: InteractionKind,
    expires_at: Option<Timestamp>,
    silence_ms: Option<u64>,
    offered_to: Vec<ClientRef>,
) -> WaitingOn {
    let silent_at = silence_ms.map(|ms| turn.at().plus_millis(ms));
    let present = |client: &ClientRef| kind != InteractionKind::ToolCall || turn.live.holder(client).is_some();
    WaitingOn {
        kind: match kind {
            InteractionKind::Approval => WaitingKind::Approval,
            InteractionKind::Input => WaitingKind::Input,
            InteractionKind::ToolCall => WaitingKind::ToolCall,
        },
        interaction_id: Some(id.clone()),
        since: turn.at(),
        deadline_at: silent_at.into_iter().chain(expires_at).min(),
        can_answer: offered_to.into_iter().filter(present).collect(),
        path: Vec::new(),
    }
}

/// Who could end a wait now.
pub struct Attendance {
    /// Whether anybody could.
    pub is_attended: bool,
    /// Until when somebody who has just left still counts.
    pub grace_until: Timestamp,
}

/// What the rules make of a wait at one moment.
#[derive(Default)]
pub struct Now {
    /// How they end it, where they do.
    pub claim: Option<Claim>,
    /// When they may become others by themselves.
    pub until: Option<Timestamp>,
}

impl Waiting {
    /// Waits for a person. `by_rules` is asked whenever rules or attendance change, and when a rule has expired, whether that
    /// ends the wait; changes are told through the thread, so that its events come in their order.
    pub async fn person(
        mut self,
        reporter: &Reporter,
        unattended: Unattended,
        by_rules: impl Fn() -> Now,
    ) -> Result<Claim, Over> {
        let clock = reporter.shared().clock.clone();
        loop {
            let rules = by_rules();
            if let Some(claim) = rules.claim {
                return self.claim(reporter, claim).await;
            }
            let attendance = self.attendance(reporter).await?;
            let now = clock.now();
            let hopeless = !attendance.is_attended && unattended == Unattended::Decline;
            let patience = hopeless.then(|| Duration::from_millis(attendance.grace_until.millis_since(now)));
            tokio::select! {
                biased;
                claim = &mut self.settled => return claim.map_err(|_| Over),
                () = until(&clock, self.expires_at, now) => {
                    return self.claim(reporter, by(Outcome::Expired, ByKind::Deadline, clock.now())).await;
                }
                () = sleep(&clock, patience) => {
                    return self.claim(reporter, by(Outcome::Undeliverable, ByKind::Daemon, clock.now())).await;
                }
                () = until(&clock, rules.until, now) => {}
                _ = self.attendance.changed() => {}
            }
        }
    }

    /// Waits for the client that holds a tool's handler: silence, the ceiling and its absence end the wait.
    pub async fn owner(mut self, reporter: &Reporter, tool: &ToolSpec, silence_ms: u64) -> Result<Claim, Over> {
        let clock = reporter.shared().clock.clone();
        loop {
            let now = clock.now();
            let presence = match holding(reporter, &self.id, tool).await? {
                Holding::Client(presence) => presence,
                Holding::Nobody(by) => {
                    let claim = Claim { outcome: Outcome::OutcomeUnknown, by, at: now, answer: None, error: None };
                    return self.claim(reporter, claim).await;
                }
            };
            let silent_at = self.life.borrow_and_update().plus_millis(silence_ms);
            let patience =
                (!presence.is_attended).then(|| Duration::from_millis(presence.grace_until.millis_since(now)));
            tokio::select! {
                biased;
                claim = &mut self.settled => return claim.map_err(|_| Over),
                () = until(&clock, Some(silent_at), now), if presence.is_attended => {
                    return self.claim(reporter, by(Outcome::Expired, ByKind::Deadline, clock.now())).await;
                }
                () = until(&clock, self.expires_at, now) => {
                    return self.claim(reporter, by(Outcome::Expired, ByKind::Deadline, clock.now())).await;
                }
                () = sleep(&clock, patience) => return self.give_up(reporter).await,
                _ = self.life.changed() => {}
                _ = self.attendance.changed() => {}
            }
        }
    }

    /// The owner stays away: whether the call had an effect is unknown once it was sent, and clear before.
    async fn give_up(self, reporter: &Reporter) -> Result<Claim, Over> {
        let id = self.id.clone();
        let was_sent = reporter.look(move |turn, _| was_sent(turn, &id)).await?;
        let outcome = if was_sent { Outcome::OutcomeUnknown } else { Outcome::Undeliverable };
        let now = reporter.shared().clock.now();
        self.claim(reporter, by(outcome, ByKind::Deadline, now)).await
    }

    /// Ends the wait, unless somebody was first.
    async fn claim(self, reporter: &Reporter, claim: Claim) -> Result<Claim, Over> {
        let id = self.id.clone();
        let counted = reporter.look(move |turn, _| turn.claim(&id, claim)).await?;
        counted.ok_or(Over)
    }

    async fn attendance(&self, reporter: &Reporter) -> Result<Attendance, Over> {
        let (id, kind) = (self.id.clone(), self.kind);
        reporter
            .look(move |turn, _| {
                let settings = turn.shared.catalogue.snapshot().settings.clone();
                let able = |capabilities| is_able(kind, capabilities);
                let is_attended = !turn.live.can_answer(&id, able).is_empty();
                let left = turn.live.left.iter().filter(|left| able(left.capabilities));
                let last_left = left.map(|left| left.at.plus_millis(settings.approver_grace_ms)).max();
                // What was under way when the daemon last ended waits for those who were there to come back, also where it
                // comes to ask before they do.
                let earliest = turn.state().interactions.get(&id).map(|open| {
                    let run = turn.state().runs.get(&open.run_id);
                    let begun_at = run.map_or(open.opened_at, |run| run.run.submitted_at.min(open.opened_at));
                    earliest_end(turn, begun_at)
                });
                let grace_until = last_left.into_iter().chain(earliest).max().unwrap_or(turn.at());
                Attendance { is_attended, grace_until }
            })
            .await
    }
}

fn by(outcome: Outcome, kind: ByKind, at: Timestamp) -> Claim {
    Claim { outcome, by: By::of(kind), at, answer: None, error: None }
}

async fn until(clock: &std::sync::Arc<dyn crate::clock::Clock>, at: Option<Timestamp>, now: Timestamp) {
    sleep(clock, at.map(|at| Duration::from_millis(at.millis_since(now)))).await;
}

async fn sleep(clock: &std::sync::Arc<dyn crate::clock::Clock>, duration: Option<Duration>) {
    match duration {
        Some(duration) => clock.sleep(duration).await,
        None => std::future::pending().await,
    }
}
