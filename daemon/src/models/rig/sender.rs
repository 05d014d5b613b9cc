//! What a request is sent with: the network, or a test that has the answer in its hand.

/// Sends requests.
#[derive(Clone)]
pub(in crate::models) enum Sender {
    /// Over the network.
    Network(reqwest::Client),
    /// Not at all: whatever is asked, the answer is status 200 and a body of these pieces.
    #[cfg(any(test, fuzzing))]
    Canned {
        /// The media type of the answer.
        content_type: &'static str,
        /// What arrives at once.
        pieces: std::sync::Arc<[bytes::Bytes]>,
    },
}

impl Sender {
    /// Sends one request.
    pub(super) async fn execute(&self, request: reqwest::Request) -> reqwest::Result<reqwest::Response> {
        match self {
            Self::Network(client) => client.execute(request).await,
            #[cfg(any(test, fuzzing))]
            Self::Canned { content_type, pieces } => Ok(canned(content_type, pieces)),
        }
    }
}

#[cfg(any(test, fuzzing))]
fn canned(content_type: &str, pieces: &std::sync::Arc<[bytes::Bytes]>) -> reqwest::Response {
    let pieces = std::sync::Arc::clone(pieces);
    let pieces = (0..pieces.len()).map(move |number| Ok::<_, std::io::Error>(pieces[number].clone()));
    let body = reqwest::Body::wrap_stream(futures::stream::iter(pieces));
    let answer = rig_core::http_client::Response::builder().header("content-type", content_type).body(body);
    answer.expect("a media type is a header's value").into()
}
