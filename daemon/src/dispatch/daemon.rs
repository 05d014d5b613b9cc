//! The daemon as its connections see it: the real [`Host`].

use std::{sync::Arc, time::Duration};

use futures::{FutureExt as _, future::BoxFuture};
use ropewalk_peer::{Feed, Peer};
use ropewalk_protocol::{InstanceId, Notification, OperationId, RpcError, ToolProgressParams, ToolProgressSent};
use serde_json::value::RawValue;

use super::{Host, Journal, Standing, StoredOperation, Table, runs::serve_runs, touched};
use crate::{
    clock::Clock,
    daemon::{Daemon, OperationJournal},
    engine::starting,
    peer::Client,
};

/// How long a request waits at the start for what it is about; then its sender is told how far that is.
const AT_THE_START: Duration = Duration::from_secs(10);

impl Host for Daemon {
    type Client = Client;

    fn connected(self: &Arc<Self>, peer: &Peer) -> (Arc<Client>, Arc<dyn Feed>) {
        let client = self.clients.open(peer);
        let feed: Arc<dyn Feed> = client.feed().clone();
        (client, feed)
    }

    fn disconnected(self: &Arc<Self>, client: &Arc<Client>) {
        self.clients.close(client);
        self.quieter();
    }

    fn notification(self: &Arc<Self>, client: &Arc<Client>, method: &str, params: Option<&RawValue>) {
        if method != ToolProgressSent::NAME {
            return;
        }
        let params = params.and_then(|params| serde_json::from_str::<ToolProgressParams>(params.get()).ok());
        let Some(params) = params else { return };
        let (engine, client) = (self.engine.clone(), client.client_ref());
        tokio::spawn(async move {
            if let Ok(thread) = engine.thread_of_interaction(&params.interaction_id) {
                thread.progress(client, params).await;
            }
        });
    }

    fn origin(&self, client: &Client) -> Option<InstanceId> {
        client.origin()
    }

    fn journal(&self) -> &dyn Journal {
        &self.journal
    }

    fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    fn standing(&self) -> Standing {
        Self::standing(self)
    }

    fn until_usable(
        self: &Arc<Self>,
        method: &str,
        params: Option<&RawValue>,
    ) -> Option<BoxFuture<'static, Result<(), RpcError>>> {
        if !self.engine.is_taking_up() {
            return None;
        }
        let (daemon, touched) = (self.clone(), touched::by(method, params));
        let usable = async move {
            let patience = daemon.clock.sleep(AT_THE_START);
            tokio::select! {
                biased;
                usable = daemon.engine.can_be_used(touched) => usable,
                () = patience => Err(starting(daemon.is_reading().flatten())),
            }
        };
        Some(usable.boxed())
    }

    fn room(&self) -> Result<(), RpcError> {
        Self::room(self)
    }

    fn served_by(self: &Arc<Self>, table: &Arc<Table>) {
        serve_runs(self, table);
    }

    fn wound_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.engine.park())
    }
}

impl Journal for OperationJournal {
    fn find(&self, id: &OperationId) -> Result<Option<StoredOperation>, RpcError> {
        let row = Self::find(self, id)?;
        Ok(row.map(|row| StoredOperation { digest: row.digest, method: row.method, at: row.at, answer: row.answer }))
    }

    fn digest(&self, method: &str, canonical_params: &[u8]) -> String {
        Self::digest(self, method, canonical_params)
    }
}
