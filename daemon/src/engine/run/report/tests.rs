//! What a driver reports while its run is being ended by somebody else.

use futures::future::join;
use ropewalk_protocol::{InputRequest, InteractionBody, InteractionKind};

use super::*;
use crate::engine::{
    StopTarget, lookup,
    run::waiting::{self, Asking},
    tests::{
        client::Person,
        life::{Life, begin, soon, types},
    },
};

fn question(run_id: RunId, thread: &ThreadHandle) -> Asking {
    let thread_id = thread.id().clone();
    let body = move |id: &ropewalk_protocol::InteractionId, expires_at| {
        InteractionBody::Input(InputRequest {
            interaction_id: id.clone(),
            thread_id,
            run_id,
            call_id: "call-1".into(),
            attempt: 1,
            questions: Vec::new(),
            path: Vec::new(),
            expires_at,
        })
    };
    Asking {
        id: "int-1".into(),
        body: Box::new(body),
        kind: InteractionKind::Input,
        call_id: "call-1".into(),
        owner: None,
        lifetime_ms: None,
        silence_ms: None,
    }
}

#[tokio::test]
async fn dyn_39_what_a_driver_opens_in_the_sync_that_ends_its_run_is_not_opened() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let _asked = life.asked().await;
    let reporter = Reporter::new(thread.clone(), run.clone(), 1);
    let stop = thread.stop(StopTarget::Run(run.clone()), person.end.client_ref().clone(), None);
    let (stopped, opened) = soon(join(stop, waiting::open(&reporter, question(run, &thread)))).await;
    stopped.unwrap();
    assert!(opened.is_err(), "the run is over");
    assert_eq!(types(&thread).await.last().map(String::as_str), Some("runCompleted"));
    assert_eq!(lookup::counts(thread.shared()).unwrap().1, 0, "nothing is open");
}
