//! Before a step is built: the servers it needs are opened, and a person is told which it has to do without.

use std::collections::BTreeMap;

use ropewalk_protocol::{RunId, Severity};

use super::{
    report::{Over, Reporter},
    toolbox,
};
use crate::{
    catalogue::SeenTool,
    domain::Notice,
    engine::Turn,
    tools::servers::{Missing, Place, ServerTool},
};

/// What a run was told to do without, so that it is said once and not at every step.
#[derive(Debug, Default)]
pub struct Told(BTreeMap<String, String>);

/// Opens what the next step needs.
pub async fn get_ready(reporter: &Reporter, told: &mut Told) -> Result<(), Over> {
    let Some(servers) = reporter.shared().servers.get().cloned() else { return Ok(()) };
    let looked = reporter.look(|turn, run_id| (place(turn, run_id), toolbox::needed_sources(turn))).await?;
    let (Some(place), needed) = looked else { return Ok(()) };
    let missing = servers.get_ready(&place, &needed).await;
    let tools = servers.tools(&place.project_id);
    let seen = tools.into_iter().map(|ServerTool { spec, .. }| SeenTool {
        source: spec.source.clone(),
        name: spec.rule_name().to_owned(),
        digest: spec.digest.clone(),
    });
    reporter.shared().catalogue.pin_rules(seen.collect()).await;
    let now: BTreeMap<String, String> =
        missing.iter().map(|missing| (missing.source.clone(), missing.reason.clone())).collect();
    let news: Vec<Missing> =
        missing.into_iter().filter(|missing| told.0.get(&missing.source) != Some(&missing.reason)).collect();
    told.0 = now;
    if !news.is_empty() {
        reporter.stage(move |turn, run_id| turn.change.notice(run_id, notice(&news)));
    }
    Ok(())
}

/// Where a run stands.
pub fn place(turn: &Turn<'_>, run_id: &RunId) -> Option<Place> {
    let run = &turn.state().runs.get(run_id)?.run;
    Some(Place {
        project_id: turn.state().thread.project_id.clone(),
        thread_id: turn.state().thread.thread_id.clone(),
        branch_id: run.branch_id.clone(),
        run_id: run_id.clone(),
        unattended: run.unattended,
    })
}

fn notice(missing: &[Missing]) -> Notice {
    let told: Vec<String> = missing.iter().map(|missing| format!("{}: {}", missing.name, missing.reason)).collect();
    let text = format!("The model is asked without some tools. {}", told.join(" "));
    Notice { code: "source_missing", text, severity: Severity::Warning }
}
