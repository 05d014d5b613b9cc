//! Tools as a command describes them, made with the SDK's builder.

use std::{collections::HashMap, sync::Arc};

use ropewalk::{IntoToolResult, Json, Tool, ToolContext, ToolError, ToolOutput, protocol::ToolCallAnswer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    super::commands::{Act, ToolSpec},
    Driver, handlers,
};

/// The one type of arguments that every driver has.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Typed {
    /// The number, without #.
    id: String,
}

/// What a handler came to, already in the shape of the wire.
struct Ending(Result<ToolCallAnswer, ToolError>);

impl IntoToolResult for Ending {
    fn into_tool_result(self) -> Result<ToolCallAnswer, ToolError> {
        self.0
    }
}

/// A tool whose handler does what the specification says.
pub(super) fn tool(driver: &Arc<Driver>, spec: &ToolSpec) -> Tool {
    let mut builder = Tool::new(&spec.name).description(&spec.description);
    if let Some(namespace) = &spec.namespace {
        builder = builder.namespace(namespace);
    }
    if let Some(text) = &spec.namespace_description {
        builder = builder.namespace_description(text);
    }
    if let Some(title) = &spec.title {
        builder = builder.title(title);
    }
    if let Some(timeout_ms) = spec.timeout_ms {
        builder = builder.timeout_ms(timeout_ms);
    }
    if let Some(wish) = spec.approval {
        builder = builder.approval(wish);
    }
    if let Some(schema) = &spec.output_schema {
        builder = builder.output_schema(schema.clone());
    }
    let hints = spec.annotations.clone().unwrap_or_default();
    if let Some(yes) = hints.read_only_hint {
        builder = builder.read_only(yes);
    }
    if let Some(yes) = hints.destructive_hint {
        builder = builder.destructive(yes);
    }
    if let Some(yes) = hints.idempotent_hint {
        builder = builder.idempotent(yes);
    }
    if let Some(yes) = hints.open_world_hint {
        builder = builder.open_world(yes);
    }
    let (driver, acts) = (Arc::clone(driver), Arc::new(spec.does.clone()));
    let work = move |arguments: Value, context: ToolContext| {
        let (driver, acts) = (Arc::clone(&driver), Arc::clone(&acts));
        async move { Ending(act(&driver, &acts, &arguments, &context).await) }
    };
    if spec.typed {
        return builder.input::<Typed>().handler(move |typed, context| work(json!(typed), context));
    }
    match &spec.input_schema {
        Some(schema) => builder.input_schema(schema.clone()).handler(work),
        None => builder.handler(move |_, context| work(json!({}), context)),
    }
}

/// Goes through the acts of a tool's handler.
async fn act(
    driver: &Driver,
    acts: &[Act],
    arguments: &Value,
    context: &ToolContext,
) -> Result<ToolCallAnswer, ToolError> {
    let id = context.interaction_id().as_str();
    let mut beside = json!({
        "callId": context.call_id(), "runId": context.run_id(), "threadId": context.thread_id(),
        "tool": context.tool(), "arguments": arguments,
    });
    if let Some(namespace) = context.namespace() {
        beside["namespace"] = namespace.into();
    }
    handlers::report(&driver.reports, "called", "tool", id, beside);
    for act in acts {
        match act {
            Act::Progress { message, fraction } => context.progress(message, *fraction),
            Act::Await(gate) => {
                let went_on = tokio::select! {
                    () = context.cancelled() => false,
                    () = driver.gates.pass(gate) => true,
                };
                if !went_on {
                    handlers::report(&driver.reports, "cancelled", "tool", id, json!({}));
                    return Err(ToolError::new("cancelled"));
                }
            }
            Act::UntilCancelled => {
                context.cancelled().await;
                handlers::report(&driver.reports, "cancelled", "tool", id, json!({}));
            }
            ending => return end(ending),
        }
    }
    ().into_tool_result()
}

fn end(act: &Act) -> Result<ToolCallAnswer, ToolError> {
    match act {
        Act::Return(text) => text.as_str().into_tool_result(),
        Act::ReturnData(data) => Json(data).into_tool_result(),
        Act::ReturnBoth { text, structured } => {
            ToolOutput::text(text).with_structured(structured.clone()).into_tool_result()
        }
        Act::ReturnNothing => ().into_tool_result(),
        Act::ReturnBytes(bytes) => "x".repeat(*bytes).into_tool_result(),
        Act::ReturnUnwritable => Json(HashMap::from([((1, 2), 3)])).into_tool_result(),
        Act::Fail { code, message } => Err(ToolError::with_code(code.clone(), message)),
        Act::Throw(message) => Err(ToolError::new(message)),
        Act::Crash(message) => panic!("{message}"),
        _ => panic!("{act:?} is nothing that a tool's handler does"),
    }
}
