//! Requests that runs make by their tools: the same methods, the same journal, on behalf of the run.

use std::sync::{Arc, Weak};

use futures::future::BoxFuture;
use ropewalk_peer::internal_error;
use ropewalk_protocol::{OperationId, RpcError};
use serde_json::{Value, value::to_raw_value};
use tokio_util::sync::CancellationToken;

use super::{Call, OnBehalf, Table, UntilAnswered, answer, peek::Peek};
use crate::{
    app::{Asked, Writer},
    daemon::Daemon,
    peer::Client,
};

/// Lets the App tools change things through this table. Only the first word counts.
pub fn serve_runs(daemon: &Arc<Daemon>, table: &Arc<Table>) {
    daemon.app.write_through(Arc::new(Requests { daemon: Arc::downgrade(daemon), table: table.clone() }));
}

struct Requests {
    daemon: Weak<Daemon>,
    table: Arc<Table>,
}

impl Writer for Requests {
    fn ask(&self, asked: Asked) -> BoxFuture<'_, Result<Value, RpcError>> {
        Box::pin(self.answered(asked))
    }
}

impl Requests {
    async fn answered(&self, asked: Asked) -> Result<Value, RpcError> {
        let Some(daemon) = self.daemon.upgrade() else { return Err(internal_error("the daemon is gone")) };
        let Asked { place, method, mut params, intent } = asked;
        let Some(entry) = self.table.entry(method) else {
            return Err(internal_error(&format!("there is no {method}")));
        };
        // One client's operations are another's as well, so those of runs have a prefix of their own.
        let id = params.get("operationId").and_then(Value::as_str).map(|id| format!("{}:{id}", place.branch_id));
        if let Some(id) = &id {
            params["operationId"] = id.clone().into();
        }
        // Told beside the parameters, it is part of the request all the same: a repeat with another is another request.
        if let Some(intent) = &intent {
            params["intent"] = intent.clone().into();
        }
        let params = to_raw_value(&params).map_err(|error| internal_error(&error.to_string()))?;
        let peek = Peek::at(entry, Some(&params))?;
        let run = daemon.clients.of_a_run(&place.run_id);
        let leaving = Leaving(run.clone());
        let until_answered = UntilAnswered::default();
        let call = Call {
            daemon: daemon.clone(),
            client: run,
            method: entry.name,
            on_behalf: Some(Arc::new(OnBehalf { place, intent })),
            operation: None,
            replay: None,
            cancel: CancellationToken::new(),
            in_batch: false,
            until_answered: until_answered.clone(),
            claim: Arc::default(),
        };
        let answered = answer(&self.table, call, Some(&params), id.map(OperationId::from), peek.waits).await;
        until_answered.release();
        drop(leaving);
        serde_json::from_str(&answered?).map_err(|error| internal_error(&error.to_string()))
    }
}

/// Has a run let go of whatever it was attached to by a request, also where nobody waits for its answer any more.
struct Leaving(Arc<Client>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.end();
    }
}
