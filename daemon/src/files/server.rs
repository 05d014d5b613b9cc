//! The file tools as an MCP server.

use std::{io, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
        MetaObject, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};

use super::{
    reach::Reach,
    refusal::Refusal,
    tools::{Done, Entry, Stop, table},
};

/// The key in `_meta` of a result under which a change of a file is told: `{path, change}`.
pub const CHANGE: &str = "ropewalk/change";

/// The server.
#[derive(Clone)]
pub struct FileServer {
    reach: Arc<Reach>,
    tools: Arc<Vec<Entry>>,
}

impl FileServer {
    /// A server that can reach this and nothing else.
    ///
    /// # Errors
    /// When the table of its tools is wrong.
    pub(super) fn new(reach: Reach) -> io::Result<Self> {
        Ok(Self { reach: Arc::new(reach), tools: Arc::new(table().map_err(io::Error::other)?) })
    }

    /// A server that was told this, as yet without the lock of the kernel. What is wrong with a grant is told to `note`.
    ///
    /// # Errors
    /// When the table of its tools is wrong.
    pub fn over(told: &super::Told, note: impl FnMut(&str)) -> io::Result<Self> {
        Self::new(Reach::new(told, note))
    }

    /// Locks this thread, and those it starts from now on, into what the server can reach; see [`super::confine`].
    ///
    /// # Errors
    /// When the kernel has such locks and this one could not be made.
    pub fn confine(&self) -> io::Result<bool> {
        super::confine::confine(self.reach.granted())
    }

    async fn carry_out(&self, request: CallToolRequestParams, stop: Stop) -> Result<Done, Refusal> {
        // Before the arguments are looked at: without grants there is nothing to be right about.
        if self.reach.is_empty() {
            return Err(Refusal::NoGrants);
        }
        let server = self.clone();
        let cancelled = stop.clone();
        let work = tokio::task::spawn_blocking(move || {
            let entry = server.tools.iter().find(|entry| entry.tool.name == request.name);
            let entry = entry.ok_or_else(|| Refusal::asked(format!("there is no tool {}", request.name)))?;
            (entry.run)(&server.reach, request.arguments.unwrap_or_default(), &stop)
        });
        tokio::select! {
            done = work => done.unwrap_or_else(|_| Err(Refusal::asked("the tool failed by a mistake of its own"))),
            () = cancelled.0.cancelled() => Err(Refusal::Cancelled),
        }
    }
}

impl ServerHandler for FileServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("ropewalk-files", env!("CARGO_PKG_VERSION")))
            .with_instructions("Files of the granted directories, by absolute paths.")
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.iter().map(|entry| entry.tool.clone()).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self.tools.iter().any(|entry| entry.tool.name == request.name) {
            return Err(ErrorData::invalid_params(format!("there is no tool {}", request.name), None));
        }
        Ok(match self.carry_out(request, Stop(context.ct)).await {
            Ok(done) => answered(done).into(),
            Err(refusal) => CallToolResult::error(vec![ContentBlock::text(refusal.to_string())]).into(),
        })
    }
}

fn answered(done: Done) -> CallToolResult {
    let meta = done.change.and_then(|change| serde_json::to_value(change).ok()).map(|change| {
        let mut meta = MetaObject::default();
        meta.0.insert(CHANGE.to_owned(), change);
        meta
    });
    let mut result = CallToolResult::success(vec![ContentBlock::text(done.text)]).with_meta(meta);
    result.structured_content = Some(done.structured);
    result
}

/// Speaks over stdin and stdout until stdin ends.
///
/// # Errors
/// When the other side does not begin as MCP does.
pub async fn serve_stdio(server: FileServer) -> io::Result<()> {
    let running = server.serve((tokio::io::stdin(), tokio::io::stdout())).await.map_err(io::Error::other)?;
    running.waiting().await.map(drop).map_err(io::Error::other)
}

/// The tools, as every server lists them.
#[must_use]
pub fn listed_tools() -> Vec<Tool> {
    table().map(|entries| entries.into_iter().map(|entry| entry.tool).collect()).unwrap_or_default()
}
