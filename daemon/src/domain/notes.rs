//! What the daemon itself says in a thread: notices for people, and notes for the model.

use ropewalk_protocol::{
    BranchId, Delivery, Event, Item, ItemBody, ItemState, MessageId, Part, Role, RunId, Sender, Severity,
};

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

/// A message in the user's place.
pub(super) struct UserMessage {
    /// The branch whose chain it joins.
    pub branch_id: BranchId,
    /// The run it belongs to, where it belongs to one.
    pub run_id: Option<RunId>,
    /// Its id.
    pub message_id: MessageId,
    /// What it says.
    pub content: Vec<Part>,
    /// The run that sent it, where one did.
    pub sender: Option<Sender>,
    /// How it is delivered.
    pub delivery: Delivery,
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
        let sender = Sender {
            thread_id: state.run.thread_id.clone(),
            branch_id: branch_id.clone(),
            run_id: run_id.clone(),
            intent: Some(intent.to_owned()),
        };
        self.joins_as_user(UserMessage {
            branch_id,
            run_id: Some(run_id.clone()),
            message_id: self.id(),
            content: vec![Part::text(text)],
            sender: Some(sender),
            delivery: Delivery::Aside,
        });
    }

    /// Shows a message in the user's place, whole at birth, and lets it join the chain of its branch.
    pub(super) fn joins_as_user(&mut self, message: UserMessage) {
        let UserMessage { branch_id, run_id, message_id, content, sender, delivery } = message;
        let item = Item {
            item_id: self.id(),
            run_id: run_id.clone(),
            branch_id: branch_id.clone(),
            state: ItemState::Completed,
            started_at: self.at,
            ended_at: Some(self.at),
            summary: None,
            severity: None,
            body: ItemBody::UserMessage { message_id: message_id.clone(), content, sender, delivery },
        };
        let (items, from_seq) = (vec![item.item_id.clone()], self.seq() + 1);
        self.event(Event::ItemCompleted { item });
        let joined = Joined { message_id, role: Role::User, run_id, items, from_seq, provider_parts: None };
        self.join(&branch_id, vec![joined]);
    }
}
