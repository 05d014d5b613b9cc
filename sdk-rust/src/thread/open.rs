//! Starting a thread, and taking up one that exists.

use std::{fmt, future::IntoFuture};

use futures::{FutureExt, future::BoxFuture};
use ropewalk_protocol::{
    AgentRef, EndpointId, OriginParams, ProjectId, Seq, Snapshot, ThreadId, ThreadResume, ThreadResumeParams,
    ThreadStart, ThreadStartParams,
};

use super::Thread;
use crate::{Client, Error, EventStream, Tool, Tools, ids, recovery};

/// A thread being started; await it.
#[must_use = "a thread is started by awaiting the builder"]
pub struct StartThread {
    client: Client,
    params: ThreadStartParams,
    tools: Tools,
}

impl StartThread {
    pub(crate) fn new(client: Client) -> Self {
        let project_id = client.workspace().map(|project| project.project_id.clone());
        let operation_id = Some(ids::fresh().into());
        let params = ThreadStartParams { project_id, operation_id, ..ThreadStartParams::default() };
        Self { client, params, tools: Tools::new() }
    }

    /// Its title, 1 to 200 characters.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.params.title = Some(title.into());
        self
    }

    /// The project it lives in; that of the client's workspace, else the default one, unless given.
    pub fn project(mut self, project: impl Into<ProjectId>) -> Self {
        self.params.project_id = Some(project.into());
        self
    }

    /// The endpoint of its runs.
    pub fn endpoint(mut self, endpoint: impl Into<EndpointId>) -> Self {
        self.params.endpoint_id = Some(endpoint.into());
        self
    }

    /// What its runs are told beside the project's instructions, at most 32,000 characters.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.params.instructions = Some(text.into());
        self
    }

    /// The app agent it runs.
    pub fn agent(mut self, agent: AgentRef) -> Self {
        self.params.agent = Some(agent);
        self
    }

    /// Where it comes from. Stored, gives no authority.
    pub fn origin(mut self, origin: OriginParams) -> Self {
        self.params.origin = Some(origin);
        self
    }

    /// Declares a tool and binds its handler, until the thread or the client is closed.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.put(tool);
        self
    }

    /// Declares tools and binds their handlers, until the thread or the client is closed.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools.extend(tools);
        self
    }

    async fn start(mut self) -> Result<Thread, Error> {
        self.tools.check()?;
        if !self.tools.is_empty() {
            self.params.tools = Some(self.tools.declarations().cloned().collect());
        }
        let duties = self.client.duties();
        // Calls may come before this task has read the answer; they wait while this lives.
        let starting = duties.bindings.starting();
        let (started, generation) = duties.link.call_on::<ThreadStart>(&self.params).await?;
        let id = started.thread.thread_id;
        let handlers = duties.bindings.thread(&id);
        handlers.replace(&self.tools);
        handlers.declared(&self.tools);
        drop(starting);
        duties.hub.advance(&id, started.seq);
        duties.attachments.add(&id);
        // A stored answer attaches nobody, and neither does one of a connection that is over.
        if started.replayed || generation != duties.link.generation() {
            recovery::take_up(duties, &id).await?;
        }
        Ok(Thread { client: self.client.clone(), id, seq: started.seq })
    }
}

/// A thread being taken up; await it for the thread, or [`watch`](Self::watch) it to get its events without a gap.
#[must_use = "a thread is taken up by awaiting the builder"]
pub struct ResumeThread {
    client: Client,
    params: ThreadResumeParams,
    tools: Option<Tools>,
}

/// A thread that was taken up, with what came before and what comes after.
#[derive(Debug)]
pub struct Resumed {
    /// The thread.
    pub thread: Thread,
    /// The thread as it was when it was taken up; absent when events after a position were asked for.
    pub snapshot: Option<Snapshot>,
    /// Everything that happened since: after the snapshot, or after the position.
    pub events: EventStream,
}

pub(crate) const fn resume_params(thread_id: ThreadId) -> ThreadResumeParams {
    ThreadResumeParams { thread_id, tools: None, after: None, takeover: None, subscribe: None, operation_id: None }
}

impl ResumeThread {
    pub(crate) fn new(client: Client, thread: ThreadId) -> Self {
        Self { client, params: resume_params(thread), tools: None }
    }

    /// Declares a tool and binds its handler. The tools given here take the place of all that this client had declared
    /// for the thread; when none are given, those stay.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.get_or_insert_default().put(tool);
        self
    }

    /// Declares tools and binds their handlers, as [`tool`](Self::tool); an empty set withdraws what there was.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools.get_or_insert_default().extend(tools);
        self
    }

    /// Takes tools over whose names another client instance has bound. Without this they are a `conflict`.
    pub const fn takeover(mut self) -> Self {
        self.params.takeover = Some(true);
        self
    }

    /// The last event that was seen: [`watch`](Self::watch) begins behind it, and there is no snapshot.
    pub const fn after(mut self, seq: Seq) -> Self {
        self.params.after = Some(seq);
        self
    }

    /// Takes the thread up and reads its events from there on.
    ///
    /// # Errors
    /// As [`Client::call`], and [`Error::InvalidTool`] before anything is sent.
    pub async fn watch(mut self) -> Result<Resumed, Error> {
        let id = self.params.thread_id.clone();
        let duties = self.client.duties();
        let handlers = duties.bindings.thread(&id);
        let _turn = handlers.declaring.lock().await;
        duties.hub.reopen(&id);
        // Reading begins before the request, as events may come right behind its answer.
        let mut events = EventStream::new(self.client.clone(), id.clone(), None);
        let trial = handlers.trial();
        if let Some(tools) = &self.tools {
            tools.check()?;
            self.params.tools = Some(tools.declarations().cloned().collect());
            // Open calls are offered beside the answer, so the handlers are there before the request.
            handlers.replace(tools);
        }
        let after = self.params.after;
        let (resumed, generation) = duties.link.call_on::<ThreadResume>(&self.params).await?;
        trial.keep();
        if let Some(tools) = &self.tools {
            handlers.declared(tools);
        }
        events.start_after(after.unwrap_or(resumed.seq));
        duties.hub.advance(&id, resumed.seq);
        duties.attachments.add(&id);
        if generation == duties.link.generation() {
            let _ = recovery::missing(duties, &id, &resumed);
        } else {
            recovery::take_up(duties, &id).await?;
        }
        let thread = Thread { client: self.client.clone(), id, seq: resumed.seq };
        Ok(Resumed { thread, snapshot: resumed.snapshot, events })
    }
}

impl IntoFuture for StartThread {
    type Output = Result<Thread, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.start().boxed()
    }
}

impl IntoFuture for ResumeThread {
    type Output = Result<Thread, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        async move { Ok(self.watch().await?.thread) }.boxed()
    }
}

impl fmt::Debug for StartThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartThread").field("params", &self.params).finish_non_exhaustive()
    }
}

impl fmt::Debug for ResumeThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumeThread").field("params", &self.params).finish_non_exhaustive()
    }
}
