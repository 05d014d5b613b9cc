//! Approvals and questions: the handler, its answers and its end.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use ropewalk::{
    Approval, ApprovalAnswer, Decision, InputReply, QuestionAnswer, Questions, Tools, protocol::DecisionScope,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::{AT, Fake, attach, in_time};

fn approval(interaction: &str, summary: &str) -> Value {
    json!({
        "interactionId": interaction, "threadId": "th-1", "runId": "run-1", "callId": "call-1", "attempt": 1,
        "tool": {"name": "get_issue", "source": "client:bot", "annotations": {}}, "arguments": {"id": "7"},
        "index": 1, "total": 1, "summary": summary, "choices": ["accept", "decline"], "expiresAt": AT,
    })
}

fn questions(interaction: &str) -> Value {
    json!({
        "interactionId": interaction, "threadId": "th-1", "runId": "run-1", "callId": "call-1", "attempt": 1,
        "questions": [{"id": "q1", "text": "Which?", "options": [{"label": "A"}, {"label": "B"}]}],
    })
}

#[tokio::test]
async fn dyn_21_the_handler_is_called_once_for_each_approval() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let (fake, connect) = Fake::new();
    let connect = connect.on_approval(move |approval: Approval| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move {
            assert_eq!(approval.arguments, Some(json!({"id": "7"})));
            Decision::Accept
        }
    });
    let (fake, _thread) = attach(fake, connect, Tools::new()).await;
    for interaction in ["int-1", "int-2", "int-1"] {
        let answer = fake.ask("approval/request", approval(interaction, "s")).await.unwrap();
        assert_eq!(answer, json!({"decision": "accept"}));
    }
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn dyn_21_a_choice_this_build_does_not_know_does_not_hide_the_approval() {
    let (fake, connect) = Fake::new();
    let connect = connect.on_approval(|approval: Approval| async move {
        assert_eq!(approval.choices, [Decision::Accept, Decision::Decline]);
        Decision::Accept
    });
    let (fake, _thread) = attach(fake, connect, Tools::new()).await;
    let mut request = approval("int-1", "s");
    request["choices"] = json!(["accept", "acceptForTheMoon", "decline"]);
    assert_eq!(fake.ask("approval/request", request).await.unwrap(), json!({"decision": "accept"}));
}

#[tokio::test]
async fn dyn_22_each_decision_has_its_word() {
    let (fake, connect) = Fake::new();
    let connect = connect.on_approval(|approval: Approval| async move {
        let decision = match approval.summary.as_str() {
            "accept" => Decision::Accept,
            "acceptForSession" => Decision::AcceptForSession,
            "acceptAlways" => Decision::AcceptAlways,
            "cancel" => Decision::Cancel,
            _ => Decision::Decline,
        };
        ApprovalAnswer { decision, scope: Some(DecisionScope::Global), note: Some("n".to_owned()) }
    });
    let (fake, _thread) = attach(fake, connect, Tools::new()).await;
    for word in ["accept", "acceptForSession", "acceptAlways", "decline", "cancel"] {
        let answer = fake.ask("approval/request", approval(word, word)).await.unwrap();
        assert_eq!(answer, json!({"decision": word, "scope": "global", "note": "n"}));
    }
}

#[tokio::test]
async fn dyn_23_the_signal_fires_when_somebody_else_answered_first() {
    let (told, mut hear) = mpsc::unbounded_channel();
    let (fake, connect) = Fake::new();
    let connect = connect.on_approval(move |approval: Approval| {
        let told = told.clone();
        async move {
            told.send(approval.is_cancelled()).unwrap();
            approval.cancelled().await;
            told.send(approval.is_cancelled()).unwrap();
            Decision::Accept
        }
    });
    let (fake, _thread) = attach(fake, connect, Tools::new()).await;
    let pending = fake.begin("approval/request", approval("int-1", "s"));
    assert_eq!(in_time(hear.recv()).await, Some(false));
    fake.settle("int-1", "answered");
    assert_eq!(in_time(hear.recv()).await, Some(true));
    assert!(in_time(pending).await.unwrap().is_err(), "no decision is sent after the end");
}

#[tokio::test]
async fn dyn_25_a_handler_that_panics_or_has_no_answer_decides_nothing() {
    let (fake, connect) = Fake::new();
    let connect = connect.on_approval(|approval: Approval| async move {
        assert_ne!(approval.summary, "panic", "boom");
        None::<Decision>
    });
    let (fake, _thread) = attach(fake, connect, Tools::new()).await;
    let error = fake.ask("approval/request", approval("int-1", "panic")).await.unwrap_err();
    assert!(error.message.contains("boom"), "{error}");
    let error = fake.ask("approval/request", approval("int-2", "none")).await.unwrap_err();
    assert!(error.message.contains("no answer"), "{error}");
}

#[tokio::test]
async fn x19_a_client_without_handlers_says_that_it_does_not_know_the_request() {
    let (fake, connect) = Fake::new();
    let (fake, _thread) = attach(fake, connect, Tools::new()).await;
    assert_eq!(fake.ask("approval/request", approval("int-1", "s")).await.unwrap_err().code, -32601);
    assert_eq!(fake.ask("input/request", questions("int-2")).await.unwrap_err().code, -32601);
}

#[tokio::test]
async fn x01_handlers_answer_after_every_handle_but_the_client_is_gone() {
    let (fake, connect) = Fake::new();
    let (fake, thread) = attach(fake, connect.on_approval(async |_| Decision::Accept), Tools::new()).await;
    let client = thread.client().clone();
    drop(thread.run("hello").submit().await.unwrap());
    drop(thread);
    let answer = fake.ask("approval/request", approval("int-1", "s")).await.unwrap();
    assert_eq!(answer["decision"], "accept");
    drop(client);
}

#[tokio::test]
async fn dyn_27_questions_are_answered_by_the_input_handler() {
    let (fake, connect) = Fake::new();
    let connect = connect.on_input(|asked: Questions| async move {
        if asked.interaction_id.as_str() == "int-2" {
            return InputReply::Declined;
        }
        let answer = QuestionAnswer { selected: vec![1], other: Some("or C".to_owned()) };
        InputReply::Answers(BTreeMap::from([(asked.questions[0].id.clone(), answer)]))
    });
    let (fake, _thread) = attach(fake, connect, Tools::new()).await;
    let answer = fake.ask("input/request", questions("int-1")).await.unwrap();
    assert_eq!(answer, json!({"answers": {"q1": {"selected": [1], "other": "or C"}}}));
    let answer = fake.ask("input/request", questions("int-2")).await.unwrap();
    assert_eq!(answer, json!({"declined": true}));
}

#[tokio::test]
async fn a_refused_answer_is_asked_for_anew() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let (fake, connect) = Fake::new();
    let connect = connect.on_input(move |_: Questions| {
        let call = counted.fetch_add(1, Ordering::SeqCst);
        async move { if call == 0 { InputReply::Answers(BTreeMap::new()) } else { InputReply::Dismissed } }
    });
    let (fake, _thread) = attach(fake, connect, Tools::new()).await;
    fake.ask("input/request", questions("int-1")).await.unwrap();
    let refused = json!({"interactionId": "int-1", "path": "/answers/q9", "reason": "unknown_question"});
    fake.tell("interaction/invalidAnswer", refused);
    let answer = fake.ask("input/request", questions("int-1")).await.unwrap();
    assert_eq!(answer, json!({"dismissed": true}));
}
