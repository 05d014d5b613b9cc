//! What of a thread waits for the person: open approvals and questions, runs that stand still, ends that nobody saw.

use ropewalk_protocol::{
    Attention, AttentionId, AttentionKind, InteractionBody, OutcomeStatus, Run, RunStatus, ThreadId, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::{BadEnd, Change, DomainError, Fact, ThreadState, runs::SHUTDOWN};

/// Characters of a summary.
const SUMMARY_CHARACTERS: usize = 160;

/// Something that waits, and whether the person has seen it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wanted {
    /// What waits.
    pub attention: Attention,
    /// Whether the person has seen it.
    pub seen: bool,
}

/// The thread of something that waits: its id begins with the thread's.
#[must_use]
pub fn thread_of(id: &AttentionId) -> ThreadId {
    id.as_str().split('/').next().unwrap_or_default().into()
}

impl ThreadState {
    /// What waits for the person now, with what was seen of it before.
    #[must_use]
    pub fn what_is_wanted(&self) -> Vec<Wanted> {
        let mut all = Vec::new();
        for interaction in self.interactions.values() {
            let summary = match &interaction.body {
                InteractionBody::Approval(request) => request.summary.clone(),
                InteractionBody::Input(request) => {
                    request.questions.first().map(|question| question.text.clone()).unwrap_or_default()
                }
                InteractionBody::ToolCall(_) => continue,
            };
            let branch = self.runs.get(&interaction.run_id).map(|state| state.run.branch_id.to_string());
            let id = &interaction.interaction_id;
            all.push(self.wanted(AttentionKind::Interaction, id, branch, id, &summary, interaction.opened_at));
        }
        for run in self.runs.values().map(|state| &state.run) {
            let is_parked = run.state == RunStatus::Paused && run.reason.as_deref() != Some(SHUTDOWN);
            if is_parked {
                let reason = run.reason.as_deref().unwrap_or("unknown");
                let summary = format!("The run is paused ({reason}) until somebody resumes it");
                all.push(self.stands_still(run, "paused", &summary, run.started_at.unwrap_or(run.submitted_at)));
            }
        }
        for (branch_id, state) in &self.branches {
            let failed = state.bad_end.as_ref().and_then(|end| self.bad_end(end));
            let unseen = state.unseen.filter(|_| failed.is_none() && !self.has_parked_run(branch_id));
            all.extend(failed);
            if let Some(seq) = unseen {
                let title = self.thread.title.as_ref().or(self.first_line.as_ref());
                let summary = title.map_or("A run has ended".to_owned(), |title| format!("A run has ended: {title}"));
                let (subject, which) = (self.thread.thread_id.as_str(), format!("{branch_id}/{seq}"));
                let since = self.thread.updated_at;
                let branch = Some(branch_id.to_string());
                all.push(self.wanted(AttentionKind::Unread, subject, branch, &which, &summary, since));
            }
        }
        all.sort_by(|a, b| a.attention.attention_id.cmp(&b.attention.attention_id));
        all
    }

    /// What [`Fact::AttentionSeen`] does.
    pub(super) fn apply_attention_seen(&mut self, id: &AttentionId) {
        for wanted in self.attention.iter_mut().filter(|wanted| wanted.attention.attention_id == *id) {
            wanted.seen = true;
        }
        self.touched.attention = true;
    }

    fn has_parked_run(&self, branch: &str) -> bool {
        let mut runs = self.runs.values().map(|state| &state.run);
        runs.any(|run| run.branch_id.as_str() == branch && run.state == RunStatus::Paused)
    }

    /// A stop is no news: whoever stopped it knows.
    fn bad_end(&self, end: &BadEnd) -> Option<Wanted> {
        let run = &end.run;
        let outcome = run.outcome.as_ref()?;
        let summary = match outcome.status {
            OutcomeStatus::Failed => outcome.error.as_ref().map_or("The run failed", |error| error.message.as_str()),
            OutcomeStatus::Interrupted => "The run was interrupted",
            OutcomeStatus::Completed | OutcomeStatus::Stopped => return None,
        };
        Some(self.stands_still(run, "ended", summary, run.ended_at.unwrap_or(run.submitted_at)))
    }

    fn stands_still(&self, run: &Run, how: &str, summary: &str, since: Timestamp) -> Wanted {
        let which = format!("{}/{how}", run.run_id);
        self.wanted(AttentionKind::Run, &run.run_id, Some(run.branch_id.to_string()), &which, summary, since)
    }

    fn wanted(
        &self,
        kind: AttentionKind,
        subject: &str,
        branch: Option<String>,
        which: &str,
        summary: &str,
        since: Timestamp,
    ) -> Wanted {
        let word = match kind {
            AttentionKind::Interaction => "interaction",
            AttentionKind::Run => "run",
            AttentionKind::Unread => "unread",
        };
        let line = summary.lines().next().unwrap_or_default();
        let attention = Attention {
            attention_id: format!("{}/{word}/{which}", self.thread.thread_id).into(),
            kind,
            subject: subject.to_owned(),
            summary: line.chars().take(SUMMARY_CHARACTERS).collect(),
            since,
            project_id: Some(self.thread.project_id.clone()),
            thread_id: Some(self.thread.thread_id.clone()),
            branch_id: branch.map(Into::into),
        };
        let is_it = |known: &&Wanted| known.attention.attention_id == attention.attention_id;
        let seen = self.attention.iter().find(is_it).is_some_and(|known| known.seen);
        Wanted { attention, seen }
    }
}

impl Change<'_> {
    /// The person has seen something that waits. Writes nothing when that is known.
    ///
    /// # Errors
    /// [`DomainError::NothingWaits`].
    pub fn attention_seen(&mut self, id: &AttentionId) -> Result<(), DomainError> {
        let known = self.state.attention.iter().find(|known| known.attention.attention_id == *id);
        match known.map(|known| known.seen) {
            None => Err(DomainError::NothingWaits(id.clone())),
            Some(true) => Ok(()),
            Some(false) => {
                self.fact(Fact::AttentionSeen { attention_id: id.clone() });
                Ok(())
            }
        }
    }
}
