//! What a server survives, and when it ends.

use rmcp::{
    ServiceExt as _,
    model::{CallToolRequest, CallToolRequestParams, ClientRequest},
    service::PeerRequestOptions,
};
use serde_json::json;
use tokio::io::AsyncReadExt as _;

use super::world::{BROKEN, ENDLESS, World, soon};

#[tokio::test]
async fn a_panic_of_one_tool_is_an_error_and_the_next_call_works() {
    let client = World::new().client().await;
    let arguments = json!({"resource": "Thread", "threadId": BROKEN}).as_object().cloned().unwrap();
    let params = CallToolRequestParams::new("app_read").with_arguments(arguments);
    let error = soon(client.running.call_tool(params)).await.unwrap_err().to_string();
    assert!(error.contains("app_read failed inside the daemon"), "{error}");
    client.page(json!({"resource": "Thread"})).await;
}

#[tokio::test]
async fn a_call_that_is_taken_back_ends_and_holds_up_no_other() {
    let client = World::new().client().await;
    let mut request = CallToolRequest::new(CallToolRequestParams::new("app_read"));
    request.params.arguments = json!({"resource": "Thread", "threadId": ENDLESS}).as_object().cloned();
    let request = ClientRequest::CallToolRequest(request);
    let sent = client.running.send_cancellable_request(request, PeerRequestOptions::no_options());
    let waiting = soon(sent).await.unwrap();
    client.page(json!({"resource": "Thread"})).await;
    soon(waiting.cancel(None)).await.unwrap();
    client.page(json!({"resource": "Thread"})).await;
}

#[tokio::test]
async fn an_unknown_tool_is_refused_with_those_there_are() {
    let client = World::new().client().await;
    let error = client.error("app_write", json!({})).await;
    assert!(error.contains("app_write") && error.contains("app_navigate, app_projects, app_read"), "{error}");
}

#[tokio::test]
async fn app_8_the_server_ends_with_its_client() {
    let client = World::new().client().await;
    let world = client.world.clone();
    soon(client.running.cancel()).await.unwrap();
    drop(client.world);
    soon(async {
        while std::sync::Arc::strong_count(&world) > 1 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn bytes_that_are_no_protocol_end_nothing_but_their_own_server() {
    use tokio::io::AsyncWriteExt as _;
    let client = World::new().client().await;
    let place = crate::tools::servers::Place {
        project_id: "p1".into(),
        thread_id: "t1".into(),
        branch_id: "t1".into(),
        run_id: "r2".into(),
        unattended: ropewalk_protocol::Unattended::Decline,
    };
    let mut pipe =
        crate::app::AppServer::new(place.clone(), client.world.clone(), client.world.clone(), client.world.clone())
            .begin();
    pipe.write_all(b"no protocol\n\xff\xfe\n{}\n").await.unwrap();
    pipe.shutdown().await.unwrap();
    let mut rest = Vec::new();
    soon(pipe.read_to_end(&mut rest)).await.unwrap();
    let fresh =
        crate::app::AppServer::new(place, client.world.clone(), client.world.clone(), client.world.clone()).begin();
    soon(().serve(fresh)).await.unwrap();
}
