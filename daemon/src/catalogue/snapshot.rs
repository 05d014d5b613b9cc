//! All documents at one moment: what readers hold, and what a change is decided on.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use ropewalk_protocol::{
    Endpoint, EndpointId, EntryId, Grant, GrantId, MemoryEntry, Policy, PolicyId, PolicyLevel, Project, ProjectId,
    Provider, SecretStore, ServerId, Settings, ThreadId,
};

use super::{
    InstructionsRecord, SCRIPTED, ServerRecord,
    document::{Document, DocumentChange, Noun},
};

/// The memory entries by their ids.
pub type Memory = Arc<BTreeMap<EntryId, Arc<MemoryEntry>>>;

/// All documents as they were after one change. Never changes itself; holding one holds up nobody.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Grows by one with every change.
    pub generation: u64,
    /// The projects; exactly one has `isDefault`. Without grants and policies, which stand beside them.
    pub projects: BTreeMap<ProjectId, Arc<Project>>,
    /// The grants of all projects.
    pub grants: BTreeMap<GrantId, Arc<Grant>>,
    /// The rules of all levels, expired ones included. `matches` is 0: it is worked out when one is shown.
    pub policies: BTreeMap<PolicyId, Arc<Policy>>,
    /// The endpoints, the scripted one included. `isDefault` agrees with the settings.
    pub endpoints: BTreeMap<EndpointId, Arc<Endpoint>>,
    /// The servers, those that are part of the daemon included.
    pub servers: BTreeMap<ServerId, Arc<ServerRecord>>,
    /// What is remembered, of the user and of all projects. Runs hold what it was when they began.
    pub memory: Memory,
    /// What there is to the instructions of projects beside their text, which is the project's.
    pub instructions: BTreeMap<ProjectId, Arc<InstructionsRecord>>,
    /// The settings. `defaultEndpointId` is `scripted` as long as there is no other endpoint.
    pub settings: Arc<Settings>,
    keys: KeysKept,
}

/// Where keys are kept, which is the daemon's to say and no document's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeysKept {
    /// What kind of place.
    pub(super) store: SecretStore,
    /// Why it is that one, where it is not the best.
    pub(super) reason: Option<String>,
}

impl Snapshot {
    /// A daemon that has never been told anything.
    pub(super) fn empty(keys: KeysKept) -> Self {
        Self {
            generation: 0,
            projects: BTreeMap::new(),
            grants: BTreeMap::new(),
            policies: BTreeMap::new(),
            endpoints: BTreeMap::from([(SCRIPTED.into(), Arc::new(scripted()))]),
            memory: Memory::default(),
            instructions: BTreeMap::new(),
            servers: ServerRecord::builtin().map(|it| (it.server_id.clone(), Arc::new(it))).into(),
            settings: Arc::new(keys.shown_in(Settings::default())),
            keys,
        }
        .with_default_endpoint()
    }

    /// The snapshot after some changes.
    pub(super) fn with(&self, changes: impl IntoIterator<Item = DocumentChange>) -> Self {
        let mut next = self.clone();
        next.generation += 1;
        for change in changes {
            match change {
                DocumentChange::Put(document) => next.put(document),
                DocumentChange::Remove(noun, id) => next.remove(noun, &id),
            }
        }
        next.with_default_endpoint()
    }

    fn put(&mut self, document: Document) {
        match document {
            Document::Project(it) => drop(self.projects.insert(it.project_id.clone(), Arc::new(it))),
            Document::Grant(it) => drop(self.grants.insert(it.grant_id.clone(), Arc::new(it))),
            Document::Policy(it) => drop(self.policies.insert(it.policy_id.clone(), Arc::new(it))),
            Document::Endpoint(it) => drop(self.endpoints.insert(it.endpoint_id.clone(), Arc::new(it))),
            Document::Server(it) => drop(self.servers.insert(it.server_id.clone(), Arc::new(it))),
            Document::Memory(it) => {
                drop(Arc::make_mut(&mut self.memory).insert(it.entry_id.clone(), Arc::new(it)));
            }
            Document::Instructions(it) => drop(self.instructions.insert(it.project_id.clone(), Arc::new(it))),
            Document::Settings(it) => self.settings = Arc::new(self.keys.shown_in(it)),
        }
    }

    fn remove(&mut self, noun: Noun, id: &str) {
        match noun {
            Noun::Project => drop(self.projects.remove(id)),
            Noun::Grant => drop(self.grants.remove(id)),
            Noun::Policy => drop(self.policies.remove(id)),
            Noun::Endpoint => drop(self.endpoints.remove(id)),
            Noun::Server => drop(self.servers.remove(id)),
            Noun::Memory => drop(Arc::make_mut(&mut self.memory).remove(id)),
            Noun::Instructions => drop(self.instructions.remove(id)),
            Noun::Settings => self.settings = Arc::new(self.keys.shown_in(Settings::default())),
        }
    }

    /// Makes `isDefault` and `defaultEndpointId` one value (ruling 29).
    fn with_default_endpoint(mut self) -> Self {
        let default = default_endpoint(self.settings.default_endpoint_id.as_ref(), self.endpoints.keys());
        if self.settings.default_endpoint_id != default {
            self.settings = Arc::new(Settings { default_endpoint_id: default.clone(), ..(*self.settings).clone() });
        }
        for endpoint in self.endpoints.values_mut() {
            let is_default = default.as_ref() == Some(&endpoint.endpoint_id);
            if endpoint.is_default != is_default {
                Arc::make_mut(endpoint).is_default = is_default;
            }
        }
        self
    }

    /// The project of threads that name none.
    #[must_use]
    pub fn default_project(&self) -> &Arc<Project> {
        self.projects
            .values()
            .find(|project| project.is_default)
            .expect("opening the catalogue made one, and no change removes it")
    }

    /// The projects after one id, in the order of their ids.
    pub fn projects_after(&self, after: Option<&str>) -> impl Iterator<Item = &Arc<Project>> {
        beyond(&self.projects, after)
    }

    /// The grants of a project after one id, in the order of their ids.
    pub fn grants_after(&self, project: &ProjectId, after: Option<&str>) -> impl Iterator<Item = &Arc<Grant>> {
        beyond(&self.grants, after).filter(move |grant| grant.project_id == *project)
    }

    /// The rules after one id, in the order of their ids.
    pub fn policies_after(&self, after: Option<&str>) -> impl Iterator<Item = &Arc<Policy>> {
        beyond(&self.policies, after)
    }

    /// The memory entries after one id, in the order of their ids.
    pub fn memory_after(&self, after: Option<&str>) -> impl Iterator<Item = &Arc<MemoryEntry>> {
        beyond(&self.memory, after)
    }

    /// The endpoints after one id, in the order of their ids.
    pub fn endpoints_after(&self, after: Option<&str>) -> impl Iterator<Item = &Arc<Endpoint>> {
        beyond(&self.endpoints, after)
    }

    /// The rules about a thread of a project, at all levels, expired ones included, in no order that means anything.
    pub fn policies_for(&self, project: &ProjectId, thread: &ThreadId) -> impl Iterator<Item = &Arc<Policy>> {
        self.policies.values().filter(move |policy| match policy.level {
            PolicyLevel::Global => true,
            PolicyLevel::Project => policy.project_id.as_ref() == Some(project),
            PolicyLevel::Thread => policy.thread_id.as_ref() == Some(thread),
        })
    }
}

impl KeysKept {
    fn shown_in(&self, settings: Settings) -> Settings {
        Settings { secret_store: self.store, secret_store_reason: self.reason.clone(), ..settings }
    }
}

/// The default endpoint: the one the settings name, else the scripted one as long as there is no other.
pub(super) fn default_endpoint<'a>(
    named: Option<&EndpointId>,
    endpoints: impl IntoIterator<Item = &'a EndpointId>,
) -> Option<EndpointId> {
    let mut others = endpoints.into_iter().filter(|id| id.as_str() != SCRIPTED).peekable();
    if others.peek().is_none() {
        return Some(SCRIPTED.into());
    }
    named.filter(|named| others.any(|id| id == *named)).cloned()
}

/// An endpoint of which nothing is known but what every endpoint must have.
pub(super) fn bare_endpoint(endpoint_id: EndpointId, name: String, provider: Provider, model: String) -> Endpoint {
    Endpoint {
        endpoint_id,
        name,
        provider,
        base_url: None,
        model,
        context_tokens: None,
        max_output_tokens: None,
        headers: BTreeMap::new(),
        proxy_url: None,
        is_default: false,
        for_subtasks: false,
        enabled: true,
        capability: None,
        good_for: None,
        prices: None,
        has_credential: false,
        builtin: false,
        revision: 1,
    }
}

/// The endpoint that is part of the daemon.
fn scripted() -> Endpoint {
    let bare = bare_endpoint(SCRIPTED.into(), "Scripted".to_owned(), Provider::Scripted, SCRIPTED.to_owned());
    Endpoint { is_default: true, for_subtasks: true, builtin: true, ..bare }
}

fn beyond<'a, K, V>(map: &'a BTreeMap<K, V>, after: Option<&str>) -> impl Iterator<Item = &'a V> + use<'a, K, V>
where
    K: Ord + std::borrow::Borrow<str>,
{
    let from = after.map_or(Bound::Unbounded, Bound::Excluded);
    map.range::<str, _>((from, Bound::Unbounded)).map(|(_, value)| value)
}
