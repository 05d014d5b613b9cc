//! Servers as runs use them: listed before the model is asked, called along the path, told of when they change.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ropewalk_protocol::{
    Annotations, Event, ItemBody, PolicyDecision, PolicyOrigin, ProjectId, SourceKind, ToolState, ToolsCause,
};
use serde_json::{Value, json};

use super::ServerBook;
use crate::{
    catalogue::Caller,
    engine::{
        StopTarget, ThreadHandle,
        tests::{
            client::Person,
            life::{Life, begin, call_ends, completed, events, soon},
            model::Asked,
        },
    },
    sessions::{
        IDLE, Launch, Listing, Standing, Status,
        tests::{
            launch,
            scripted::{Does, Server, list_changed},
            text, tool, until,
        },
    },
    tools::{
        SourceDefault, ToolSpec,
        names::server_flat_name,
        servers::{Place, ServerTool},
    },
};

/// A book of scripted servers whose tools may all be used.
struct Scripted(BTreeMap<String, Server>);

impl ServerBook for Scripted {
    fn sources(&self, _: &ProjectId) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn name(&self, source: &str) -> Option<String> {
        self.0.contains_key(source).then(|| source.to_owned())
    }

    fn tools(&self, source: &str, listing: Option<&Listing>) -> Vec<ServerTool> {
        let spec = |tool: &crate::sessions::ListedTool| ToolSpec {
            flat_name: server_flat_name(source, &tool.name),
            name: tool.name.clone(),
            namespace: None,
            namespace_description: None,
            title: None,
            description: tool.description.clone(),
            annotations: Annotations::default(),
            source: source.to_owned(),
            source_kind: SourceKind::Mcp,
            source_name: source.to_owned(),
            digest: tool.digest.clone(),
            input_schema: tool.input_schema.clone(),
            output_schema: tool.output_schema.clone(),
            default: SourceDefault {
                decision: PolicyDecision::Allow,
                silence_ms: 60_000,
                exempt_from_asking: false,
                why: "a test".into(),
            },
            owner: None,
        };
        let ready = |tool| ServerTool { spec: Arc::new(spec(tool)), state: ToolState::Ready, reason: None };
        listing.map(|listing| listing.tools.iter().map(ready).collect()).unwrap_or_default()
    }

    fn launch(&self, source: &str, _: &Place) -> Option<Launch> {
        Some(launch(source, self.0.get(source)?))
    }

    fn shared_key(&self, source: &str, _: &ProjectId) -> Option<String> {
        Some(source.to_owned())
    }
}

/// A daemon with these servers, and a thread in it.
async fn with(servers: &[(&str, &Server)]) -> (Life, Person, ThreadHandle) {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let servers = servers.iter().map(|(name, server)| ((*name).to_owned(), (*server).clone())).collect();
    life.daemon.servers.know(Arc::new(Scripted(servers)));
    let thread = life.start(&person, Vec::new()).await;
    (life, person, thread)
}

fn offered(asked: &Asked) -> Vec<&str> {
    asked.request.tools.iter().map(|tool| tool.name.as_str()).filter(|name| name.starts_with("mcp_s_")).collect()
}

fn answering(calls: impl Fn(&Value) -> Vec<Does> + Send + Sync + 'static) -> Server {
    Server::with_tools(vec![tool("echo"), tool("order")], calls)
}

#[tokio::test]
async fn m19_the_first_request_has_the_tools_of_a_server_that_was_never_started_before() {
    let server = answering(|_| vec![Does::Answers(text("hello from the server"))]);
    let (mut life, _person, thread) = with(&[("s_a", &server)]).await;
    assert_eq!(server.connections(), 0, "APP-14: nothing is started before it is needed");
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    assert_eq!(offered(&asked), ["mcp_s_a__echo", "mcp_s_a__order"]);
    asked.calls(&[("mcp_s_a__echo", "{\"text\":\"hi\"}")]);
    let asked = life.asked().await;
    assert_eq!(asked.history().last().unwrap(), "tool: hello from the server");
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    assert_eq!(server.heard("tools/call")[0]["params"]["arguments"], json!({ "text": "hi" }));
    assert_eq!(call_ends(&thread).await, [json!(["completed", null, "done"])]);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn m17_a_server_that_never_answers_is_named_and_the_others_are_there() {
    let good = answering(|_| Vec::new());
    let silent = Server::new(|_| vec![Does::Writes(String::new())]);
    let (mut life, _person, thread) = with(&[("s_good", &good), ("s_silent", &silent)]).await;
    let run = begin(&thread, "go").await;
    silent.hears("initialize", 1).await;
    life.passes(Duration::from_secs(10)).await;
    let asked = life.asked().await;
    assert_eq!(offered(&asked), ["mcp_s_good__echo", "mcp_s_good__order"]);
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    let notices: Vec<String> = completed(&thread)
        .await
        .into_iter()
        .filter_map(|item| match item.body {
            ItemBody::Notice { code, text } if code == "source_missing" => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(
        notices,
        ["The model is asked without some tools. s_silent: initialize timed out: no answer within 10 s."]
    );
}

#[tokio::test]
async fn app_12_app_13_app_14_a_run_opens_the_servers_it_needs_and_never_one_that_a_rule_denies() {
    let (denied, needed) = (answering(|_| Vec::new()), answering(|_| Vec::new()));
    let (mut life, _person, thread) = with(&[("s_a", &denied), ("s_b", &needed)]).await;
    let params = json!({ "level": "global", "source": "s_a", "decision": "deny" });
    let caller = Caller { client: None, operation: None };
    let params = serde_json::from_value(params).unwrap();
    life.daemon.catalogue.set_policy(caller, PolicyOrigin::Owner, params).await.unwrap();
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    assert_eq!(offered(&asked), ["mcp_s_b__echo", "mcp_s_b__order"]);
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    assert_eq!((denied.connections(), needed.connections()), (0, 1));
}

#[tokio::test]
async fn m26_tools_that_change_in_a_run_are_told_and_in_the_next_request() {
    let is_later = Arc::<AtomicBool>::default();
    let later = is_later.clone();
    let server = Server::new(move |message| match message["method"].as_str() {
        Some("tools/list") => {
            let second = if later.load(Ordering::SeqCst) { "t2" } else { "t1" };
            let mut changing = tool("t3");
            changing["inputSchema"]["minProperties"] = json!(later.load(Ordering::SeqCst));
            vec![Does::Answers(json!({ "tools": [tool(second), changing] }))]
        }
        Some("tools/call") => vec![Does::Answers(text("done"))],
        _ => Vec::new(),
    });
    let (mut life, _person, thread) = with(&[("s_a", &server)]).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    assert_eq!(offered(&asked), ["mcp_s_a__t1", "mcp_s_a__t3"]);
    is_later.store(true, Ordering::SeqCst);
    server.write(list_changed());
    let servers = life.daemon.servers.clone();
    until("the new list is there", || servers.listed("s_a").is_some_and(|now| now.tools[0].name == "t2")).await;
    life.passes(Duration::ZERO).await;
    asked.calls(&[("mcp_s_a__t1", "{}")]);
    let asked = life.asked().await;
    assert_eq!(offered(&asked), ["mcp_s_a__t2", "mcp_s_a__t3"]);
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    let changed: Vec<_> = events(&thread)
        .await
        .into_iter()
        .filter_map(|event| match event.event {
            Event::ToolsChanged(changed) => Some((changed.cause, changed.added, changed.removed, changed.changed)),
            _ => None,
        })
        .collect();
    let names = |name: &str| vec![name.to_owned()];
    let expected = (ToolsCause::Server, names("mcp_s_a__t2"), names("mcp_s_a__t1"), names("mcp_s_a__t3"));
    assert_eq!(changed, [expected]);
    assert!(server.heard("tools/call").is_empty(), "a tool that is gone is not called");
}

#[tokio::test]
async fn m32_a_stopped_run_takes_its_call_back_from_the_server() {
    let server = answering(|_| Vec::new());
    let (mut life, person, thread) = with(&[("s_a", &server)]).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("mcp_s_a__order", "{}")]);
    server.hears("tools/call", 1).await;
    let by = crate::engine::AttachedClient::client_ref(&*person.end).clone();
    soon(thread.stop(StopTarget::Run(run.clone()), by, None)).await.unwrap();
    server.hears("notifications/cancelled", 1).await;
    life.ended(&thread, &run).await;
    let cancelled = &server.heard("notifications/cancelled")[0]["params"]["requestId"];
    assert_eq!(*cancelled, server.heard("tools/call")[0]["id"]);
    assert_eq!(call_ends(&thread).await, [json!(["cancelled", "cancelled", "unknown"])]);
}

#[tokio::test]
async fn m54_a_server_lost_in_a_call_leaves_it_unknown_and_is_there_for_the_next() {
    let server = answering(|message| match message["params"]["name"].as_str() {
        Some("order") => vec![Does::HangsUp],
        _ => vec![Does::Answers(text("hello"))],
    });
    let (mut life, _person, thread) = with(&[("s_a", &server)]).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("mcp_s_a__echo", "{}"), ("mcp_s_a__order", "{}")]);
    let asked = life.asked().await;
    assert_eq!(offered(&asked), ["mcp_s_a__echo", "mcp_s_a__order"], "it was started again");
    asked.calls(&[("mcp_s_a__echo", "{}")]);
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let done = json!(["completed", null, "done"]);
    let unknown = json!(["outcomeUnknown", "outcome_unknown", "unknown"]);
    assert_eq!(call_ends(&thread).await, [done.clone(), unknown, done]);
    let orders = server.heard("tools/call").into_iter().filter(|call| call["params"]["name"] == "order").count();
    assert_eq!(orders, 1, "nothing is ordered twice");
}

#[tokio::test]
async fn app_123_calls_of_one_message_reach_their_server_one_after_another() {
    let server = answering(|_| Vec::new());
    let (mut life, _person, thread) = with(&[("s_a", &server)]).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("mcp_s_a__echo", "{}"), ("mcp_s_a__order", "{}")]);
    for number in 1..=2 {
        server.hears("tools/call", number).await;
        life.passes(Duration::ZERO).await;
        let heard = server.heard("tools/call");
        assert_eq!(heard.len(), number);
        server.write(json!({ "jsonrpc": "2.0", "id": heard[number - 1]["id"], "result": text("done") }));
    }
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn app_8_the_session_of_a_branch_is_forgotten_once_nobody_uses_it() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let rule = serde_json::from_value(json!({ "level": "global", "source": "app", "decision": "allow" })).unwrap();
    let caller = Caller { client: None, operation: None };
    life.daemon.catalogue.set_policy(caller, PolicyOrigin::Owner, rule).await.unwrap();
    for _ in 0..3 {
        let thread = life.start(&person, Vec::new()).await;
        let run = begin(&thread, "go").await;
        life.asked().await.calls(&[("mcp_app__app_read", "{\"resource\":\"Projects\"}")]);
        life.asked().await.ends("Done.");
        life.ended(&thread, &run).await;
        assert_eq!(call_ends(&thread).await, [json!(["completed", null, "done"])]);
        assert_eq!(life.daemon.servers.statuses("app").len(), 1, "those of other branches are forgotten");
        life.passes(IDLE).await;
        let servers = life.daemon.servers.clone();
        let is_closed = |status: &Status| status.standing == Standing::Stopped;
        until("it is closed", || servers.statuses("app").iter().all(is_closed)).await;
    }
}
