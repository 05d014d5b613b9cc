//! Images: what is taken, where they go, and that the largest input fits wherever it is shown.

use serde_json::{Value, json};

use super::{Fresh, Raw, get_issue, success};
use crate::{ScriptedServer, ServerOptions};

scenarios! { $ images
    wire:
        l21_an_image_alone_reaches_the_endpoint_as_an_image_and_stays_in_the_thread
        an_image_in_a_result_reaches_the_endpoint_and_a_broken_one_never_does
        an_image_that_no_provider_would_read_is_refused_with_its_place
        an_input_that_fills_a_line_is_queued_shown_and_paged_within_lines;
    clock:;
}

/// The smallest thing that begins like a GIF.
const DOT: &str = "R0lGODlhAQABAA==";

/// The most bytes the parts of an input may have as JSON.
const INPUT_BYTES: usize = 16_777_216 - 65_536;

pub(super) async fn l21_an_image_alone_reaches_the_endpoint_as_an_image_and_stays_in_the_thread(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    let image = image("image/gif", DOT);
    let ended = run_parts(&mut bot, &thread, json!([image])).await;
    assert_eq!(ended["outcome"]["status"], "completed", "{ended}");
    let sent = last_user_parts(&server);
    assert!(sent.iter().any(|part| part["image_url"]["url"] == format!("data:image/gif;base64,{DOT}")), "{sent:?}");
    assert!(sent.iter().all(|part| part["text"] != ""), "no provider takes empty text: {sent:?}");
    let chain = bot.chain(&thread).await;
    assert_eq!(chain[0]["content"], json!([image]), "{chain:?}");
    let log = bot.log(&thread).await;
    let item = log.iter().map(|event| &event["event"]["item"]).find(|item| item["kind"] == "userMessage").unwrap();
    assert_eq!(item["content"], json!([image]));
    // With text and another image, and with the first one in the history.
    let parts = json!([{"type": "text", "text": "say both"}, image, image]);
    let ended = run_parts(&mut bot, &thread, parts).await;
    assert_eq!(ended["outcome"]["text"], "both", "{ended}");
    let request = server.requests().pop().unwrap();
    assert_eq!(request.refused, None, "{}", request.body);
    assert_eq!(request.body.to_string().matches(DOT).count(), 3, "{}", request.body);
}

pub(super) async fn an_image_in_a_result_reaches_the_endpoint_and_a_broken_one_never_does(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}").await;
    let call = bot.asked("tool/call").await;
    let content = json!([{"type": "text", "text": "a dot"}, image("image/gif", DOT)]);
    bot.reply(&call, json!({"success": true, "contentItems": content})).await;
    bot.ended(&run).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["content"]), (&json!("completed"), &content), "{item}");
    let request = server.requests().pop().unwrap();
    assert_eq!(request.refused, None, "{}", request.body);
    assert!(request.body.to_string().contains(DOT), "{}", request.body);

    let run = bot.submit(&thread, "call get_issue {\"id\":\"2\"}").await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, json!({"success": true, "contentItems": [image("image/png", "R0lGODlhAgACAA==")]})).await;
    bot.ended(&run).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["error"]["code"]), (&json!("failed"), &json!("invalid_result")), "{item}");
    assert!(item["error"]["message"].as_str().unwrap().contains("/contentItems/0/mediaType"), "{item}");
    assert!(!server.requests().pop().unwrap().body.to_string().contains("R0lGODlhAgACAA=="));
}

pub(super) async fn an_image_that_no_provider_would_read_is_refused_with_its_place(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    for (media_type, data, field, reason) in [
        ("image/svg+xml", "PHN2Zy8+", "mediaType", "unknown_image_type"),
        ("text/plain", DOT, "mediaType", "unknown_image_type"),
        ("image/png", DOT, "mediaType", "another_image_type"),
        ("image/gif", "PHN2Zy8+", "data", "not_an_image"),
        ("image/gif", "not base64", "data", "not_base64"),
        ("image/gif", "R0lGODlhAQABAA", "data", "not_base64"),
        ("image/gif", "", "data", "empty"),
    ] {
        let input = json!([{"type": "text", "text": "look"}, image(media_type, data)]);
        let error = bot.refused("run/submit", json!({"threadId": thread, "input": input})).await;
        let expected = (json!(format!("/input/1/{field}")), json!(reason));
        assert_eq!((error["data"]["path"].clone(), error["data"]["reason"].clone()), expected, "{error}");
    }
    let unknown = json!({"threadId": thread, "input": [image("image/bmp", "Qk0=")]});
    let message = bot.refused("run/submit", unknown).await["message"].clone();
    assert_eq!(message, "mediaType must be one of image/png, image/jpeg, image/gif, image/webp.");
    assert_eq!(bot.log(&thread).await.len(), 2, "nothing of it was stored");
}

pub(super) async fn an_input_that_fills_a_line_is_queued_shown_and_paged_within_lines(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let over = filling(INPUT_BYTES + 1);
    let error = bot.refused("run/submit", json!({"threadId": thread, "input": over})).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["what"]), (&json!("tooLarge"), &json!("input")));
    assert_eq!(error["data"]["limit"], INPUT_BYTES);
    drop(over);

    let first = bot.submit(&thread, "call get_issue {\"id\":\"1\"}").await;
    let call = bot.asked("tool/call").await;
    let input = filling(INPUT_BYTES);
    let queued = bot.call("run/submit", json!({"threadId": thread, "input": input})).await;
    assert_eq!(queued["state"], "queued");
    let queue = bot.call("queue/list", json!({"threadId": thread})).await;
    assert!(queue["entries"][0]["input"] == input, "it is shown whole");
    let resumed = bot.call("thread/resume", json!({"threadId": thread})).await;
    assert_eq!(resumed["snapshot"]["queues"][thread.as_str().unwrap()]["length"], 1);
    bot.reply(&call, success("one")).await;
    bot.ended(&first).await;
    bot.ended(&queued["runId"]).await;

    // The page that would have more than one line can hold has one message; the others come after it.
    let mut roles = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let page = bot.call("thread/messages", json!({"threadId": thread, "cursor": cursor})).await;
        roles.extend(page["items"].as_array().unwrap().iter().map(|message| message["role"].clone()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    roles.reverse();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user", "assistant"]);
    let shown = |line: &Value| line["params"]["event"]["item"]["content"] == input;
    assert!(bot.kept.iter().any(shown), "its item came as an event");
}

fn image(media_type: &str, data: &str) -> Value {
    json!({"type": "image", "mediaType": media_type, "data": data})
}

/// Images and a text that have exactly so many bytes as JSON.
fn filling(bytes: usize) -> Value {
    // Four characters are three bytes, and `R0lGODlh` is what a GIF begins with.
    let largest = format!("R0lGODlh{}", "AAAA".repeat(5_242_880 / 3 - 2));
    let mut input = json!([image("image/gif", &largest), image("image/gif", &largest), {"type": "text", "text": ""}]);
    let rest = bytes - input.to_string().len();
    input[2]["text"] = "x".repeat(rest).into();
    input
}

async fn run_parts(bot: &mut Raw, thread: &Value, parts: Value) -> Value {
    let submit = json!({"threadId": thread, "input": parts, "wait": true});
    bot.call("run/submit", submit).await["run"].clone()
}

fn last_user_parts(server: &ScriptedServer) -> Vec<Value> {
    let request = server.requests().pop().expect("it was asked");
    assert_eq!(request.refused, None, "{}", request.body);
    let messages = request.body["messages"].as_array().expect("messages");
    let last = messages.iter().rfind(|message| message["role"] == "user").expect("a message of the user");
    last["content"].as_array().cloned().unwrap_or_default()
}

async fn over_http(subject: &Fresh) -> (ScriptedServer, Raw, Value) {
    let server = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await.unwrap();
    let mut bot = subject.bot().await;
    bot.use_model_at(&server.base_url()).await;
    let thread = bot.start(&[get_issue()]).await;
    (server, bot, thread)
}
