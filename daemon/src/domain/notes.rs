//! What the daemon itself says in a thread: notices for people, and notes for the model.

use ropewalk_protocol::{Delivery, Event, Item, ItemBody, ItemState, MessageId, Part, Role, RunId, Sender, Severity};

use super::{Change, Fact, Joined};

/// Something a person should know of a run. It never enters the model's context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// A stable word for it.
    pub code: &'static str,
    /// What to show.
    pub text: String,
    /// How much attention it deserves.
    pub severity: Severity,
}

impl Change<'_> {
    /// Shows a notice, whole at birth.
    pub fn notice(&mut self, run_id: &RunId, notice: Notice) {
        let Notice { code, text, severity } = notice;
        let Some(state) = self.state.runs.get(run_id) else { return };
        let branch_id = state.run.branch_id.clone();
        let item = Item {
            item_id: self.id(),
            run_id: Some(run_id.clone()),
            branch_id,
            state: ItemState::Completed,
            started_at: self.at,
            ended_at: Some(self.at),
            summary: None,
            severity: Some(severity),
            body: ItemBody::Notice { code: code.to_owned(), text },
        };
        self.event(Event::ItemCompleted { item });
    }

    /// Tells the model that its final answer does not fit the schema, and counts how often it was told.
    pub fn repair(&mut self, run_id: &RunId, text: String) {
        let Some(state) = self.state.runs.get(run_id) else { return };
        let repairs = state.repairs + 1;
        self.fact(Fact::Repair { run_id: run_id.clone(), repairs });
        self.note(run_id, "outputRepair", text);
    }

    /// Keeps tools for a run that looked for them: at most `most`, those it found last before those it had.
    pub fn pin_tools(&mut self, run_id: &RunId, found: Vec<String>, most: usize) {
        let Some(state) = self.state.runs.get(run_id) else { return };
        let mut names: Vec<String> = Vec::with_capacity(most);
        for name in found.iter().chain(&state.pinned) {
            if names.len() < most && !names.contains(name) {
                names.push(name.clone());
            }
        }
        if names != state.pinned {
            self.fact(Fact::Pinned { run_id: run_id.clone(), names });
        }
    }

    /// Tells the model something in the place of a user: a message that joins the chain and says, in its sender, that it
    /// is the run's own and what for.
    ///
    /// Never between the calls of a message and their results.
    pub fn note(&mut self, run_id: &RunId, intent: &str, text: String) {
        let Some(state) = self.state.runs.get(run_id) else { return };
        debug_assert!(state.batch.is_none(), "a note may not come between calls and their results");
        let branch_id = state.run.branch_id.clone();
        let message_id: MessageId = self.id();
        let sender = Sender {
            thread_id: state.run.thread_id.clone(),
            branch_id: branch_id.clone(),
            run_id: run_id.clone(),
            intent: Some(intent.to_owned()),
        };
        let item = Item {
            item_id: self.id(),
            run_id: Some(run_id.clone()),
            branch_id: branch_id.clone(),
            state: ItemState::Completed,
            started_at: self.at,
            ended_at: Some(self.at),
            summary: None,
            severity: None,
            body: ItemBody::UserMessage {
                message_id: message_id.clone(),
                content: vec![Part::text(text)],
                sender: Some(sender),
                delivery: Delivery::Aside,
            },
        };
        let (item_id, from_seq) = (item.item_id.clone(), self.seq() + 1);
        self.event(Event::ItemCompleted { item });
        let joined = Joined {
            message_id,
            role: Role::User,
            run_id: Some(run_id.clone()),
            items: vec![item_id],
            from_seq,
            provider_parts: None,
        };
        self.join(&branch_id, vec![joined]);
    }
}
