//! A step: the model's answer, its text items and the batch it asks for.

use ropewalk_protocol::{Event, Item, ItemBody, ItemId, ItemState, MessageId, Role, RunId, ToolCallItem, Usage};

use super::{AnsweredCall, Change, Fact, Joined, Partial, ProviderParts};

/// What the model has answered in one step.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The assistant message.
    pub message_id: MessageId,
    /// The item of its text, where it said something: whole.
    pub text: Option<(ItemId, String)>,
    /// The item of its reasoning, where it thought: whole.
    pub reasoning: Option<(ItemId, String)>,
    /// The calls in order, each with the item that shows it.
    pub calls: Vec<(AnsweredCall, ToolCallItem)>,
    /// What it cost.
    pub usage: Usage,
    /// What the provider wants back.
    pub provider_parts: Option<ProviderParts>,
    /// Whether its text is not all that the model had to say.
    pub is_incomplete: bool,
}

impl Change<'_> {
    /// A text item of the model begins.
    pub fn text_started(&mut self, run_id: &RunId, item_id: &ItemId, message_id: &MessageId, reasoning: bool) {
        let Some(state) = self.state.runs.get(run_id) else { return };
        let (message_id, text) = (message_id.clone(), String::new());
        let body = if reasoning {
            ItemBody::Reasoning { message_id, text, incomplete: false }
        } else {
            ItemBody::AssistantMessage { message_id, text, incomplete: false }
        };
        let item = self.open_item(run_id, &state.run.branch_id.clone(), item_id.clone(), body);
        self.event(Event::ItemStarted { item });
    }

    /// The model has answered: its texts are complete, its calls begin, and without calls its message joins the chain.
    pub fn answered(&mut self, run_id: &RunId, answered: Answered) {
        let Some(run) = self.state.runs.get(run_id).map(|state| &state.run) else { return };
        let mut usage = run.usage.clone();
        usage.add(&answered.usage);
        let (steps, tool_calls) = (run.steps + 1, run.tool_calls + answered.calls.len() as u64);
        self.fact(Fact::Step { run_id: run_id.clone(), usage, steps, tool_calls });
        if let Some((item_id, text)) = &answered.reasoning {
            self.text_completed(run_id, item_id, text, false);
        }
        // A text without a word could not be sent again (K27): it is shown, and is no part of the message.
        let spoken = answered.text.iter().filter(|(_, text)| !text.trim().is_empty());
        let text_items: Vec<ItemId> = spoken.map(|(item_id, _)| item_id.clone()).collect();
        let from_seq = self.first_seq_of(run_id, &text_items);
        if let Some((item_id, text)) = &answered.text {
            self.text_completed(run_id, item_id, text, answered.is_incomplete);
        }
        if answered.calls.is_empty() {
            self.join_answer(run_id, answered.message_id, text_items, from_seq, answered.provider_parts);
            return;
        }
        let (calls, items): (Vec<_>, Vec<_>) = answered.calls.into_iter().unzip();
        for (call, item) in calls.iter().zip(items) {
            let Some(branch_id) = self.state.runs.get(run_id).map(|state| state.run.branch_id.clone()) else { return };
            let item = self.open_item(run_id, &branch_id, call.item_id.clone(), ItemBody::ToolCall(Box::new(item)));
            self.event(Event::ItemStarted { item });
        }
        self.fact(Fact::Answer {
            run_id: run_id.clone(),
            message_id: answered.message_id,
            items: text_items,
            from_seq,
            calls,
            provider_parts: answered.provider_parts,
        });
    }

    /// An attempt at a step failed and is made again: what it said stays in the log and out of the chain. Of a text that
    /// was streaming stays what `partial` has.
    pub fn attempt_failed(&mut self, run_id: &RunId, partial: Partial<'_>) {
        let Some(state) = self.state.runs.get(run_id).cloned() else { return };
        self.close_texts(&state, ItemState::Failed, partial);
    }

    fn first_seq_of(&self, run_id: &RunId, items: &[ItemId]) -> u64 {
        let started = self.state.runs.get(run_id).and_then(|state| state.open_items.get(items.first()?));
        started.map_or_else(|| self.n(), |(seq, _)| *seq)
    }

    fn text_completed(&mut self, run_id: &RunId, item_id: &ItemId, whole: &str, is_cut: bool) {
        let Some((_, item)) = self.state.runs.get(run_id).and_then(|state| state.open_items.get(item_id)) else {
            return;
        };
        let mut item = item.clone();
        match &mut item.body {
            ItemBody::AssistantMessage { text, incomplete, .. } | ItemBody::Reasoning { text, incomplete, .. } => {
                whole.clone_into(text);
                *incomplete = is_cut;
            }
            _ => return,
        }
        self.close_item(item, if is_cut { ItemState::Failed } else { ItemState::Completed });
    }

    fn join_answer(
        &mut self,
        run_id: &RunId,
        message_id: MessageId,
        items: Vec<ItemId>,
        from_seq: u64,
        provider_parts: Option<ProviderParts>,
    ) {
        let Some(state) = self.state.runs.get(run_id) else { return };
        // A message without content could not be sent again (K27), so silence leaves no message.
        if items.is_empty() {
            return;
        }
        let branch_id = state.run.branch_id.clone();
        self.join(
            &branch_id,
            vec![Joined {
                message_id,
                role: Role::Assistant,
                run_id: Some(run_id.clone()),
                items,
                from_seq,
                provider_parts,
            }],
        );
    }

    fn open_item(
        &self,
        run_id: &RunId,
        branch_id: &ropewalk_protocol::BranchId,
        item_id: ItemId,
        body: ItemBody,
    ) -> Item {
        Item {
            item_id,
            run_id: Some(run_id.clone()),
            branch_id: branch_id.clone(),
            state: ItemState::Open,
            started_at: self.at,
            ended_at: None,
            summary: None,
            severity: None,
            body,
        }
    }
}
