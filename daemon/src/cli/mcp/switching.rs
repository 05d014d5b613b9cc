//! `ropewalk mcp enable` and `disable`.

use clap::Args;
use ropewalk_protocol::{Patch, ProjectUpdate, ProjectUpdateParams, ServerChoice, ServerUpdate, ServerUpdateParams};

use super::find;
use crate::cli::{
    failure::{Exit, Failure},
    project,
    session::Context,
};

/// Which server, and where.
#[derive(Args, Clone, Debug)]
pub(super) struct SwitchArgs {
    /// Its name or id; `app` and `files` are those of the servers that are part of the daemon
    server: String,
    /// Only for the runs of this project: its name or id
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
}

/// Switches it on or off.
pub(super) async fn switch(args: SwitchArgs, enabled: bool, context: &Context) -> Result<Exit, Failure> {
    let (client, server) = find(&args.server, context).await?;
    let (server_id, name) = (server.server_id, server.name);
    let verb = if enabled { "may use" } else { "do not use" };
    let Some(project) = args.project else {
        let params = ServerUpdateParams {
            server_id,
            name: None,
            enabled: Some(enabled),
            trusted: None,
            private_network: None,
            args: None,
            env: None,
            operation_id: None,
            expected_revision: None,
        };
        return context.show::<ServerUpdate>(&client, params, |_| format!("Runs {verb} {name}.")).await;
    };
    let project = project::find(&client, &project).await?;
    let params = ProjectUpdateParams {
        project_id: project.project_id,
        name: None,
        description: Patch::Keep,
        instructions: Patch::Keep,
        default_endpoint_id: Patch::Keep,
        servers: Some(vec![ServerChoice { server_id, enabled }]),
        operation_id: None,
        expected_revision: None,
    };
    let words = || match (enabled, server.enabled) {
        (true, false) => {
            format!("Runs of {} may use {name}, once it is switched on: it is off everywhere.", project.name)
        }
        _ => format!("Runs of {} {verb} {name}.", project.name),
    };
    context.show::<ProjectUpdate>(&client, params, |_| words()).await
}
