//! What a running daemon says of itself, of its keys and of its endpoints.

use std::collections::HashSet;

use ropewalk::{Client, Error};
use ropewalk_protocol::{
    CheckResult, DaemonState, Difference, Endpoint, HealthState, IndexState, ListParams, Policy, PolicyListParams, Run,
    RunStatus, SecretStore, ServerListParams, Settings,
};

use super::{Finding, servers};
use crate::{
    cli::{
        endpoint::next_step,
        policy::{RULES, described},
        session::Context,
        text::bytes,
        threads::{self, unended},
        words::wire,
    },
    daemon::is_loopback,
};

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
    findings.extend(paused(&status, context.environment.program()));
    if status.store.index == IndexState::Rebuilding {
        // Everything else would wait for the end of it.
        return Ok(findings);
    }
    findings.extend(held(&unended(client).await?, context.environment.program()));
    let settings = client.settings().read().await?;
    findings.push(keys(&settings));
    let endpoints = client.endpoints().list(ListParams { cursor: None, limit: Some(1_000) }).await?.items;
    findings.push(default_endpoint(&endpoints, &settings, context.environment.program()));
    let every_rule = PolicyListParams { limit: Some(RULES), ..PolicyListParams::default() };
    let rules = client.policies().list(every_rule).await?.items;
    findings.extend(idle_rules(&rules, context.environment.program()));
    let known = client.servers().list(ServerListParams { cursor: None, limit: Some(1_000) }).await?.items;
    findings.extend(servers::check(&known, context.environment.program()));
    if test_endpoints {
        for endpoint in endpoints.iter().filter(|endpoint| endpoint.enabled) {
            findings.push(tested(client, endpoint, context.environment.program()).await?);
        }
    }
    Ok(findings)
}

/// Rules that match no tool: a word of one may be misspelt, and then it protects nothing.
pub(super) fn idle_rules(rules: &[Policy], program: &str) -> Option<Finding> {
    let idle: Vec<_> = rules.iter().filter(|rule| rule.matches == 0).map(described).collect();
    let (first, count) = (idle.first()?, idle.len());
    let message = match count {
        1 => format!("a rule matches no tool that is known: {first}"),
        _ => format!("{count} rules match no tool that is known, among them: {first}"),
    };
    Some(Finding::warning(
        "rules",
        message,
        format!("`{program} policy list` marks them; one for a tool that is still to come may stay"),
    ))
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
        IndexState::Rebuilding => {
            let done = store.progress.map(|progress| format!(", {:.0} % done", progress * 100.0)).unwrap_or_default();
            Finding::note("store", format!("the daemon is starting: what is stored is being read{done}"))
        }
    }
}

/// Has the daemon read everything it has stored.
pub(super) async fn stored(client: &Client) -> Vec<Finding> {
    match client.daemon().check().await {
        Ok(checked) => differences(checked),
        Err(error) => vec![Finding::problem("check", error.to_string(), "wait and try again")],
    }
}

pub(super) fn differences(checked: CheckResult) -> Vec<Finding> {
    const CHECK: &str = "check";
    if checked.differences.is_empty() {
        return vec![Finding::ok(CHECK, "every log and payload is whole, and the index is what follows from them")];
    }
    let problem =
        |found: Difference| Finding::problem(CHECK, format!("{}: {}", found.place, found.message), found.remedy);
    let mut findings: Vec<_> = checked.differences.into_iter().map(problem).collect();
    if checked.truncated {
        findings.push(Finding::note(CHECK, "there is more, which is not listed"));
    }
    findings
}

/// What waits for a person or a client.
fn work(status: &DaemonState) -> Option<Finding> {
    let waiting = status.counts.open_interactions;
    (waiting > 0).then(|| {
        let wait = if waiting == 1 { "interaction waits" } else { "interactions wait" };
        Finding::note("runs", format!("{waiting} {wait} for a client or a person: `ropewalk pending` lists them"))
    })
}

/// Runs that nobody but a person lets go on.
pub(super) fn paused(status: &DaemonState, program: &str) -> Option<Finding> {
    let count = status.counts.runs.get(&RunStatus::Paused).copied().filter(|count| *count > 0)?;
    let message = if count == 1 { "1 run is paused".to_owned() } else { format!("{count} runs are paused") };
    let fix = format!(
        "`{program} threads` shows where; `{program} resume THREAD` lets one go on, `{program} stop THREAD` ends it"
    );
    Some(Finding::warning("runs", message, fix))
}

/// Threads with inputs that nobody but a person lets go on.
fn held(runs: &[Run], program: &str) -> Option<Finding> {
    let threads: HashSet<_> = threads::held(runs).map(|run| &run.thread_id).collect();
    let what = match threads.len() {
        0 => return None,
        1 => "1 thread".to_owned(),
        count => format!("{count} threads"),
    };
    let fix = format!(
        "`{program} threads` shows where; `{program} resume THREAD` or `retry` goes on with the run before, `{program} \
         skip THREAD` leaves it as it is"
    );
    Some(Finding::warning("runs", format!("inputs are held behind a bad end in {what}"), fix))
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
    let url = endpoint.base_url.as_deref().and_then(|url| url::Url::parse(url).ok());
    url.is_some_and(|url| is_loopback(&url))
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
