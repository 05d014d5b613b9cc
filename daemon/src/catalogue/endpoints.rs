//! Endpoints: made, changed, removed, and which of them is the default.

use std::sync::Arc;

use ropewalk_protocol::{
    Endpoint, EndpointChanged, EndpointId, EndpointRemoveParams, EndpointSetParams, Patch, Removed, Settings,
};

use super::{
    Caller, Catalogue, Refusal, SCRIPTED, Snapshot,
    address::origin,
    document::{Document, DocumentChange, Noun},
    endpoint_rules::check,
    refusal::expect_revision,
    rules,
    snapshot::{bare_endpoint, default_endpoint},
    writer::{Decision, Moment},
};

impl Catalogue {
    /// Makes an endpoint (no id), or changes what is named of one. A change of provider or origin removes its key
    /// (ruling 28): the record that says so comes first, and a key no record speaks of is never used.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn set_endpoint(
        self: &Arc<Self>,
        caller: Caller,
        params: EndpointSetParams,
    ) -> Result<EndpointChanged, Refusal> {
        let this = Arc::clone(self);
        self.exclusively(async move {
            let before = this.snapshot();
            let moment = Moment { now: this.clock.now(), ids: &this.ids };
            let decision = set(&before, &moment, params)?;
            let answer = this.commit(caller, decision).await?;
            let id = &answer.endpoint.endpoint_id;
            let had_key = before.endpoints.get(id).is_some_and(|endpoint| endpoint.has_credential);
            if had_key && !answer.endpoint.has_credential {
                this.forget_key(id).await;
            }
            Ok(answer)
        })
        .await
    }

    /// Removes an endpoint and its key. What names it keeps its id, and fails with `noEndpoint` until it names another.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn remove_endpoint(
        self: &Arc<Self>,
        caller: Caller,
        params: EndpointRemoveParams,
    ) -> Result<Removed, Refusal> {
        let this = Arc::clone(self);
        self.exclusively(async move {
            let before = this.snapshot();
            let decision = remove(&before, &params)?;
            let answer = this.commit(caller, decision).await?;
            if before.endpoints[&params.endpoint_id].has_credential {
                this.forget_key(&params.endpoint_id).await;
            }
            Ok(answer)
        })
        .await
    }
}

/// The endpoint with an id, unless it is the one nobody can change.
pub(super) fn changeable<'a>(snapshot: &'a Snapshot, id: &EndpointId) -> Result<&'a Arc<Endpoint>, Refusal> {
    if id.as_str() == SCRIPTED {
        let message = "The scripted endpoint is part of the daemon and stays as it is. Make an endpoint of your own.";
        return Err(Refusal::invalid("/endpointId", "builtin", message));
    }
    snapshot.endpoints.get(id).ok_or_else(|| Refusal::not_found("endpoint", id))
}

fn set(
    snapshot: &Snapshot,
    moment: &Moment<'_>,
    params: EndpointSetParams,
) -> Result<Decision<EndpointChanged>, Refusal> {
    let before = match &params.endpoint_id {
        Some(id) => Some(changeable(snapshot, id)?),
        None => None,
    };
    check_revision(before, params.expected_revision)?;
    let is_default = params.is_default;
    let mut endpoint = match before {
        Some(before) => (**before).clone(),
        None => blank(moment, &params)?,
    };
    apply(&mut endpoint, params);
    check(&endpoint)?;
    if let Some(before) = before
        && (before.provider != endpoint.provider || origin(before) != origin(&endpoint))
    {
        endpoint.has_credential = false;
    }
    let settings = settings_after(snapshot, Some(&endpoint.endpoint_id), None, is_default);
    let is_changed = before.is_none_or(|before| **before != endpoint) || settings.is_some();
    if before.is_some() && is_changed {
        endpoint.revision += 1;
    }
    let id = endpoint.endpoint_id.clone();
    let documents = is_changed.then_some(Document::Endpoint(endpoint)).into_iter().chain(settings);
    Ok(Decision::new(documents.map(DocumentChange::Put).collect(), move |after| EndpointChanged {
        endpoint: (*after.endpoints[&id]).clone(),
        replayed: false,
    }))
}

fn remove(snapshot: &Snapshot, params: &EndpointRemoveParams) -> Result<Decision<Removed>, Refusal> {
    let endpoint = changeable(snapshot, &params.endpoint_id)?;
    expect_revision("endpoint", params.expected_revision, endpoint.revision, endpoint)?;
    let settings = settings_after(snapshot, None, Some(&params.endpoint_id), None);
    let mut changes = vec![DocumentChange::Remove(Noun::Endpoint, endpoint.endpoint_id.to_string())];
    changes.extend(settings.map(DocumentChange::Put));
    let effect = effect_of_removal(snapshot, endpoint);
    Ok(Decision::new(changes, move |_| Removed { applied: true, dry_run: false, effect, replayed: false }))
}

fn check_revision(before: Option<&Arc<Endpoint>>, expected: Option<u64>) -> Result<(), Refusal> {
    match (before, expected) {
        (Some(before), expected) => expect_revision("endpoint", expected, before.revision, before),
        (None, None) => Ok(()),
        (None, Some(_)) => {
            let message =
                "A new endpoint has no revision yet. Leave expectedRevision out, or name the endpoint to change.";
            Err(Refusal::invalid("/expectedRevision", "nothing_to_compare", message))
        }
    }
}

/// The settings after a change, where it changes which endpoint is the default.
fn settings_after(
    snapshot: &Snapshot,
    set: Option<&EndpointId>,
    removed: Option<&EndpointId>,
    is_default: Option<bool>,
) -> Option<Document> {
    let before = snapshot.settings.default_endpoint_id.as_ref();
    let named = match is_default {
        Some(true) => set,
        Some(false) => before.filter(|before| Some(*before) != set),
        None => before,
    };
    let endpoints = snapshot.endpoints.keys().filter(|id| Some(*id) != removed).chain(set);
    let default_endpoint_id = default_endpoint(named, endpoints);
    (default_endpoint_id.as_ref() != before).then(|| {
        let revision = snapshot.settings.revision + 1;
        Document::Settings(Settings { default_endpoint_id, revision, ..(*snapshot.settings).clone() })
    })
}

fn blank(moment: &Moment<'_>, params: &EndpointSetParams) -> Result<Endpoint, Refusal> {
    const WHOM: &str = "A new endpoint";
    let name = rules::required("/name", params.name.clone(), WHOM)?;
    let provider = rules::required("/provider", params.provider, WHOM)?;
    let model = rules::required("/model", params.model.clone(), WHOM)?;
    Ok(bare_endpoint(moment.id(), name, provider, model))
}

/// Puts what is named in its place; `isDefault` is the settings' matter.
fn apply(endpoint: &mut Endpoint, params: EndpointSetParams) {
    if let Some(name) = params.name {
        endpoint.name = name;
    }
    if let Some(provider) = params.provider {
        endpoint.provider = provider;
    }
    if let Some(model) = params.model {
        endpoint.model = model;
    }
    params.base_url.apply(&mut endpoint.base_url);
    params.context_tokens.apply(&mut endpoint.context_tokens);
    params.max_output_tokens.apply(&mut endpoint.max_output_tokens);
    match params.headers {
        Patch::Keep => {}
        Patch::Clear => endpoint.headers.clear(),
        Patch::Set(headers) => endpoint.headers = headers,
    }
    params.proxy_url.apply(&mut endpoint.proxy_url);
    params.capability.apply(&mut endpoint.capability);
    params.good_for.apply(&mut endpoint.good_for);
    params.prices.apply(&mut endpoint.prices);
    endpoint.for_subtasks = params.for_subtasks.unwrap_or(endpoint.for_subtasks);
    endpoint.enabled = params.enabled.unwrap_or(endpoint.enabled);
}

fn effect_of_removal(snapshot: &Snapshot, endpoint: &Endpoint) -> String {
    let users = snapshot.projects.values().filter(|it| it.default_endpoint_id.as_ref() == Some(&endpoint.endpoint_id));
    let mut effect = format!("Removes {}{}.", endpoint.name, if endpoint.has_credential { " and its key" } else { "" });
    match users.count() {
        0 => {}
        1 => effect.push_str(" One project names it and has to name another."),
        more => effect.push_str(&format!(" {more} projects name it and have to name another.")),
    }
    effect
}
