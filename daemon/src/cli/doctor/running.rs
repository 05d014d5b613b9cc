//! What a running daemon says of itself, of its keys and of its endpoints.

use ropewalk::{Client, Error};
use ropewalk_protocol::{DaemonState, Endpoint, HealthState, IndexState, ListParams, SecretStore, Settings};

use super::Finding;
use crate::cli::{endpoint::next_step, session::Context, text::bytes, words::wire};

/// Asks the daemon.
pub(super) async fn check(client: &Client, test_endpoints: bool, context: &Context) -> Vec<Finding> {
    match ask(client, test_endpoints, context).await {
        Ok(findings) => findings,
        Err(error) => {
            let fix = "wait and try again; its log on stderr says more";
            vec![Finding::problem("daemon", format!("it does not say how it is: {error}"), fix)]
        }
    }
}

async fn ask(client: &Client, test_endpoints: bool, context: &Context) -> Result<Vec<Finding>, Error> {
    let info = client.daemon_info();
    let status = client.daemon().status().await?;
    let mut findings = vec![version(&status.version, info.pid), health(&status), index(&status)];
    findings.extend(work(&status));
    let settings = client.settings().read().await?;
    findings.push(keys(&settings));
    let endpoints = client.endpoints().list(ListParams { cursor: None, limit: Some(1_000) }).await?.items;
    findings.push(default_endpoint(&endpoints, &settings, context.environment.program()));
    if test_endpoints {
        for endpoint in endpoints.iter().filter(|endpoint| endpoint.enabled) {
            findings.push(tested(client, endpoint, context.environment.program()).await?);
        }
    }
    Ok(findings)
}

/// The daemon's version beside that of this program.
pub(super) fn version(daemon: &str, pid: u32) -> Finding {
    let own = env!("CARGO_PKG_VERSION");
    if daemon == own {
        return Finding::ok("daemon", format!("version {daemon} runs, process {pid}"));
    }
    let message = format!("version {daemon} runs (process {pid}), and this program is version {own}");
    Finding::warning(
        "daemon",
        message,
        format!("`kill {pid}` parks what runs and ends it; the next one is of this version"),
    )
}

fn health(status: &DaemonState) -> Finding {
    match status.health.state {
        HealthState::Ok => Finding::ok("health", "all is well"),
        HealthState::Degraded => {
            let reason = status.health.reason.as_deref().unwrap_or("it does not say why");
            Finding::warning(
                "health",
                format!("degraded: {reason}"),
                "docs/troubleshooting.md says what to do about it",
            )
        }
    }
}

fn index(status: &DaemonState) -> Finding {
    let store = &status.store;
    let threads = status.counts.threads;
    let size = format!(
        "{threads} {}, {} of logs, {} of index",
        if threads == 1 { "thread" } else { "threads" },
        bytes(store.log_bytes),
        bytes(store.index_bytes)
    );
    match store.index {
        IndexState::Ok => Finding::ok("store", size),
        IndexState::Rebuilding => Finding::note("store", format!("{size}; the index is being made anew from the logs")),
    }
}

/// What waits for a person or a client.
fn work(status: &DaemonState) -> Option<Finding> {
    let waiting = status.counts.open_interactions;
    (waiting > 0).then(|| {
        let wait = if waiting == 1 { "interaction waits" } else { "interactions wait" };
        Finding::note("runs", format!("{waiting} {wait} for a client or a person"))
    })
}

pub(super) fn keys(settings: &Settings) -> Finding {
    let reason = settings.secret_store_reason.as_deref();
    match settings.secret_store {
        SecretStore::Keyring => match reason {
            None => Finding::ok("keys", "kept in the keyring of the system"),
            Some(reason) => Finding::warning("keys", reason, "unlock the keyring and start the daemon again"),
        },
        SecretStore::File => {
            let why = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
            let message =
                "kept in a file only you can read: weaker than a keyring, as any program of yours can read it too";
            Finding::note("keys", format!("{message}{why}"))
        }
    }
}

/// Whether a run that names no endpoint finds one.
pub(super) fn default_endpoint(endpoints: &[Endpoint], settings: &Settings, program: &str) -> Finding {
    const CHECK: &str = "endpoints";
    let choose = format!("`{program} endpoint use NAME`; `{program} endpoint list` shows what there is");
    let default = settings.default_endpoint_id.as_ref();
    let default = default.and_then(|id| endpoints.iter().find(|endpoint| endpoint.endpoint_id == *id));
    match default {
        None => Finding::problem(CHECK, "none is the default, so a run that names none fails", choose),
        Some(endpoint) if !endpoint.enabled => {
            Finding::problem(CHECK, format!("the default, {}, is switched off", endpoint.name), choose)
        }
        Some(endpoint) if endpoint.builtin => Finding::note(
            CHECK,
            format!("the built-in scripted endpoint is the default; `{program} endpoint add` makes a real model one"),
        ),
        Some(endpoint) if !endpoint.has_credential && !is_local(endpoint) => Finding::warning(
            CHECK,
            format!("the default, {}, has no key", endpoint.name),
            format!("if it needs one: `{program} endpoint key {}`", endpoint.name),
        ),
        Some(endpoint) => Finding::ok(CHECK, format!("{} ({}) is the default", endpoint.name, endpoint.model)),
    }
}

/// Whether an endpoint is on this machine, where keys are rare.
fn is_local(endpoint: &Endpoint) -> bool {
    let host = endpoint.base_url.as_deref().and_then(|url| url::Url::parse(url).ok());
    host.as_ref().and_then(url::Url::host).is_some_and(|host| match host {
        url::Host::Domain(name) => name == "localhost",
        url::Host::Ipv4(address) => address.is_loopback(),
        url::Host::Ipv6(address) => address.is_loopback(),
    })
}

async fn tested(client: &Client, endpoint: &Endpoint, program: &str) -> Result<Finding, Error> {
    let tested = client.endpoints().test(endpoint.endpoint_id.clone()).await?;
    let name = &endpoint.name;
    Ok(match tested.error {
        None if tested.ok => Finding::ok("endpoint", format!("{name} answered within {} ms", tested.latency_ms)),
        None => {
            Finding::problem("endpoint", format!("{name} did not answer as it should"), "look at its address and model")
        }
        Some(error) => Finding::problem(
            "endpoint",
            format!("{name} does not work ({}): {}", wire(&error.kind), error.message),
            next_step(endpoint, &error, program),
        ),
    })
}
