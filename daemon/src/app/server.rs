//! The server of one run: it lists the tools and makes their calls. Whatever a call does, the server goes on.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, JsonObject, ListToolsResult, PaginatedRequestParams,
        ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::DuplexStream;

use super::{
    answer::{Answer, ToolError},
    change::{instructions, memory, projects, runs, security, threads},
    navigate, read,
    surroundings::{Reader, Windows, Writer},
    tools::tools,
};
use crate::tools::servers::Place;

/// Bytes that may be under way in each direction.
const PIPE_BYTES: usize = 65_536;

/// The App tools, for one run.
#[derive(Clone)]
pub struct AppServer {
    pub(super) place: Place,
    pub(super) reader: Arc<dyn Reader>,
    pub(super) windows: Arc<dyn Windows>,
    pub(super) writer: Arc<dyn Writer>,
}

impl AppServer {
    /// The server of the run that stands at a place.
    #[must_use]
    pub fn new(place: Place, reader: Arc<dyn Reader>, windows: Arc<dyn Windows>, writer: Arc<dyn Writer>) -> Self {
        Self { place, reader, windows, writer }
    }

    /// Begins to serve, and gives the client's end. The server ends with it.
    #[must_use]
    pub fn begin(self) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(async move {
            match self.serve(ours).await {
                // How it ended is the client's to say.
                Ok(running) => drop(running.waiting().await),
                Err(error) => tracing::debug!(%error, "nobody shook hands with the App tools"),
            }
        });
        theirs
    }

    async fn make(&self, name: &str, arguments: JsonObject) -> Result<Answer, ToolError> {
        match name {
            read::NAME => self.read(parsed(arguments)?).await,
            navigate::NAME => self.navigate(parsed(arguments)?).await,
            instructions::NAME => self.change::<instructions::InstructionsChange>(parsed(arguments)?).await,
            memory::NAME => self.change::<memory::MemoryChange>(parsed(arguments)?).await,
            projects::NAME => self.change::<projects::ProjectChange>(parsed(arguments)?).await,
            runs::NAME => self.work(parsed(arguments)?).await,
            security::NAME => self.change::<security::SecurityChange>(parsed(arguments)?).await,
            threads::NAME => self.change::<threads::ThreadChange>(parsed(arguments)?).await,
            other => Err(ToolError(format!("{other} is no App tool. There are: {}.", names().join(", ")))),
        }
    }
}

impl ServerHandler for AppServer {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("ropewalk-app", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools().to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        let made = AssertUnwindSafe(self.make(&name, request.arguments.unwrap_or_default())).catch_unwind();
        tokio::select! {
            biased;
            () = context.ct.cancelled() => Ok(ToolError("The call was taken back.".to_owned()).into_result().into()),
            outcome = made => match outcome {
                Ok(Ok(answer)) => Ok(answer.into_result().into()),
                Ok(Err(error)) => Ok(error.into_result().into()),
                // The panic itself is in the log, by the hook that every panic passes.
                Err(_) => Err(ErrorData::internal_error(format!("{name} failed inside the daemon."), None)),
            },
        }
    }
}

/// The arguments as their type. What does not fit is named by its path, and an unknown value with those there are.
pub fn parsed<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { String::new() } else { format!("{path}: ") };
        ToolError(format!("These arguments cannot be used: {place}{}.", error.inner()))
    })
}

fn names() -> Vec<String> {
    tools().iter().map(|tool| tool.name.to_string()).collect()
}
