//! The catalogue from outside: changes go in, documents, rows, records and refusals come out.

mod choice;
mod endpoints;
mod fakes;
mod grants;
mod instructions;
mod memory;
mod policies;
mod projects;
mod reviewing_again;
mod secrets;
mod security;
mod servers;
mod settings;
mod sources;
mod writer;

use std::{fmt::Debug, sync::Arc};

use ropewalk_protocol::{
    ClientRef, EndpointChanged, EndpointId, EndpointSetParams, ErrorDetail, Patch, Project, ProjectCreateParams,
    Provider, RpcError, Timestamp,
};

use self::fakes::{FakeClock, FakeSecrets, FakeStore, FakeTools};
use super::{Caller, Catalogue, Operation, Refusal};
use crate::clock::Ids;

/// Now, for all of these tests.
const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// A catalogue with everything around it in reach.
struct World {
    store: Arc<FakeStore>,
    secrets: Arc<FakeSecrets>,
    catalogue: Arc<Catalogue>,
}

impl World {
    async fn new() -> Self {
        Self::with(Arc::default(), Arc::default()).await
    }

    /// A daemon that starts on what another one left.
    async fn with(store: Arc<FakeStore>, secrets: Arc<FakeSecrets>) -> Self {
        let ids = Arc::new(Ids::new(NOW));
        let catalogue =
            Catalogue::open(store.clone(), Arc::new(FakeClock(NOW)), ids, secrets.clone()).await.expect("it opens");
        catalogue.look_up_tools_in(Arc::new(FakeTools));
        Self { store, secrets, catalogue }
    }

    async fn restarted(&self) -> Self {
        Self::with(self.store.clone(), self.secrets.clone()).await
    }

    async fn project(&self, name: &str) -> Project {
        let params = ProjectCreateParams { name: name.to_owned(), ..Default::default() };
        self.catalogue.create_project(client(), params).await.expect("a project").project
    }

    async fn set(&self, params: EndpointSetParams) -> Result<EndpointChanged, Refusal> {
        self.catalogue.set_endpoint(client(), params).await
    }

    async fn endpoint(&self, name: &str) -> EndpointId {
        self.set(endpoint_params(name)).await.expect("an endpoint").endpoint.endpoint_id
    }
}

/// A new endpoint of a kind that needs an address.
fn endpoint_params(name: &str) -> EndpointSetParams {
    EndpointSetParams {
        name: Some(name.to_owned()),
        provider: Some(Provider::OpenaiCompatible),
        base_url: Patch::Set("https://models.example/v1".to_owned()),
        model: Some("gpt-x".to_owned()),
        ..Default::default()
    }
}

fn client() -> Caller {
    let client = ClientRef { client_name: "bot".to_owned(), instance_id: "in-A".into() };
    Caller { client: Some(client), operation: None }
}

fn operation(id: &str, method: &str) -> Caller {
    let operation = Operation { id: id.into(), digest: "d".to_owned(), method: method.to_owned() };
    Caller { operation: Some(operation), ..client() }
}

/// Where and why parameters were refused.
fn invalid<T: Debug>(result: Result<T, Refusal>) -> (String, String) {
    match detail(result) {
        ErrorDetail::InvalidParams { path, reason, .. } => (path, reason),
        other => panic!("invalidParams was expected, not {other:?}"),
    }
}

/// What was not found.
fn missing<T: Debug>(result: Result<T, Refusal>) -> (String, String) {
    match detail(result) {
        ErrorDetail::NotFound { noun, id } => (noun, id),
        other => panic!("notFound was expected, not {other:?}"),
    }
}

/// What a refused change should have been based on.
fn conflict<T: Debug>(result: Result<T, Refusal>) -> (Option<u64>, Option<serde_json::Value>) {
    match detail(result) {
        ErrorDetail::Conflict { current_revision, current } => (current_revision, current),
        other => panic!("conflict was expected, not {other:?}"),
    }
}

fn detail<T: Debug>(result: Result<T, Refusal>) -> ErrorDetail {
    RpcError::from(result.expect_err("a refusal was expected")).data.detail
}

/// A path and a reason to compare with.
fn at(path: &str, reason: &str) -> (String, String) {
    (path.to_owned(), reason.to_owned())
}
