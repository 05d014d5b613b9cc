//! What a person sees of a run.

use ropewalk_protocol::{CallError, Part, ThreadEvent, ToolRef};
use serde_json::json;

use super::*;
use crate::cli::out::testing::{Written, captured, styled};

fn item(id: &str, state: ItemState, body: ItemBody) -> Box<Item> {
    Box::new(Item {
        item_id: id.into(),
        run_id: Some("run-1".into()),
        branch_id: "th-1".into(),
        state,
        started_at: ropewalk_protocol::Timestamp::from_millis(0),
        ended_at: None,
        summary: None,
        severity: None,
        body,
    })
}

fn answer(text: &str) -> ItemBody {
    ItemBody::AssistantMessage { message_id: "m-1".into(), text: text.to_owned(), incomplete: false }
}

fn call(content: Option<&str>, error: Option<(&str, &str)>) -> ItemBody {
    ItemBody::ToolCall(Box::new(ToolCallItem {
        message_id: "m-1".into(),
        call_id: "call-1".into(),
        interaction_id: None,
        tool: ToolRef {
            flat_name: "get_issue".to_owned(),
            name: "get_issue".to_owned(),
            namespace: None,
            source: "client:bot".to_owned(),
            title: None,
            digest: "d".to_owned(),
        },
        arguments: json!({"id": "7"}),
        original_arguments: None,
        decision: None,
        content: content.map(|text| vec![Part::text(text)]),
        structured_content: None,
        meta: None,
        error: error.map(|(code, message)| CallError { code: code.to_owned(), message: message.to_owned() }),
        effect: None,
        blob: None,
        transcript_id: None,
        timing: None,
    }))
}

fn delta(offset: u64, text: &str) -> RunEvent {
    RunEvent::Text { item_id: "it-1".into(), offset, text: text.to_owned() }
}

fn shown(is_terminal: bool, events: &[RunEvent]) -> (Written, Written) {
    let (out, stdout, stderr) = captured(is_terminal);
    let mut transcript = Transcript::new(&out, &Seen::default(), true);
    events.iter().for_each(|event| transcript.show(event));
    (stdout, stderr)
}

#[test]
fn the_answer_streams_to_stdout_and_ends_its_line() {
    let events = [
        RunEvent::ItemStarted(item("it-1", ItemState::Open, answer(""))),
        delta(0, "Hel"),
        delta(3, "lo"),
        RunEvent::ItemCompleted(item("it-1", ItemState::Completed, answer("Hello"))),
    ];
    let (stdout, stderr) = shown(false, &events);
    assert_eq!(stdout.text(), "Hello\n");
    assert_eq!(stderr.text(), "");
}

#[test]
fn text_that_comes_twice_is_shown_once_and_what_is_missing_comes_with_the_end() {
    let events = [
        RunEvent::ItemStarted(item("it-1", ItemState::Open, answer(""))),
        delta(0, "Grü"),
        delta(0, "Grüße"),
        RunEvent::ItemCompleted(item("it-1", ItemState::Completed, answer("Grüße!\n"))),
    ];
    assert_eq!(shown(false, &events).0.text(), "Grüße!\n");
}

#[test]
fn an_item_that_is_whole_at_birth_is_shown() {
    let events = [RunEvent::ItemCompleted(item("it-1", ItemState::Completed, answer("All at once.")))];
    assert_eq!(shown(false, &events).0.text(), "All at once.\n");
}

#[test]
fn calls_and_their_ends_have_lines_of_their_own_beside_the_answer() {
    let events = [
        RunEvent::ItemStarted(item("it-2", ItemState::Open, call(None, None))),
        RunEvent::ItemCompleted(item("it-2", ItemState::Completed, call(Some("#7\nLogin fails"), None))),
        RunEvent::ItemCompleted(item("it-3", ItemState::Refused, call(None, Some(("declined", "Not now."))))),
        RunEvent::ItemCompleted(item("it-4", ItemState::Failed, call(None, Some(("timeout", "Silent for 2 min."))))),
    ];
    let (stdout, stderr) = shown(true, &events);
    assert_eq!(stdout.text(), "");
    let expected = "\
→ get_issue {\"id\":\"7\"}
✓ get_issue #7 Login fails
– get_issue declined: Not now.
✗ get_issue timeout: Silent for 2 min.
";
    assert_eq!(stderr.text(), expected);
}

#[test]
fn style_is_for_terminals_only() {
    let (out, _, stderr) = styled();
    let mut transcript = Transcript::new(&out, &Seen::default(), true);
    let event = RunEvent::ItemStarted(item("it-2", ItemState::Open, call(None, None)));
    transcript.show(&event);
    assert_eq!(stderr.text(), "\x1b[2m→ get_issue {\"id\":\"7\"}\x1b[0m\n");
    assert!(!shown(false, &[event]).1.text().contains('\x1b'));
}

#[test]
fn an_answer_cannot_steer_a_terminal_and_is_untouched_in_a_pipe() {
    let events = [RunEvent::ItemCompleted(item("it-1", ItemState::Completed, answer("\x1b[2Jboo")))];
    assert_eq!(shown(true, &events).0.text(), "\\u{1b}[2Jboo\n");
    assert_eq!(shown(false, &events).0.text(), "\x1b[2Jboo\n");
}

#[test]
fn reasoning_and_progress_are_beside_the_answer() {
    let thought =
        |text: &str| ItemBody::Reasoning { message_id: "m-1".into(), text: text.to_owned(), incomplete: false };
    let progress =
        RunEvent::Progress { item_id: "it-2".into(), message: Some("asking".to_owned()), fraction: Some(0.5) };
    let events = [
        RunEvent::ItemStarted(item("it-1", ItemState::Open, thought(""))),
        delta(0, "hm"),
        RunEvent::ItemCompleted(item("it-1", ItemState::Completed, thought("hm"))),
        RunEvent::ItemStarted(item("it-2", ItemState::Open, call(None, None))),
        progress,
    ];
    let (stdout, stderr) = shown(true, &events);
    assert_eq!(stdout.text(), "");
    assert_eq!(stderr.text(), "hm\n→ get_issue {\"id\":\"7\"}\n  get_issue 50 % asking\n");
}

#[test]
fn a_run_that_waits_for_somebody_else_says_so() {
    let event: ThreadEvent = serde_json::from_value(json!({
        "threadId": "th-1", "seq": 9, "at": "2026-11-30T10:00:03Z",
        "event": {"type": "runState", "run": {
            "runId": "run-1", "threadId": "th-1", "branchId": "th-1", "messageId": "m-1", "mode": "queue",
            "state": "waiting", "waitingOn": {
                "kind": "approval", "interactionId": "int-1", "since": "2026-11-30T10:00:03Z", "canAnswer": []
            },
            "usage": {"inputTokens": 0, "outputTokens": 0, "requests": 0, "estimated": true},
            "endpointId": "scripted", "model": "scripted", "unattended": "wait", "principal": {"kind": "owner"},
            "recovery": [], "steps": 0, "toolCalls": 0, "submittedAt": "2026-11-30T10:00:02Z"
        }}
    }))
    .unwrap();
    let ropewalk_protocol::Event::RunState { run } = event.event else { panic!("it is a state") };
    let (_, stderr) = shown(false, &[RunEvent::State(Box::new(run))]);
    assert_eq!(stderr.text(), "… waiting for an approval; any attached client can give it\n");
}

#[test]
fn where_the_result_comes_at_the_end_text_on_the_way_is_told_on_stderr() {
    let (out, stdout, stderr) = captured(false);
    let mut transcript = Transcript::new(&out, &Seen::default(), true).with_result_at_the_end();
    let whole = |text: &str| RunEvent::ItemCompleted(item("it-1", ItemState::Completed, answer(text)));
    transcript.show(&RunEvent::ItemStarted(item("it-1", ItemState::Open, answer(""))));
    transcript.show(&delta(0, "Let me"));
    transcript.show(&whole("Let me look."));
    transcript.show(&RunEvent::ItemStarted(item("it-2", ItemState::Open, call(None, None))));
    transcript.show(&whole("Done."));
    assert_eq!(
        (&*stdout.text(), stderr.text().starts_with("Let me look.\n→ get_issue")),
        ("", true),
        "{}",
        stderr.text()
    );
    transcript.finish(Some("Done."));
    assert_eq!((&*stdout.text(), stderr.text().contains("Done.")), ("Done.\n", false), "{}", stderr.text());
    transcript.show(&whole("Half"));
    transcript.finish(None);
    assert_eq!((&*stdout.text(), stderr.text().ends_with("\nHalf\n")), ("Done.\n", true), "{}", stderr.text());
}
