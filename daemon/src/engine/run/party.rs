//! Who is asked in a step, as people know it, and how a failure of theirs ends a run.

use ropewalk_protocol::{EndpointId, RunErrorKind, RunOutcome};

use super::failed_by;
use crate::{
    engine::Shared,
    models::{ModelError, host_of},
};

/// The endpoint that is asked.
pub struct Party {
    /// Its name.
    name: Option<String>,
    /// Where it is.
    place: String,
}

impl Party {
    /// The endpoint of this id, if there still is one.
    pub fn of(shared: &Shared, id: &EndpointId) -> Self {
        let snapshot = shared.catalogue.snapshot();
        let Some(endpoint) = snapshot.endpoints.get(id) else {
            return Self { name: None, place: "the endpoint".to_owned() };
        };
        let host = endpoint.base_url.as_deref().and_then(host_of);
        Self { name: Some(endpoint.name.clone()), place: host.unwrap_or_else(|| endpoint.name.clone()) }
    }

    /// Where it is: its host, or else its name.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The end of a run that failed by this error. What is no fault of the endpoint's does not name it.
    pub fn outcome(&self, error: ModelError) -> RunOutcome {
        let ours = matches!(error.kind, RunErrorKind::NoEndpoint | RunErrorKind::Storage | RunErrorKind::Internal);
        failed_by(error.into_run_error(self.name.clone().filter(|_| !ours)))
    }
}

#[cfg(test)]
impl Party {
    /// An endpoint that is called and found under the same name.
    pub fn named(name: &str) -> Self {
        Self { name: Some(name.to_owned()), place: name.to_owned() }
    }
}
