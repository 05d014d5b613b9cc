//! Documents as the daemon's log and its rows keep them.
//!
//! A record of the daemon's log has one fact for each document it changes, whole, and no events: it takes no sequence
//! number, so `n` is 1 in every record of this log. What is worked out from other documents or from the running
//! daemon (`isDefault` of an endpoint, `matches` of a policy, grants and policies of a project) is never stored.

use ropewalk_protocol::{DataKind, Endpoint, Grant, MemoryEntry, Policy, Project, SecretStore, Settings};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{InstructionsRecord, SCRIPTED, ServerRecord, facts::OtherFact};
use crate::store::{OperationRow, Record, RowChange, Rows, expired_before, keys};

/// The id of the one settings document.
const SETTINGS_ID: &str = "settings";

/// A document of the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Document {
    Project(Project),
    Grant(Grant),
    Policy(Policy),
    Endpoint(Endpoint),
    Server(ServerRecord),
    Memory(MemoryEntry),
    Instructions(InstructionsRecord),
    Settings(Settings),
}

/// What happens to one document.
#[expect(
    clippy::large_enum_variant,
    reason = "a change has one to three of these, and they live until it is committed"
)]
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DocumentChange {
    Put(Document),
    Remove(Noun, String),
}

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Noun {
    Project,
    Grant,
    Policy,
    Endpoint,
    Server,
    Memory,
    Instructions,
    Settings,
}

/// One change of one document, as a fact of a record.
#[derive(Serialize, Deserialize)]
struct Fact {
    fact: FactKind,
    noun: Noun,
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document: Option<Box<RawValue>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum FactKind {
    Document,
    Removed,
    Tombstone,
    Gone,
    Outlived,
    OperationsExpired,
    /// Facts of others in the same log.
    #[serde(other)]
    Foreign,
}

/// The rows that follow from a record of the daemon's log: its documents, its operation, tombstones of threads and the end
/// of operations. Facts that are not of the catalogue lead to no rows here.
///
/// # Errors
/// A sentence, when a fact of the catalogue cannot be understood, or the index cannot be read.
pub fn rows_of(record: &Record, known: &dyn Rows) -> Result<Vec<RowChange>, String> {
    #[derive(Deserialize)]
    struct Head {
        fact: FactKind,
    }

    let mut rows = Vec::with_capacity(record.facts.len() + 1);
    for fact in &record.facts {
        let head: Head = serde_json::from_str(fact.get()).map_err(|cause| cause.to_string())?;
        match head.fact {
            FactKind::Document | FactKind::Removed => {
                let fact: Fact = serde_json::from_str(fact.get()).map_err(|cause| cause.to_string())?;
                rows.push(row_of(&fact)?);
            }
            FactKind::Tombstone | FactKind::Gone | FactKind::Outlived | FactKind::OperationsExpired => {
                rows.extend(OtherFact::read(fact)?.rows(known)?);
            }
            FactKind::Foreign => {}
        }
    }
    if let Some(operation) = &record.op
        && record.at >= expired_before(known).map_err(|error| error.to_string())?
    {
        rows.extend(OperationRow::changes(record.at, operation, None)?);
    }
    Ok(rows)
}

fn row_of(fact: &Fact) -> Result<RowChange, String> {
    let key = keys::document(fact.noun.word(), &fact.id);
    match (fact.fact, &fact.document) {
        (FactKind::Document, Some(document)) => Ok(RowChange::Put(key, document.get().as_bytes().to_vec())),
        (FactKind::Document, None) => Err(format!("the fact about {} {} has no document", fact.noun.word(), fact.id)),
        _ => Ok(RowChange::Delete(key)),
    }
}

impl DocumentChange {
    /// The fact that says it.
    pub(super) fn fact(&self) -> Result<Box<RawValue>, serde_json::Error> {
        let fact = match self {
            Self::Put(document) => Fact {
                fact: FactKind::Document,
                noun: document.noun(),
                id: document.id().to_owned(),
                document: Some(document.stored()?),
            },
            Self::Remove(noun, id) => Fact { fact: FactKind::Removed, noun: *noun, id: id.clone(), document: None },
        };
        serde_json::value::to_raw_value(&fact)
    }

    /// What kind of list shows it, and under which id; settings have none.
    pub(super) fn shown(&self) -> (DataKind, Option<&str>) {
        let (noun, id) = match self {
            Self::Put(document) => (document.noun(), document.id()),
            Self::Remove(noun, id) => (*noun, id.as_str()),
        };
        (noun.kind(), (noun != Noun::Settings).then_some(id))
    }
}

impl Document {
    /// Reads the value of a row.
    pub(super) fn read(noun: Noun, value: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(match noun {
            Noun::Project => Self::Project(serde_json::from_slice(value)?),
            Noun::Grant => Self::Grant(serde_json::from_slice(value)?),
            Noun::Policy => Self::Policy(serde_json::from_slice(value)?),
            Noun::Endpoint => Self::Endpoint(serde_json::from_slice(value)?),
            Noun::Server => Self::Server(serde_json::from_slice(value)?),
            Noun::Memory => Self::Memory(serde_json::from_slice(value)?),
            Noun::Instructions => Self::Instructions(serde_json::from_slice(value)?),
            Noun::Settings => Self::Settings(serde_json::from_slice(value)?),
        })
    }

    fn noun(&self) -> Noun {
        match self {
            Self::Project(_) => Noun::Project,
            Self::Grant(_) => Noun::Grant,
            Self::Policy(_) => Noun::Policy,
            Self::Endpoint(_) => Noun::Endpoint,
            Self::Server(_) => Noun::Server,
            Self::Memory(_) => Noun::Memory,
            Self::Instructions(_) => Noun::Instructions,
            Self::Settings(_) => Noun::Settings,
        }
    }

    fn id(&self) -> &str {
        match self {
            Self::Project(project) => &project.project_id,
            Self::Grant(grant) => &grant.grant_id,
            Self::Policy(policy) => &policy.policy_id,
            Self::Endpoint(endpoint) => &endpoint.endpoint_id,
            Self::Server(server) => &server.server_id,
            Self::Memory(entry) => &entry.entry_id,
            Self::Instructions(record) => &record.project_id,
            Self::Settings(_) => SETTINGS_ID,
        }
    }

    /// The document as JSON, with everything that is worked out put back to where it stands when nobody did.
    fn stored(&self) -> Result<Box<RawValue>, serde_json::Error> {
        use serde_json::value::to_raw_value;
        match self {
            Self::Project(project) => to_raw_value(&Project { grants: None, policies: None, ..project.clone() }),
            Self::Grant(grant) => to_raw_value(grant),
            Self::Policy(policy) => to_raw_value(&Policy { matches: 0, ..policy.clone() }),
            Self::Endpoint(endpoint) => to_raw_value(&Endpoint { is_default: false, ..endpoint.clone() }),
            Self::Server(server) => to_raw_value(server),
            Self::Memory(entry) => to_raw_value(entry),
            Self::Instructions(record) => to_raw_value(record),
            Self::Settings(settings) => to_raw_value(&Settings {
                default_endpoint_id: settings.default_endpoint_id.clone().filter(|id| id.as_str() != SCRIPTED),
                secret_store: SecretStore::File,
                secret_store_reason: None,
                ..settings.clone()
            }),
        }
    }
}

impl Noun {
    /// All of them.
    pub(super) const ALL: [Self; 8] = [
        Self::Project,
        Self::Grant,
        Self::Policy,
        Self::Endpoint,
        Self::Server,
        Self::Memory,
        Self::Instructions,
        Self::Settings,
    ];

    /// The word in keys and facts.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Grant => "grant",
            Self::Policy => "policy",
            Self::Endpoint => "endpoint",
            Self::Server => "server",
            Self::Memory => "memory",
            Self::Instructions => "instructions",
            Self::Settings => "settings",
        }
    }

    const fn kind(self) -> DataKind {
        match self {
            Self::Project => DataKind::Project,
            Self::Grant => DataKind::Grant,
            Self::Policy => DataKind::Policy,
            Self::Endpoint => DataKind::Endpoint,
            Self::Server => DataKind::Server,
            Self::Memory => DataKind::Memory,
            Self::Instructions => DataKind::Instructions,
            Self::Settings => DataKind::Settings,
        }
    }
}
