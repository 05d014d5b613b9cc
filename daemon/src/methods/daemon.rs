//! `initialize` and `daemon/…`: who connects, how the daemon is, and its end.

use ropewalk_protocol::{
    ClientRef, Counts, DaemonState, DaemonVersion, Empty, ErrorDetail, Health, HealthState, IndexState,
    InitializeParams, Initialized, PROTOCOL_VERSION, ProtocolRange, RpcError, ShutdownParams, StoreState, schema_hash,
};

use crate::{
    daemon::{Daemon, Standing},
    dispatch::Call,
    engine::Wants,
    peer::Session,
};

/// How long a shutdown gives to what is under way, unless it says otherwise.
const GRACE_MS: u64 = 10_000;
/// The longest grace of a shutdown.
const MAX_GRACE_MS: u64 = 600_000;
/// Characters of a client's name.
const NAME_CHARACTERS: usize = 64;
/// Characters of an instance id.
const INSTANCE_CHARACTERS: usize = 128;

/// `initialize`
///
/// # Errors
/// `unsupportedProtocol`, `invalidParams`, `notFound` (app).
pub async fn initialize(call: Call, params: InitializeParams) -> Result<Initialized, RpcError> {
    let daemon = &call.daemon;
    check_protocol(daemon, params.protocol)?;
    check_client(&params)?;
    let mut wants = Wants { deltas: true, progress: true };
    let mut wants_changes = true;
    for (index, word) in params.opt_out.iter().enumerate() {
        match word.as_str() {
            "itemDelta" => wants.deltas = false,
            "toolProgress" => wants.progress = false,
            "data/changed" => wants_changes = false,
            _ => {
                let message = "Only itemDelta, toolProgress and data/changed can be left out; durable events cannot.";
                return Err(RpcError::invalid_params(format!("/optOut/{index}"), "not_ephemeral", message));
            }
        }
    }
    if let Some(app_id) = params.app_id {
        return Err(RpcError::not_found("app", app_id));
    }
    let is_lasting = params.client.instance_id.is_some();
    let instance_id = params.client.instance_id.unwrap_or_else(|| daemon.ids.next(daemon.clock.now()).into());
    call.client.greet(Session {
        client: ClientRef { client_name: params.client.name, instance_id },
        is_lasting,
        capabilities: params.capabilities,
    });
    call.client.feed().want(wants, wants_changes);
    Ok(Initialized {
        protocol: PROTOCOL_VERSION,
        daemon: daemon.info.clone(),
        limits: daemon.limits.clone(),
        schema_hash: schema_hash().to_owned(),
    })
}

/// `daemon/status`
///
/// # Errors
/// `unavailable`.
pub async fn status(call: Call, _: Empty) -> Result<DaemonState, RpcError> {
    let daemon = &call.daemon;
    let starting = daemon.is_reading();
    let is_open = !matches!(daemon.standing(), Standing::Starting { .. });
    // While logs are being read it is what has been read that is counted.
    let (runs, open_interactions) = if is_open { daemon.engine.counts()? } else { Default::default() };
    let threads = daemon.engine.thread_count();
    let sizes = daemon.store.sizes();
    let degraded = daemon.store.degraded().or_else(|| daemon.catalogue.damage().map(ToString::to_string));
    let degraded = degraded.or_else(|| keys_out_of_reach(daemon));
    Ok(DaemonState {
        version: daemon.info.version.clone(),
        instance_id: daemon.info.instance_id.clone(),
        started_at: daemon.info.started_at,
        uptime_ms: daemon.clock.now().millis_since(daemon.info.started_at),
        health: Health {
            state: if degraded.is_some() { HealthState::Degraded } else { HealthState::Ok },
            reason: degraded,
        },
        counts: Counts { connections: daemon.clients.count(), threads, runs, open_interactions, children: 0 },
        store: StoreState {
            format: Daemon::STORE_FORMAT,
            log_bytes: sizes.log_bytes,
            blob_bytes: sizes.blob_bytes,
            index_bytes: sizes.index_bytes,
            dead_bytes: sizes.dead_bytes + daemon.catalogue.dead_bytes().await,
            index: if starting.is_some() { IndexState::Rebuilding } else { IndexState::Ok },
            progress: starting.flatten(),
        },
        memory_bytes: daemon.memory.resident_bytes(),
    })
}

/// Whose keys are in a keyring that cannot be used now.
fn keys_out_of_reach(daemon: &Daemon) -> Option<String> {
    let endpoints = daemon.catalogue.endpoints_without_reach();
    let reason = daemon.catalogue.snapshot().settings.secret_store_reason.clone().unwrap_or_default();
    let keys = if endpoints.len() == 1 { "the key of" } else { "the keys of" };
    (!endpoints.is_empty()).then(|| {
        let names = endpoints.join(", ");
        format!("{keys} {names} cannot be read from the keyring ({reason}); unlock it, or store them anew")
    })
}

/// `daemon/shutdown`
///
/// # Errors
/// `invalidParams`.
pub async fn shutdown(call: Call, params: ShutdownParams) -> Result<Empty, RpcError> {
    let grace_ms = super::check::range("/graceMs", params.grace_ms.unwrap_or(GRACE_MS), 0, MAX_GRACE_MS)?;
    call.daemon.stop(grace_ms);
    Ok(Empty {})
}

fn check_protocol(daemon: &Daemon, asked: ProtocolRange) -> Result<(), RpcError> {
    if asked.min > asked.max {
        let message = "The oldest protocol version of the client is above its newest.";
        return Err(RpcError::invalid_params("/protocol/min", "out_of_range", message));
    }
    if (asked.min..=asked.max).contains(&PROTOCOL_VERSION) {
        return Ok(());
    }
    let detail = ErrorDetail::UnsupportedProtocol {
        supported: ProtocolRange { min: PROTOCOL_VERSION, max: PROTOCOL_VERSION },
        daemon: DaemonVersion { version: daemon.info.version.clone() },
    };
    let message = format!(
        "This daemon ({}) speaks protocol version {PROTOCOL_VERSION}, the client {} to {}. Update the older of the two.",
        daemon.info.version, asked.min, asked.max
    );
    Err(RpcError::new(detail, message))
}

fn check_client(params: &InitializeParams) -> Result<(), RpcError> {
    let name = &params.client.name;
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || name.chars().count() > NAME_CHARACTERS || !name.chars().all(fits) {
        let message = "A client's name has 1 to 64 of the characters A-Z a-z 0-9 . _ -";
        return Err(RpcError::invalid_params("/client/name", "not_a_name", message));
    }
    let Some(instance) = &params.client.instance_id else { return Ok(()) };
    let characters = instance.chars().count();
    if characters == 0 || characters > INSTANCE_CHARACTERS || instance.chars().any(char::is_control) {
        let message = "An instance id has 1 to 128 characters, none of them a control character.";
        return Err(RpcError::invalid_params("/client/instanceId", "not_an_id", message));
    }
    Ok(())
}
