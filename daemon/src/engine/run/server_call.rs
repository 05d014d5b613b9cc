//! Servers as a source: their calls go out by the seam, and their signs of life come back into the thread.

use futures::future::BoxFuture;
use ropewalk_protocol::{CallId, Event};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::report::Reporter;
use crate::tools::{
    CallFailure, SourceCall, SourceResult, Stakes, ToolSource, ToolSpec,
    servers::{Place, Sign, Signs},
    veil::{Secrets, veil},
};

/// Signs of life that may wait to be shown; of a call that gives more at once, some are not shown.
const SIGNS: usize = 16;

/// Characters of a sign of life that are shown.
const SIGN_CHARACTERS: usize = 500;

/// The tools of servers, for one call of one run.
pub struct ServerSource<'a> {
    /// Who drives the run.
    pub reporter: &'a Reporter,
    /// Where the run stands.
    pub place: Place,
}

impl ToolSource for ServerSource<'_> {
    fn call(&self, call: SourceCall) -> BoxFuture<'_, Result<SourceResult, CallFailure>> {
        Box::pin(self.make(call))
    }

    fn stakes<'a>(&'a self, tool: &'a ToolSpec, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Option<Stakes>> {
        match self.reporter.shared().servers.get() {
            Some(servers) => servers.stakes(&self.place, tool, arguments),
            None => Box::pin(std::future::ready(None)),
        }
    }
}

impl ServerSource<'_> {
    async fn make(&self, call: SourceCall) -> Result<SourceResult, CallFailure> {
        let Some(servers) = self.reporter.shared().servers.get() else { return Err(CallFailure::ToolUnwired) };
        let clock = &self.reporter.shared().clock;
        let (tell, mut told) = mpsc::channel(SIGNS);
        let signs = Signs::to(move |sign| {
            // Showing every sign is worth less than never keeping a call waiting.
            let _ = tell.try_send(sign);
        });
        let (call_id, began_at) = (call.call_id.clone(), clock.now());
        let veiled = veil(&call.arguments, &call.tool.input_schema);
        let secrets = veiled.map(|veiled| veiled.secrets).unwrap_or_default();
        let mut made = servers.call(&self.place, call, signs);
        let outcome = loop {
            tokio::select! {
                biased;
                outcome = &mut made => break outcome,
                Some(sign) = told.recv() => self.show(&call_id, sign, &secrets).await,
            }
        };
        let took_ms = clock.now().millis_since(began_at);
        outcome.map(|result| SourceResult { call_ms: Some(result.call_ms.unwrap_or(took_ms)), ..result })
    }

    async fn show(&self, call_id: &CallId, sign: Sign, secrets: &Secrets) {
        let call_id = call_id.clone();
        let message = sign.message.map(|text| secrets.scrubbed(&text));
        let shown = self.reporter.post(move |turn, run_id| {
            let Some(call) = turn.state().call(run_id, &call_id) else { return };
            let item_id = call.call.item_id.clone();
            turn.progress(Event::ToolProgress {
                item_id,
                interaction_id: None,
                message: message.map(|text| text.chars().take(SIGN_CHARACTERS).collect()),
                fraction: sign.fraction.filter(|fraction| fraction.is_finite()).map(|f| f.clamp(0.0, 1.0)),
            });
        });
        shown.await;
    }
}
