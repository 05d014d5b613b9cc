//! The settings of the daemon and their ranges (ruling 31).

use std::sync::Arc;

use ropewalk_protocol::{EndpointId, Patch, Settings, SettingsChanged, SettingsUpdateParams};

use super::{
    Caller, Catalogue, Refusal, SCRIPTED, Snapshot,
    document::{Document, DocumentChange},
    refusal::expect_revision,
    rules::{self, MAX_INTEGER},
    writer::Decision,
};

/// Longest silence and longest call of a tool.
const TOOL_MS: u64 = 3_600_000;

/// Longest wait for a person, a week; longer is for ever.
const PERSON_MS: u64 = 604_800_000;

/// Longest grace for a client that has gone.
const GRACE_MS: u64 = 600_000;

impl Catalogue {
    /// Changes what is named of the settings.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn update_settings(
        self: &Arc<Self>,
        caller: Caller,
        params: SettingsUpdateParams,
    ) -> Result<SettingsChanged, Refusal> {
        self.change(caller, move |snapshot, _| update(snapshot, params)).await
    }
}

fn update(snapshot: &Snapshot, params: SettingsUpdateParams) -> Result<Decision<SettingsChanged>, Refusal> {
    let before = &snapshot.settings;
    expect_revision("settings", params.expected_revision, before.revision, before)?;
    let mut settings = (**before).clone();
    if !params.default_endpoint_id.is_keep() {
        settings.default_endpoint_id = default_after(snapshot, &params.default_endpoint_id)?;
    }
    apply(&mut settings, params);
    check(&settings)?;
    if settings == **before {
        return Ok(Decision::nothing(SettingsChanged { settings, replayed: false }));
    }
    settings.revision += 1;
    let changes = vec![DocumentChange::Put(Document::Settings(settings))];
    Ok(Decision::new(changes, |after| SettingsChanged { settings: (*after.settings).clone(), replayed: false }))
}

/// The default endpoint that is asked for. The scripted one is it by itself while there is no other, and never
/// afterwards (ruling 29).
fn default_after(snapshot: &Snapshot, asked: &Patch<EndpointId>) -> Result<Option<EndpointId>, Refusal> {
    const PATH: &str = "/defaultEndpointId";
    let is_alone = snapshot.endpoints.len() == 1;
    match asked {
        Patch::Set(id) if !snapshot.endpoints.contains_key(id) => Err(Refusal::not_found("endpoint", id)),
        Patch::Set(id) if id.as_str() == SCRIPTED && !is_alone => {
            let message = "The scripted endpoint is the default only while there is no other. Name it for a project or a thread instead.";
            Err(Refusal::invalid(PATH, "builtin", message))
        }
        Patch::Set(id) => Ok(Some(id.clone())),
        Patch::Keep | Patch::Clear => Ok(is_alone.then(|| SCRIPTED.into())),
    }
}

/// Puts everything but the default endpoint in its place.
fn apply(settings: &mut Settings, params: SettingsUpdateParams) {
    settings.tool_silence_ms = params.tool_silence_ms.unwrap_or(settings.tool_silence_ms);
    settings.tool_ceiling_ms = params.tool_ceiling_ms.unwrap_or(settings.tool_ceiling_ms);
    settings.owner_grace_ms = params.owner_grace_ms.unwrap_or(settings.owner_grace_ms);
    settings.approver_grace_ms = params.approver_grace_ms.unwrap_or(settings.approver_grace_ms);
    settings.subtask_runs = params.subtask_runs.unwrap_or(settings.subtask_runs);
    params.approval_ms.apply(&mut settings.approval_ms);
    params.input_ms.apply(&mut settings.input_ms);
    params.run_max_tool_calls.apply(&mut settings.run_max_tool_calls);
    params.run_max_tokens.apply(&mut settings.run_max_tokens);
    params.run_max_ms.apply(&mut settings.run_max_ms);
    params.idle_exit_ms.apply(&mut settings.idle_exit_ms);
}

fn check(settings: &Settings) -> Result<(), Refusal> {
    let checks = [
        ("/toolSilenceMs", Some(settings.tool_silence_ms), 1_000..=TOOL_MS),
        ("/toolCeilingMs", Some(settings.tool_ceiling_ms), 1_000..=TOOL_MS),
        ("/approvalMs", settings.approval_ms, 1_000..=PERSON_MS),
        ("/inputMs", settings.input_ms, 1_000..=PERSON_MS),
        ("/ownerGraceMs", Some(settings.owner_grace_ms), 0..=GRACE_MS),
        ("/approverGraceMs", Some(settings.approver_grace_ms), 0..=GRACE_MS),
        ("/runMaxToolCalls", settings.run_max_tool_calls, 1..=MAX_INTEGER),
        ("/runMaxTokens", settings.run_max_tokens, 1..=MAX_INTEGER),
        ("/runMaxMs", settings.run_max_ms, 1_000..=MAX_INTEGER),
        ("/subtaskRuns", Some(settings.subtask_runs), 1..=256),
        ("/idleExitMs", settings.idle_exit_ms, 1_000..=MAX_INTEGER),
    ];
    for (path, value, range) in checks {
        value.map_or(Ok(()), |value| rules::within(path, value, range))?;
    }
    if settings.tool_silence_ms <= settings.tool_ceiling_ms {
        return Ok(());
    }
    let message = format!(
        "toolSilenceMs is {}, above toolCeilingMs, which is {}. Lower the one or raise the other.",
        settings.tool_silence_ms, settings.tool_ceiling_ms
    );
    Err(Refusal::invalid("/toolSilenceMs", "above_ceiling", message))
}
