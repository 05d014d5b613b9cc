//! What fits, what is cut, what is left out, and what is learned.

mod budgets;
mod chain;
mod gauges;
mod memory;
mod tokens;

use std::sync::Arc;

use ropewalk_protocol::{Delivery, Message, Part, Role, Timestamp, ToolCallRef};

use crate::domain::ChainMessage;

/// A message of a chain; a result has the id of its call, an assistant message those of its calls.
fn said(id: &str, role: Role, text: &str, calls: &[&str]) -> Arc<ChainMessage> {
    let tool_calls = calls.iter().filter(|_| role == Role::Assistant).map(|call| ToolCallRef {
        call_id: (*call).into(),
        flat_name: "look".to_owned(),
        arguments: serde_json::json!({}),
    });
    let message = Message {
        message_id: id.into(),
        thread_id: "th-1".into(),
        branch_id: "th-1".into(),
        parent_message_id: None,
        run_id: None,
        role,
        delivery: Delivery::Turn,
        content: vec![Part::text(text)],
        tool_calls: tool_calls.collect(),
        call_id: calls.first().filter(|_| role == Role::Tool).map(|call| (*call).into()),
        is_error: None,
        incomplete: false,
        summary: id == "summary",
        sender: None,
        at: Timestamp::from_millis(0),
    };
    Arc::new(ChainMessage { message, provider_parts: None })
}
