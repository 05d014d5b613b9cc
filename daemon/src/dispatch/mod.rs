//! The table of all methods, and the way of a request through it: parameters, operations, panics.
//!
//! The table is jsonrpsee's, the connection ours: [`Table::on`] registers one handler a method of the catalogue, and
//! `answer` calls it with a [`Call`] of this one request.

mod answer;
mod call;
mod daemon;
mod host;
mod journal;
mod operations;
mod params;
mod peek;
mod runs;
mod touched;
mod work;

use std::{collections::HashMap, sync::Arc};

use jsonrpsee::{
    ConnectionId, Extensions, MethodCallback, RpcModule,
    types::{ErrorObject, ErrorObjectOwned, Id, Params},
};
use ropewalk_protocol::{Direction, METHODS, Method, MethodEntry, RpcError};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

pub(crate) use answer::answer;
pub(crate) use call::UntilAnswered;
pub use call::{Call, OnBehalf, Operation};
pub use host::{Host, Standing};
pub use journal::{Journal, StoredOperation};
pub(crate) use peek::{Peek, is_answered_while_starting};

use crate::{daemon::Daemon, engine::on_behalf_of};

/// What answers one method: any `async fn(Call, M::Params) -> Result<M::Result, RpcError>`.
pub trait Handler<M: Method, H: Host>: Clone + Send + Sync + 'static {
    /// Answers one request.
    fn handle(&self, call: Call<H>, params: M::Params) -> impl Future<Output = Result<M::Result, RpcError>> + Send;
}

impl<M, H, F, Fut> Handler<M, H> for F
where
    M: Method,
    H: Host,
    F: Fn(Call<H>, M::Params) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<M::Result, RpcError>> + Send,
{
    fn handle(&self, call: Call<H>, params: M::Params) -> impl Future<Output = Result<M::Result, RpcError>> + Send {
        self(call, params)
    }
}

/// Every method this daemon answers.
pub struct Table<H: Host = Daemon> {
    module: RpcModule<()>,
    entries: HashMap<&'static str, &'static MethodEntry>,
    operations: Arc<operations::Operations>,
    host: std::marker::PhantomData<fn(H)>,
}

impl<H: Host> Default for Table<H> {
    fn default() -> Self {
        Self {
            module: RpcModule::new(()),
            entries: HashMap::new(),
            operations: Arc::default(),
            host: std::marker::PhantomData,
        }
    }
}

impl<H: Host> Table<H> {
    /// Answers the method `M` with `handler`. A second handler for a method is a fault of the program and panics, as
    /// does a method that is not one of the catalogue a client may call.
    pub fn on<M: Method>(&mut self, handler: impl Handler<M, H>) -> &mut Self {
        let entry = METHODS
            .iter()
            .find(|entry| entry.name == M::NAME && entry.direction == Direction::ToDaemon)
            .expect("every method a client may call is in the catalogue");
        self.entries.insert(M::NAME, entry);
        self.module
            .register_async_method(M::NAME, move |params, _, extensions| {
                let handler = handler.clone();
                async move { handle::<M, H>(&handler, &params, &extensions).await.map_err(to_jsonrpsee) }
            })
            .expect("a method has one handler");
        self
    }

    /// The methods of the catalogue a client may call that have no handler, in the order of the catalogue.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let to_daemon = METHODS.iter().filter(|entry| entry.direction == Direction::ToDaemon);
        to_daemon.map(|entry| entry.name).filter(|name| !self.entries.contains_key(name)).collect()
    }

    /// What the catalogue says of a method that has a handler.
    pub(crate) fn entry(&self, method: &str) -> Option<&'static MethodEntry> {
        self.entries.get(method).copied()
    }

    pub(crate) const fn operations(&self) -> &Arc<operations::Operations> {
        &self.operations
    }

    /// Calls the handler of `call.method`.
    async fn invoke(&self, call: Call<H>, params: Option<&RawValue>) -> Result<String, RpcError> {
        let Some(MethodCallback::Async(callback)) = self.module.method(call.method) else {
            return Err(ropewalk_peer::internal_error(&format!("{} has no handler", call.method)));
        };
        // What was answered before is only waited for again.
        if call.replay.is_none() && self.entry(call.method).is_some_and(work::begins_work) {
            call.daemon.room()?;
        }
        let params = Params::new(params.map(RawValue::get)).into_owned();
        let mut extensions = Extensions::new();
        extensions.insert(call);
        // Ids and connections of ours are not known to jsonrpsee, and sizes are seen to where lines are written.
        let response = callback(OUR_ID, params, ConnectionId(0), usize::MAX, extensions).await;
        from_jsonrpsee(response.as_ref())
    }
}

async fn handle<M: Method, H: Host>(
    handler: &impl Handler<M, H>,
    params: &Params<'static>,
    extensions: &Extensions,
) -> Result<Box<RawValue>, RpcError> {
    let call = extensions.get::<Call<H>>().expect("every request is called with its call").clone();
    let params = params::read::<M::Params>(params.as_str())?;
    let origin = call.daemon.origin(&call.client);
    let result = on_behalf_of(origin, handler.handle(call, params)).await?;
    to_raw_value(&result)
        .map_err(|error| ropewalk_peer::internal_error(&format!("a result of {} cannot be written: {error}", M::NAME)))
}

const OUR_ID: Id<'static> = Id::Number(0);
const RESULT_HEAD: &str = r#"{"jsonrpc":"2.0","id":0,"result":"#;

fn to_jsonrpsee(error: RpcError) -> ErrorObjectOwned {
    ErrorObject::owned(error.code, error.message, Some(error.data))
}

/// Takes a response of jsonrpsee apart: the text of its result, or its error. The one place that knows how it looks.
fn from_jsonrpsee(response: &str) -> Result<String, RpcError> {
    #[derive(Deserialize)]
    struct Refused {
        error: RpcError,
    }
    if let Some(result) = response.strip_prefix(RESULT_HEAD).and_then(|rest| rest.strip_suffix('}')) {
        return Ok(result.to_owned());
    }
    match serde_json::from_str::<Refused>(response) {
        Ok(refused) => Err(refused.error),
        Err(error) => Err(ropewalk_peer::internal_error(&format!("a response of the method table is odd: {error}"))),
    }
}
