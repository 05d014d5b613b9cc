//! The providers' own clients read the scripted server as they read the providers.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use ropewalk_conformance::{ScriptedServer, ServerOptions, Shape, npm_package, read_with};

const KEY: &str = "key-of-the-readers";

/// A strict server whose window the readers overstep on purpose.
async fn server() -> ScriptedServer {
    let options = ServerOptions {
        strict: true,
        key: Some(KEY.to_owned()),
        window_tokens: Some(8_000),
        ..ServerOptions::default()
    };
    ScriptedServer::start(options).await.unwrap()
}

/// The requests of a shape, answered and refused.
fn counts(server: &ScriptedServer, shape: Shape) -> (usize, Vec<String>) {
    let requests = server.requests().into_iter().filter(|request| request.shape == shape);
    let refusals: Vec<_> = requests.map(|request| request.refused).collect();
    (refusals.iter().filter(|refused| refused.is_none()).count(), refusals.into_iter().flatten().collect())
}

#[tokio::test]
async fn openais_client_reads_chat_completions_and_responses() {
    let server = server().await;
    read_with("openai", "openai.mjs", &[&server.base_url(), KEY]).await.unwrap();
    for shape in [Shape::Chat, Shape::Responses] {
        let (answered, refused) = counts(&server, shape);
        assert!(answered >= 10, "{shape:?}: {answered}");
        assert_eq!(refused.len(), 1, "only what was too long on purpose: {shape:?}: {refused:?}");
    }
}

#[tokio::test]
async fn anthropics_client_reads_messages() {
    let server = server().await;
    read_with("@anthropic-ai/sdk", "anthropic.mjs", &[&server.root_url(), KEY]).await.unwrap();
    let (answered, refused) = counts(&server, Shape::Messages);
    assert!(answered >= 10, "{answered}");
    // A stranger, what was changed on its way back in both ways of asking, and what was too long.
    assert_eq!(refused.len(), 4, "{refused:?}");
}

#[test]
fn a_package_that_is_missing_is_named() {
    let error = npm_package("no-such-package").unwrap_err().to_string();
    assert!(error.contains("no-such-package") && error.contains("npm --prefix conformance/npm ci"), "{error}");
}
