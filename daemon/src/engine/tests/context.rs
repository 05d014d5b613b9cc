//! A thread that is longer than its model's window goes on: what is summarised when, and what happens when that fails.

use std::time::Duration;

use ropewalk_protocol::{ItemBody, OutcomeStatus, Role, RunErrorKind, RunId, Severity, Unattended};
use serde_json::json;

use super::{
    client::Person,
    life::{Life, begin, completed, idle, plain, request, soon},
    model::Asked,
};
use crate::{
    context::tokens::{definition_tokens, message_tokens, text_tokens},
    engine::ThreadHandle,
};

const SECOND: Duration = Duration::from_secs(1);
const WINDOW: u64 = 8_000;

/// What a real model would count of a request.
fn size(asked: &Asked) -> u64 {
    let request = &asked.request;
    let messages = request.messages.iter().map(|message| message_tokens(message)).sum::<u64>();
    text_tokens(&request.instructions) + messages + request.tools.iter().map(definition_tokens).sum::<u64>()
}

fn is_for_a_summary(asked: &Asked) -> bool {
    asked.request.instructions.starts_with("You summarise")
}

/// An endpoint whose window is said to be this large, or that says nothing about it.
pub(super) async fn window(life: &Life, tokens: Option<u64>) {
    let known = life.daemon.catalogue.snapshot().endpoints.values().find(|endpoint| !endpoint.builtin).cloned();
    let params = match known {
        Some(known) => json!({"endpointId": known.endpoint_id, "contextTokens": tokens}),
        None => json!({
            "name": "m", "provider": "openaiCompatible", "baseUrl": "http://127.0.0.1:9/v1", "model": "nobody-knows",
            "isDefault": true, "contextTokens": tokens,
        }),
    };
    let caller = crate::catalogue::Caller { client: None, operation: None };
    life.daemon.catalogue.set_endpoint(caller, serde_json::from_value(params).unwrap()).await.unwrap();
}

/// The definitions of the App tools alone are more than so small a window has room for; a client's tools would be left out.
async fn without_app_tools(life: &Life) {
    let params = serde_json::from_value(json!({"level": "global", "source": "app", "decision": "deny"})).unwrap();
    let caller = crate::catalogue::Caller::default();
    life.daemon.catalogue.set_policy(caller, ropewalk_protocol::PolicyOrigin::Owner, params).await.unwrap();
}

/// Thirty turns of two thousand tokens, said to a model with a large window.
async fn long_thread(life: &mut Life, person: &Person) -> ThreadHandle {
    window(life, Some(200_000)).await;
    let thread = life.start(person, plain(&["look"])).await;
    for number in 0..30 {
        let run = begin(&thread, &format!("Question {number}: {}", "some words ".repeat(500))).await;
        life.asked().await.ends(&format!("Answer {number}: {}", "other words ".repeat(500)));
        life.ended(&thread, &run).await;
    }
    thread
}

/// The next request that fits into the window and is for no summary. Those that do not fit are refused; those for a
/// summary are `summarised`.
async fn answerable(life: &mut Life, window: u64, mut summarised: impl FnMut(Asked)) -> (Asked, usize) {
    let mut refused = 0;
    loop {
        let asked = life.asked().await;
        if size(&asked) > window {
            refused += 1;
            asked.refuses(RunErrorKind::ContextWindow, "The input is too long.");
        } else if is_for_a_summary(&asked) {
            summarised(asked);
        } else {
            return (asked, refused);
        }
    }
}

/// The notices of a thread's compactions.
async fn notices(thread: &ThreadHandle) -> Vec<(Option<Severity>, String)> {
    let items = completed(thread).await.into_iter();
    let of_compaction = items.filter_map(|item| match item.body {
        ItemBody::Notice { code, text } if code == "compacted" => Some((item.severity, text)),
        _ => None,
    });
    of_compaction.collect()
}

/// Whether the request has exactly the chain that is shown.
async fn is_as_shown(life: &Life, thread: &ThreadHandle, asked: &Asked) {
    let shown: Vec<String> = life.said(thread).await.iter().map(|said| said.to_lowercase()).collect();
    let sent: Vec<String> = asked.history().iter().map(|said| said.to_lowercase()).collect();
    assert_eq!(sent, shown, "the model sees what `thread/messages` shows");
}

async fn kind_of_failure(life: &Life, thread: &ThreadHandle, run: &RunId) -> (RunErrorKind, String) {
    let error = life.ended(thread, run).await.outcome.unwrap().error.unwrap();
    (error.kind, error.message)
}

#[tokio::test]
async fn l24_a_thread_of_60000_tokens_goes_on_answering_on_a_window_of_8000() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = long_thread(&mut life, &person).await;
    window(&life, Some(WINDOW)).await;
    let mut summaries = 0;
    for number in 0..6 {
        let run = begin(&thread, &format!("And {number}? {}", "more words ".repeat(400))).await;
        let (asked, refused) = answerable(&mut life, WINDOW, |asked| {
            summaries += 1;
            asked.ends(&format!("Summary {summaries}: they talked."));
        })
        .await;
        assert_eq!(refused, 0, "every request fits at the first try");
        is_as_shown(&life, &thread, &asked).await;
        let history = asked.history();
        assert!(history[0].contains("Summary "), "{}", history[0]);
        assert!(history.last().unwrap().starts_with(&format!("user: And {number}?")));
        asked.ends(&format!("Yes, {number}. {}", "and words ".repeat(300)));
        let ended = life.ended(&thread, &run).await;
        assert_eq!(ended.outcome.unwrap().status, OutcomeStatus::Completed);
    }
    let notices = notices(&thread).await;
    assert!((2..6).contains(&notices.len()), "not every step summarises: {notices:?}");
    assert!(notices[0].1.contains("were summarised") && notices[0].0 == Some(Severity::Info), "{notices:?}");
    assert!(summaries > notices.len(), "the first one took several requests");
}

#[tokio::test]
async fn l24_a_window_that_nobody_told_is_learned_from_refusals_and_no_request_is_made_twice() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = long_thread(&mut life, &person).await;
    window(&life, None).await;
    let run = begin(&thread, "And now?").await;
    let mut sizes = Vec::new();
    loop {
        let asked = life.asked().await;
        if size(&asked) > WINDOW {
            sizes.push(size(&asked));
            asked.refuses(RunErrorKind::ContextWindow, "The input is too long.");
        } else if is_for_a_summary(&asked) {
            asked.ends("They talked.");
        } else {
            is_as_shown(&life, &thread, &asked).await;
            asked.ends("Now this.");
            break;
        }
    }
    assert_eq!(life.ended(&thread, &run).await.outcome.unwrap().text.unwrap(), "Now this.");
    assert!(
        sizes.is_sorted_by(|a, b| a > b) && sizes.len() <= 5,
        "each request is shorter than the one before: {sizes:?}"
    );

    let run = begin(&thread, "And then?").await;
    let (asked, refused) = answerable(&mut life, WINDOW, |asked| asked.ends("They talked.")).await;
    assert_eq!(refused, 0, "what was learned is remembered");
    asked.ends("Then that.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn l24_a_refusal_that_names_the_window_is_believed_at_once() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = long_thread(&mut life, &person).await;
    window(&life, None).await;
    let run = begin(&thread, "And now?").await;
    let message = "This model's maximum context length is 8000 tokens, and your messages have more.";
    life.asked().await.refuses(RunErrorKind::ContextWindow, message);
    let (asked, refused) = answerable(&mut life, WINDOW, |asked| asked.ends("They talked.")).await;
    assert_eq!(refused, 0);
    asked.ends("Now this.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn l24_whatever_the_summariser_does_the_thread_goes_on_and_no_failure_enters_the_models_view() {
    type Does = fn(Asked);
    let ways: [(&str, Does); 5] = [
        ("is cut by its output limit", |asked| asked.breaks_off("They", &[])),
        ("refuses", |asked| asked.refuses(RunErrorKind::Auth, "SECRET-FAILURE")),
        ("says nothing", |asked| asked.ends("")),
        ("overflows", |asked| asked.refuses(RunErrorKind::ContextWindow, "SECRET-FAILURE")),
        ("calls a tool", |asked| asked.calls(&[("look", "{}")])),
    ];
    for (way, does) in ways {
        let (mut life, person) = (Life::first().await, Person::new("in-A"));
        let thread = long_thread(&mut life, &person).await;
        window(&life, Some(WINDOW)).await;
        let run = begin(&thread, "And now?").await;
        let mut tries = 0;
        let (asked, refused) = answerable(&mut life, WINDOW, |asked| {
            tries += 1;
            does(asked);
        })
        .await;
        assert!(refused == 0 && (1..=4).contains(&tries), "{way}: {refused} refused, {tries} tried");
        is_as_shown(&life, &thread, &asked).await;
        let history = asked.history();
        assert!(history[0].contains("The first words of each of them"), "{way}: {}", history[0]);
        assert!(history[0].contains("Question 2") || history[0].contains("Answer 2"), "{way}: {}", history[0]);
        assert!(!history.concat().contains("SECRET-FAILURE"), "{way}");
        asked.ends("Now this.");
        life.ended(&thread, &run).await;
        let (severity, text) = notices(&thread).await.remove(0);
        assert_eq!(severity, Some(Severity::Warning), "{way}: {text}");
    }
}

#[tokio::test]
async fn l24_an_input_that_cannot_fit_fails_clearly_and_is_no_end_of_the_thread() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = long_thread(&mut life, &person).await;
    window(&life, Some(WINDOW)).await;
    let before = life.said(&thread).await.len();
    for _ in 0..2 {
        let run = begin(&thread, &"too many words ".repeat(9_000)).await;
        let (kind, message) = kind_of_failure(&life, &thread, &run).await;
        assert_eq!(kind, RunErrorKind::ContextWindow);
        assert!(message.contains("a request may have 7,000") && message.contains("Send a shorter input"), "{message}");
    }
    assert!(!life.is_asked(), "nobody is asked in vain");
    assert_eq!(life.said(&thread).await.len(), before + 2, "failures leave no messages, only what was said");
    let run = begin(&thread, "A short one.").await;
    let (asked, refused) = answerable(&mut life, WINDOW, |asked| asked.ends("They talked.")).await;
    assert_eq!((refused, asked.history().last().unwrap().as_str()), (0, "user: A short one."));
    asked.ends("Yes.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn l24_a_window_that_nothing_fits_into_is_given_up_with_what_was_tried() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = long_thread(&mut life, &person).await;
    window(&life, None).await;
    let run = begin(&thread, "And now?").await;
    for _ in 0..60 {
        idle().await;
        if !life.is_asked() {
            break;
        }
        life.asked().await.refuses(RunErrorKind::ContextWindow, "The input is too long.");
    }
    let (kind, message) = kind_of_failure(&life, &thread, &run).await;
    assert_eq!(kind, RunErrorKind::ContextWindow);
    assert!(message.contains("window of 128,000, then "), "{message}");
}

#[tokio::test]
async fn k26_within_a_turn_the_request_is_carried_and_batches_stay_whole() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    window(&life, Some(WINDOW)).await;
    without_app_tools(&life).await;
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "Look at everything,\nthen tell me.").await;
    let mut carried = 0;
    for step in 0..12 {
        let (asked, refused) = answerable(&mut life, WINDOW, |asked| asked.ends("Much was seen.")).await;
        assert_eq!(refused, 0);
        is_as_shown(&life, &thread, &asked).await;
        let history = asked.history();
        if history[0].contains("> Look at everything,\n> then tell me.") {
            carried += 1;
            assert!(history[0].contains("Answers given to it so far: "), "{}", history[0]);
        } else {
            assert_eq!(history[0], "user: Look at everything,\nthen tell me.");
        }
        asked.calls(&[("look", "{}"), ("look", "{}")]);
        for half in 0..2 {
            let offered = person.offered("tool/call").await;
            person.returns(&offered, &format!("Seen {step} {half}: {}", "a thing ".repeat(400))).await;
        }
    }
    let (asked, _) = answerable(&mut life, WINDOW, |asked| asked.ends("Much was seen.")).await;
    asked.ends("That is all.");
    let ended = life.ended(&thread, &run).await;
    assert_eq!((ended.steps, ended.outcome.unwrap().status), (13, OutcomeStatus::Completed));
    assert!(carried > 3, "{carried}");
}

#[tokio::test]
async fn results_that_fit_are_shown_once_before_they_are_summarised() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    window(&life, Some(WINDOW)).await;
    without_app_tools(&life).await;
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "Look.").await;
    life.asked().await.calls(&[("look", "{}"), ("look", "{}"), ("look", "{}")]);
    for place in 0..3 {
        let offered = person.offered("tool/call").await;
        person.returns(&offered, &format!("Seen {place}: {}", "a thing ".repeat(950))).await;
    }
    let asked = life.asked().await;
    assert!(!is_for_a_summary(&asked) && size(&asked) > 5_600, "{}", asked.history()[0]);
    assert!(asked.history().last().unwrap().starts_with("tool: Seen 2"), "{:?}", asked.history().last());
    asked.ends("Three things.");
    life.ended(&thread, &run).await;
    let run = begin(&thread, "And now?").await;
    let (asked, _) = answerable(&mut life, WINDOW, |asked| asked.ends("They looked.")).await;
    assert!(asked.history()[0].contains("They looked."), "{}", asked.history()[0]);
    asked.ends("Nothing.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn m20_a_result_larger_than_the_window_is_cut_when_it_is_stored() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    window(&life, Some(WINDOW)).await;
    without_app_tools(&life).await;
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, &format!("BEGIN {} END", "0123456789 ".repeat(70_000))).await;
    let (asked, refused) = answerable(&mut life, WINDOW, |asked| asked.ends("Much.")).await;
    assert_eq!(refused, 0);
    is_as_shown(&life, &thread, &asked).await;
    let result = asked.history().pop().unwrap();
    assert!(result.starts_with("tool: BEGIN ") && result.ends_with(" END"), "{result}");
    let whole = format!("BEGIN {} END", "0123456789 ".repeat(70_000));
    let items = completed(&thread).await.into_iter().filter_map(|item| match item.body {
        ItemBody::ToolCall(call) => call.blob,
        _ => None,
    });
    let blob = items.last().unwrap();
    assert_eq!(blob.total_bytes, 770_010);
    assert!(result.contains(&format!(" of 770010 characters; the whole is kept as blob {}", blob.blob_id)), "{result}");
    let kept = life.engine().blob(&blob.blob_id, 0, usize::MAX).await.unwrap().unwrap();
    assert_eq!(kept.bytes, whole.as_bytes());
    assert!(text_tokens(&result) <= WINDOW / 4 + 10, "{}", text_tokens(&result));
    asked.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn a_crash_in_every_phase_of_a_compaction_leaves_a_chain_that_goes_on() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = long_thread(&mut life, &person).await;
    window(&life, Some(WINDOW)).await;
    let before = life.said(&thread).await.len();
    let run = begin(&thread, "And now?").await;

    // While the summary is being made: nothing of it is stored.
    let during = life.asked().await;
    assert!(is_for_a_summary(&during));
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    assert_eq!(life.said(&thread).await.len(), before + 1);

    // After it is stored, before the model has answered: it stays, and is not made again.
    let (_unanswered, _) = answerable(&mut life, WINDOW, |asked| asked.ends("They talked.")).await;
    let kept = life.said(&thread).await;
    assert!(kept[0].contains("They talked.") && kept.len() < before, "{kept:?}");
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    assert!(!is_for_a_summary(&asked), "what was summarised once is");
    is_as_shown(&life, &thread, &asked).await;
    assert_eq!(life.said(&thread).await, kept);
    asked.ends("Now this.");
    assert_eq!(life.ended(&thread, &run).await.outcome.unwrap().status, OutcomeStatus::Completed);
}

#[tokio::test]
async fn a_stop_while_a_summary_is_made_ends_the_run_and_stores_nothing_of_it() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = long_thread(&mut life, &person).await;
    window(&life, Some(WINDOW)).await;
    let run = begin(&thread, "And now?").await;
    let during = life.asked().await;
    assert!(is_for_a_summary(&during));
    let said = life.said(&thread).await;
    let by = ropewalk_protocol::By::of(ropewalk_protocol::ByKind::Stop);
    let stopped = run.clone();
    soon(thread.turn(move |turn| {
        turn.finish_run(&stopped, crate::engine::run::stopped(by, None));
        Ok(())
    }))
    .await
    .unwrap();
    assert_eq!(life.ended(&thread, &run).await.outcome.unwrap().status, OutcomeStatus::Stopped);
    idle().await;
    assert!(during.is_dropped(), "nobody waits for the summary any more");
    assert_eq!(life.said(&thread).await, said);
    assert!(notices(&thread).await.is_empty());
}

#[tokio::test]
async fn a_summary_that_takes_too_long_is_done_without() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = long_thread(&mut life, &person).await;
    window(&life, Some(WINDOW)).await;
    let run = begin(&thread, "And now?").await;
    let silent = life.asked().await;
    assert!(is_for_a_summary(&silent));
    life.passes(181 * SECOND).await;
    let asked = life.asked().await;
    assert!(asked.history()[0].contains("The first words of each of them") && silent.is_dropped());
    asked.ends("Now this.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn a_summary_is_shown_as_one_and_its_cost_is_the_runs() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = long_thread(&mut life, &person).await;
    window(&life, Some(WINDOW)).await;
    let run = soon(thread.submit(request(&thread, "And now?", Unattended::Decline))).await.unwrap().run_id.unwrap();
    let mut summaries = 0;
    let (asked, _) = answerable(&mut life, WINDOW, |asked| {
        summaries += 1;
        asked.ends("They talked.");
    })
    .await;
    asked.ends("Now this.");
    let ended = life.ended(&thread, &run).await;
    assert_eq!(ended.usage.requests, summaries + 1);
    let page = soon(thread.messages(thread.id().clone().into(), None, 1_000)).await.unwrap().0;
    let root = page.items.last().unwrap();
    assert!(root.summary && root.role == Role::User && root.parent_message_id.is_none());
    let (first, rest) = soon(thread.messages(thread.id().clone().into(), None, page.items.len() - 1)).await.unwrap();
    let last = soon(thread.messages(thread.id().clone().into(), rest, 10)).await.unwrap().0;
    assert_eq!([first.items, last.items].concat(), page.items, "pages end where they should");
    assert_eq!(
        soon(thread.preview(thread.id().clone().into(), None)).await.unwrap().messages.count,
        page.items.len() as u64
    );
}
