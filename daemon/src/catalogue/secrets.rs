//! Keys of endpoints: where they go, and in which order they and the documents that speak of them change.

use std::{future::Future, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use ropewalk_protocol::{
    Endpoint, EndpointChanged, EndpointId, Removed, SecretRemoveParams, SecretSetParams, SecretStore, ServerId,
};

use super::{
    Caller, Catalogue, Refusal, Snapshot,
    document::{Document, DocumentChange},
    endpoints::changeable,
    refusal::expect_revision,
    rules,
    writer::Decision,
};

/// How long the keeper may take: it may ask a person to unlock a keyring.
const KEEPER_MS: u64 = 30_000;

/// Longest key, in characters.
const KEY_CHARACTERS: usize = 8_192;

/// Where keys are kept: in neither the logs nor the index. An error is a sentence without the key.
pub trait SecretKeeper: Send + Sync + 'static {
    /// Reads a key.
    fn get(&self, name: &str) -> BoxFuture<'static, Result<Option<String>, String>>;

    /// Writes a key; durable when it resolves.
    fn set(&self, name: &str, value: &str) -> BoxFuture<'static, Result<(), String>>;

    /// Forgets a key; forgetting one that is not there is no error.
    fn remove(&self, name: &str) -> BoxFuture<'static, Result<(), String>>;

    /// What kind of place it is.
    fn kind(&self) -> SecretStore;

    /// Why it is not the best there could be: a sentence without its full stop.
    fn reason(&self) -> Option<String> {
        None
    }

    /// The names of keys that are there and cannot be read now.
    fn out_of_reach(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Catalogue {
    /// The key of an endpoint, if it has one.
    ///
    /// # Errors
    /// When the keeper fails, does not answer within 30 s, or does not have a key that was stored.
    pub async fn key_of(&self, endpoint: &Endpoint) -> Result<Option<String>, Refusal> {
        // A key that no record speaks of was not acknowledged, or belongs to another origin.
        if !endpoint.has_credential {
            return Ok(None);
        }
        let key = in_time(self.secrets.get(&name_of(&endpoint.endpoint_id))).await?;
        // A request without the key would be refused by the provider, with a reason that leads nowhere.
        key.map(Some).ok_or_else(|| Refusal::Secrets("it is not where it was kept; store it again".to_owned()))
    }

    /// The names of the endpoints that have a key which cannot be read now.
    #[must_use]
    pub fn endpoints_without_reach(&self) -> Vec<String> {
        let names = self.secrets.out_of_reach();
        let snapshot = self.snapshot();
        let is_out =
            |endpoint: &&Arc<Endpoint>| endpoint.has_credential && names.contains(&name_of(&endpoint.endpoint_id));
        snapshot.endpoints.values().filter(is_out).map(|endpoint| endpoint.name.clone()).collect()
    }

    /// Stores the key of an endpoint.
    ///
    /// # Errors
    /// As [`Refusal`] says; the key that was there before is kept.
    pub async fn set_secret(
        self: &Arc<Self>,
        caller: Caller,
        params: SecretSetParams,
    ) -> Result<EndpointChanged, Refusal> {
        check_key(&params.value)?;
        let (this, id) = (Arc::clone(self), params.endpoint_id);
        self.exclusively(async move {
            let snapshot = this.snapshot();
            let endpoint = changeable(&snapshot, &id)?;
            expect_revision("endpoint", params.expected_revision, endpoint.revision, endpoint)?;
            let decision = with_credential(&snapshot, &id, true)?;
            let name = name_of(&id);
            // A key that cannot be read is no reason against a new one: storing it anew is the way out.
            let before = in_time(this.secrets.get(&name)).await.ok();
            let set = in_time(this.secrets.set(&name, &params.value)).await;
            this.commit_or_restore(caller, decision, set, &name, before).await
        })
        .await
    }

    /// Forgets the key of an endpoint; without one nothing happens.
    ///
    /// # Errors
    /// As [`Refusal`] says; the key is kept.
    pub async fn remove_secret(
        self: &Arc<Self>,
        caller: Caller,
        params: SecretRemoveParams,
    ) -> Result<Removed, Refusal> {
        let (this, id) = (Arc::clone(self), params.endpoint_id);
        self.exclusively(async move {
            let snapshot = this.snapshot();
            let endpoint = changeable(&snapshot, &id)?;
            expect_revision("endpoint", params.expected_revision, endpoint.revision, endpoint)?;
            if !endpoint.has_credential {
                let effect = format!("{} has no key.", endpoint.name);
                let answer = Removed { applied: false, dry_run: false, effect, replayed: false };
                return this.commit(caller, Decision::nothing(answer)).await;
            }
            let effect = format!("Forgets the key of {}.", endpoint.name);
            let decision = with_credential(&snapshot, &id, false)?.answering(move |_| Removed {
                applied: true,
                dry_run: false,
                effect,
                replayed: false,
            });
            let name = name_of(&id);
            let before = in_time(this.secrets.get(&name)).await?;
            let removed = in_time(this.secrets.remove(&name)).await;
            this.commit_or_restore(caller, decision, removed, &name, Some(before)).await
        })
        .await
    }

    /// Commits what follows from a change of a key; when either fails, the key is put back as it was. `before` is absent
    /// when it could not be read.
    pub(super) async fn commit_or_restore<A: serde::Serialize>(
        &self,
        caller: Caller,
        decision: Decision<A>,
        changed: Result<(), Refusal>,
        name: &str,
        before: Option<Option<String>>,
    ) -> Result<A, Refusal> {
        let was_changed = changed.is_ok();
        let outcome = match changed {
            Ok(()) => self.commit(caller, decision).await,
            Err(refusal) => Err(refusal),
        };
        if outcome.is_err() {
            let restored = match before {
                Some(Some(before)) => in_time(self.secrets.set(name, &before)).await,
                Some(None) => in_time(self.secrets.remove(name)).await,
                None if was_changed => in_time(self.secrets.remove(name)).await,
                None => Ok(()),
            };
            if let Err(cause) = restored {
                tracing::warn!(%name, %cause, "a key could not be put back after a failed change");
            }
        }
        outcome
    }

    /// Forgets a key whose record is gone already. A failure leaves a key that nothing uses.
    pub(super) async fn forget_key(&self, endpoint: &EndpointId) {
        self.forget(&name_of(endpoint)).await;
    }

    /// Forgets a secret whose record is gone already. A failure leaves one that nothing uses.
    pub(super) async fn forget(&self, name: &str) {
        if let Err(cause) = in_time(self.secrets.remove(name)).await {
            tracing::warn!(%name, %cause, "a secret that nothing uses any more could not be removed");
        }
    }
}

fn with_credential(
    snapshot: &Snapshot,
    id: &EndpointId,
    has_credential: bool,
) -> Result<Decision<EndpointChanged>, Refusal> {
    let endpoint = changeable(snapshot, id)?;
    let endpoint = Endpoint { has_credential, revision: endpoint.revision + 1, ..(**endpoint).clone() };
    let answer = EndpointChanged { endpoint: endpoint.clone(), replayed: false };
    Ok(Decision::new(vec![DocumentChange::Put(Document::Endpoint(endpoint))], move |_| answer))
}

/// A key is sent in a header, so it must be one that a header can carry.
fn check_key(value: &str) -> Result<(), Refusal> {
    rules::line("/value", value, KEY_CHARACTERS)?;
    if value.chars().all(|character| character.is_ascii_graphic()) {
        return Ok(());
    }
    let message = "A key has only visible ASCII characters and no spaces. Check that nothing was copied along with it.";
    Err(Refusal::invalid("/value", "not_a_key", message))
}

/// The name the environment of a server is kept under.
pub(super) fn environment_name(server: &ServerId) -> String {
    format!("server/{server}")
}

/// The name a key is kept under.
fn name_of(endpoint: &EndpointId) -> String {
    format!("endpoint/{endpoint}")
}

pub(super) async fn in_time<T>(future: impl Future<Output = Result<T, String>>) -> Result<T, Refusal> {
    match tokio::time::timeout(Duration::from_millis(KEEPER_MS), future).await {
        Ok(result) => result.map_err(Refusal::Secrets),
        Err(_) => Err(Refusal::Secrets(format!("no answer within {KEEPER_MS} ms"))),
    }
}
