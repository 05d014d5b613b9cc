//! The strict model over HTTP, as an endpoint of the daemon that is measured.

use std::io;

use serde_json::{Value, json};

use super::Bench;
use crate::{ScriptedServer, ServerOptions};

/// The model and its endpoint.
pub(crate) struct StrictModel {
    pub(crate) endpoint_id: Value,
    server: ScriptedServer,
}

impl StrictModel {
    pub(crate) async fn start(bench: &Bench) -> io::Result<Self> {
        let server = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await?;
        let endpoint = json!({
            "name": "bench", "provider": "openaiCompatible", "baseUrl": server.base_url(), "model": "scripted",
        });
        let mut set = bench.subject.connect().await?.call("endpoint/set", endpoint).await?;
        Ok(Self { endpoint_id: set["endpoint"]["endpointId"].take(), server })
    }

    /// Takes the endpoint away again; how many requests the model refused.
    pub(crate) async fn finish(self, bench: &Bench) -> io::Result<usize> {
        let endpoint = json!({"endpointId": self.endpoint_id});
        bench.subject.connect().await?.call("endpoint/remove", endpoint).await?;
        Ok(self.server.requests().iter().filter(|request| request.refused.is_some()).count())
    }
}
