//! `#[ropewalk::tool]`: what it accepts and what it makes of it.

use ropewalk::{Json, Tool, ToolContext, ToolError, Tools};
use serde_json::json;

use crate::support::{attached, call};

/// Which issue.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct GetIssue {
    /// The number, without `#`.
    id: String,
    /// How many comments.
    comments: Option<u32>,
}

/// Read an issue.
///
/// Closed ones too.
#[ropewalk::tool(
    name = "issue",
    namespace = "tracker",
    namespace_description = "The issue tracker.",
    title = "Read an issue",
    read_only,
    destructive = false,
    idempotent,
    open_world = true,
    timeout_ms = 5_000,
    approval = "ask"
)]
async fn get_issue(args: GetIssue, cx: ToolContext) -> Result<String, ToolError> {
    cx.progress("asking", None);
    Ok(format!("#{} {:?}", args.id, args.comments))
}

/// What time it is.
#[ropewalk::tool]
async fn now() -> &'static str {
    "noon"
}

/// Who asks.
#[ropewalk::tool]
pub(crate) async fn who(cx: ropewalk::ToolContext) -> Json<String> {
    Json(cx.run_id().to_string())
}

/// Echo.
#[ropewalk::tool(crate = ::ropewalk)]
#[allow(clippy::unused_async, reason = "attributes are kept")]
async fn echo(GetIssue { id, .. }: GetIssue) -> Result<String, std::io::Error> {
    Ok(id)
}

#[test]
fn every_option_is_in_the_declaration() {
    let declaration = serde_json::to_value(get_issue().declaration()).unwrap();
    assert_eq!(
        declaration,
        json!({
            "namespace": "tracker",
            "namespaceDescription": "The issue tracker.",
            "name": "issue",
            "description": "Read an issue.\n\nClosed ones too.",
            "title": "Read an issue",
            "annotations": {"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true},
            "timeoutMs": 5_000,
            "approval": "ask",
            "inputSchema": {
                "type": "object",
                "description": "Which issue.",
                "properties": {
                    "id": {"type": "string", "description": "The number, without `#`."},
                    "comments": {
                        "type": ["integer", "null"], "format": "uint32", "minimum": 0, "description": "How many comments.",
                    },
                },
                "required": ["id"],
                "additionalProperties": false,
            },
        })
    );
}

#[test]
fn the_name_is_the_functions_unless_given() {
    let names: Vec<String> = [now(), who(), echo()].iter().map(|tool: &Tool| tool.declaration().name.clone()).collect();
    assert_eq!(names, ["now", "who", "echo"]);
}

#[tokio::test]
async fn every_shape_of_function_can_be_called() {
    let tools = Tools::new().add(get_issue()).add(now()).add(who()).add(echo());
    let (fake, _thread) = attached(tools).await;
    for (tool, arguments, expected) in [
        ("issue", json!({"id": "7", "comments": 2}), "#7 Some(2)"),
        ("now", json!({}), "noon"),
        ("who", json!({}), "\"run-1\""),
        ("echo", json!({"id": "7"}), "7"),
    ] {
        let mut params = call(tool, tool, arguments);
        if tool == "issue" {
            params["namespace"] = json!("tracker");
        }
        let answer = fake.ask("tool/call", params).await.unwrap();
        assert_eq!(answer["contentItems"][0]["text"], expected, "{answer}");
    }
}
