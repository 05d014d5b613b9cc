//! Which endpoint a run uses (ruling 29).

use std::sync::Arc;

use ropewalk_protocol::{Endpoint, EndpointId, ProjectId};

use super::Snapshot;

/// Why a run has no endpoint it may use; such a run fails with `noEndpoint` and this sentence.
///
/// A named endpoint that cannot be used is never replaced by another one: its thread's text was meant for that
/// provider and no other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoEndpoint {
    /// Nobody named one and there is no default.
    #[error(
        "No endpoint is chosen and none is the default. Make one the default, or name one for the thread or its project."
    )]
    NoneChosen,
    /// The one that was named has been removed.
    #[error("The endpoint {endpoint} that the {by} names has been removed. Name another one.")]
    Removed {
        /// Its id.
        endpoint: EndpointId,
        /// What names it: `thread` or `project`.
        by: &'static str,
    },
    /// The one that was chosen is switched off.
    #[error("The endpoint {name} is switched off. Enable it or choose another one.")]
    Disabled {
        /// Its name.
        name: String,
    },
}

impl Snapshot {
    /// The endpoint of a run: the one its thread names, else the one its project names, else the default.
    ///
    /// # Errors
    /// When the first of these that is named cannot be used, or none is named and there is no default.
    pub fn which_endpoint(
        &self,
        of_thread: Option<&EndpointId>,
        project: &ProjectId,
    ) -> Result<Arc<Endpoint>, NoEndpoint> {
        let of_project = || self.projects.get(project).and_then(|project| project.default_endpoint_id.as_ref());
        let named = of_thread.map(|id| (id, "thread")).or_else(|| of_project().map(|id| (id, "project")));
        let endpoint = match (named, &self.settings.default_endpoint_id) {
            (Some((id, by)), _) => {
                self.endpoints.get(id).ok_or_else(|| NoEndpoint::Removed { endpoint: id.clone(), by })?
            }
            (None, Some(default)) => self.endpoints.get(default).ok_or(NoEndpoint::NoneChosen)?,
            (None, None) => return Err(NoEndpoint::NoneChosen),
        };
        if endpoint.enabled {
            Ok(Arc::clone(endpoint))
        } else {
            Err(NoEndpoint::Disabled { name: endpoint.name.clone() })
        }
    }
}
