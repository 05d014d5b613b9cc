//! The scripted model through the seam: what it says, how it counts, how it waits and fails.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures::{FutureExt, StreamExt, future::BoxFuture};
use ropewalk_protocol::{RunErrorKind, Timestamp};
use serde_json::json;

use super::*;
use crate::models::testing::{assistant, chained, request, result, user};

/// A clock whose waits never end, but say that they were asked for.
#[derive(Default)]
struct StoppedClock(Arc<AtomicBool>);

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, _duration: Duration) -> BoxFuture<'static, ()> {
        self.0.store(true, Ordering::Relaxed);
        futures::future::pending().boxed()
    }
}

async fn events(messages: Vec<Arc<ChainMessage>>) -> Vec<Result<ModelEvent, ModelError>> {
    let model = ScriptedModel::new(Arc::new(StoppedClock::default()));
    model.stream(request(messages, &["mcp_app__ask_user"])).collect().await
}

#[tokio::test]
async fn the_answer_is_what_its_deltas_add_up_to() {
    let events = events(vec![user("think well now\nsay hello there\ncall ask_user {\"q\": 1 }\ncall nothing")]).await;
    let deltas = &events[..events.len() - 1];
    assert_eq!(deltas.len(), 4);
    let Some(Ok(ModelEvent::Finished(answer))) = events.last() else { panic!("{events:?}") };
    assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("hello there", "well now"));
    let calls = answer.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect::<Vec<_>>();
    assert_eq!(calls, [("mcp_app__ask_user", "{\"q\": 1 }"), ("nothing", "{}")]);
    assert!(answer.usage.estimated);
    assert_eq!(answer.usage.requests, 1);
    assert!(answer.usage.input_tokens > 0 && answer.usage.output_tokens > 0);
}

#[tokio::test]
async fn results_are_reported_under_the_name_the_script_used() {
    let calls = json!([{"callId": "c1", "flatName": "mcp_app__ask_user", "arguments": {}}]);
    let chain = vec![user("call ask_user"), assistant("", &calls), result("c1", "yes")];
    let events = events(chain).await;
    let Some(Ok(ModelEvent::Finished(answer))) = events.last() else { panic!("{events:?}") };
    assert_eq!(answer.text, "ask_user: yes");
}

#[tokio::test]
async fn a_summary_is_no_script() {
    let summary = json!({"summary": true, "content": [{"type": "text", "text": "say from the past"}]});
    let events = events(vec![chained("user", &summary), user("hi")]).await;
    let Some(Ok(ModelEvent::Finished(answer))) = events.last() else { panic!("{events:?}") };
    assert_eq!(answer.text, "You said: hi");
}

#[tokio::test]
async fn a_script_whose_message_was_summarised_away_goes_on_where_it_was() {
    let carried = Carried { text: "call one\nthen call two\nthen say done".to_owned(), answers: 1 };
    let text = crate::domain::summary_text(3, "They called one. say from the past", Some(&carried));
    let summary = json!({"summary": true, "content": [{"type": "text", "text": text}]});
    let events = events(vec![chained("user", &summary)]).await;
    let Some(Ok(ModelEvent::Finished(answer))) = events.last() else { panic!("{events:?}") };
    assert_eq!(answer.calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["two"]);
}

#[tokio::test]
async fn every_word_of_failure_is_a_kind_of_the_wire_and_ends_the_stream() {
    for kind in FailKind::ALL {
        let events = events(vec![user(&format!("say x\nfail {}", kind.word()))]).await;
        let [Ok(ModelEvent::Text(_)), Err(error)] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!(serde_json::to_value(error.kind).unwrap(), json!(kind.word()));
    }
    let events = events(vec![user("fail overloaded")]).await;
    let [Err(error)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((error.kind, error.retryable), (RunErrorKind::Overloaded, true));
}

#[tokio::test]
async fn a_sleep_goes_by_the_clock_and_ends_with_the_stream() {
    let clock = StoppedClock::default();
    let asked = Arc::clone(&clock.0);
    let model = ScriptedModel::new(Arc::new(clock));
    let mut stream = model.stream(request(vec![user("say x\nsleep 5\nsay y")], &[]));
    assert!(matches!(stream.next().await, Some(Ok(ModelEvent::Text(_)))));
    assert!(stream.next().now_or_never().is_none());
    assert!(asked.load(Ordering::Relaxed));
    drop(stream);
}
