//! A thread this client is attached to.

mod branches;
mod open;
mod registration;

use std::fmt;

use ropewalk_protocol::{
    Method, RunId, RunRebase, RunRecoverParams, RunRecovered, RunResume, RunRetry, Seq, Thread as Header, ThreadId,
    ThreadParams, ThreadRead, ThreadResume, ThreadTools as ThreadToolsMethod, ThreadToolsParams, ThreadUnsubscribe,
    Tool as EffectiveTool,
};

pub use branches::ThreadBranches;
pub use open::{ResumeThread, Resumed, StartThread};
pub use registration::Registration;

pub(crate) use open::resume_params;

use crate::{Client, Error, EventStream, Input, Run, RunRequest, Tool};

/// A thread this client is attached to: it is sent the events, offered the approvals and questions, and called for the
/// tools.
///
/// Cheap to clone. Dropping it ends nothing: the client stays attached, so that handlers go on answering for runs under
/// way, until [`Thread::close`] or the end of the client. A lost connection changes nothing of it: see [`Client`].
#[derive(Clone)]
pub struct Thread {
    pub(crate) client: Client,
    id: ThreadId,
    seq: Seq,
}

impl Thread {
    /// The thread's id; also that of its original branch.
    #[must_use]
    pub const fn id(&self) -> &ThreadId {
        &self.id
    }

    /// The thread's last event at the moment this client attached.
    #[must_use]
    pub const fn attached_at(&self) -> Seq {
        self.seq
    }

    /// The client.
    #[must_use]
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// Submits input; await the builder for the run's result, or read its events as they come.
    ///
    /// ```no_run
    /// # async fn example(thread: ropewalk::Thread) -> Result<(), ropewalk::Error> {
    /// let result = thread.run("What is issue 7 about?").await?;
    /// println!("{}", result.text());
    /// # Ok(()) }
    /// ```
    pub fn run(&self, input: impl Into<Input>) -> RunRequest {
        RunRequest::new(self.clone(), input.into())
    }

    /// Lets a paused run go on under its id, or continues one that has ended badly from its last stored step, by a new run:
    /// this one, or the one of the thread's original branch. What follows are the events of the run that goes on.
    ///
    /// A run is paused when it has used up a budget of the settings, or when its endpoint goes while it works.
    /// [`recovery`](ropewalk_protocol::Run::recovery) of a run says what can be done about it.
    ///
    /// # Errors
    /// As [`Client::call`]; `invalidState` for a run that can not be resumed.
    pub async fn resume_run(&self, run: impl Into<Option<RunId>>) -> Result<Run, Error> {
        self.recover::<RunResume>(run.into()).await
    }

    /// Gives the input of a run that has ended badly once more, by a new run. What came of it leaves the chain.
    ///
    /// # Errors
    /// As [`Client::call`]; `invalidState` for a run that can not be retried.
    pub async fn retry_run(&self, run: impl Into<Option<RunId>>) -> Result<Run, Error> {
        self.recover::<RunRetry>(run.into()).await
    }

    /// Puts the input of a run that failed with `parentMissing` on the head of its branch, by a new run.
    ///
    /// # Errors
    /// As [`Client::call`]; `invalidState` for any other run.
    pub async fn rebase_run(&self, run: impl Into<Option<RunId>>) -> Result<Run, Error> {
        self.recover::<RunRebase>(run.into()).await
    }

    async fn recover<M: Method<Params = RunRecoverParams, Result = RunRecovered>>(
        &self,
        run_id: Option<RunId>,
    ) -> Result<Run, Error> {
        // Reading begins before the request, so that no event of the run is missed.
        let events = self.events();
        let operation_id = Some(crate::ids::fresh().into());
        let params = RunRecoverParams { thread_id: self.id.clone(), branch_id: None, run_id, operation_id };
        let run = self.client.call::<M>(params).await?.run;
        Ok(Run::resumed(self.clone(), events, run))
    }

    /// The thread's events from now on, of all its runs and branches.
    pub fn events(&self) -> EventStream {
        EventStream::new(self.client.clone(), self.id.clone(), None)
    }

    /// The thread's events after a position, the stored ones first; 0 for all there ever were.
    pub fn events_after(&self, seq: Seq) -> EventStream {
        EventStream::new(self.client.clone(), self.id.clone(), Some(seq))
    }

    /// The thread's header and branches, as they are now.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn read(&self) -> Result<Header, Error> {
        Ok(self.client.call::<ThreadRead>(ThreadParams { thread_id: self.id.clone() }).await?.thread)
    }

    /// The thread's branches: listing, naming and deleting them. [`RunRequest::fork`] makes one.
    pub fn branches(&self) -> ThreadBranches {
        ThreadBranches::new(self.clone())
    }

    /// The effective tools: those of all clients and sources, with what the rules say of them.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn tools(&self) -> Result<Vec<EffectiveTool>, Error> {
        let params = ThreadToolsParams { thread_id: self.id.clone(), schemas: None };
        Ok(self.client.call::<ThreadToolsMethod>(params).await?.items)
    }

    /// Attaches a tool, beside those this client has there, until the registration is dropped. One of the same namespace
    /// and name is replaced.
    ///
    /// The model sees it from its next step on. A tool that was declared before in the very same words is bound
    /// without asking the daemon.
    ///
    /// # Errors
    /// [`Error::InvalidTool`] before anything is sent; else as [`Client::call`], and nothing has changed then.
    pub async fn attach(&self, tool: Tool) -> Result<Registration, Error> {
        tool.check()?;
        let handlers = self.client.duties().bindings.thread(&self.id);
        let _turn = handlers.declaring.lock().await;
        let declared = handlers.is_declared(&tool);
        // Bound before the daemon knows, because a call may follow its answer at once.
        let trial = handlers.trial();
        let registered = handlers.bind(tool);
        if !declared {
            let tools = handlers.tools();
            tools.check()?;
            self.declare(&tools).await?;
            handlers.declared(&tools);
        }
        trial.keep();
        Ok(Registration::new(&handlers, registered))
    }

    async fn declare(&self, tools: &crate::Tools) -> Result<(), Error> {
        let after = self.client.hub().newest(&self.id);
        let mut params = open::resume_params(self.id.clone());
        params.tools = Some(tools.declarations().cloned().collect());
        params.after = Some(after);
        let resumed = self.client.call::<ThreadResume>(params).await?;
        self.client.hub().advance(&self.id, resumed.seq);
        self.client.duties().attachments.note_taken(&self.id, &[]);
        Ok(())
    }

    /// Tools of this client that another process held when the client last attached to this thread: it took them over
    /// while this one was away, and they stay with it. Empty nearly always. To have them back, resume the thread with them
    /// and [`takeover`](ResumeThread::takeover).
    #[must_use]
    pub fn taken_tools(&self) -> Vec<String> {
        self.client.duties().attachments.taken(&self.id)
    }

    /// Detaches this client from the thread: streams of it end, its handlers are forgotten, and approvals and questions
    /// of it are no longer offered here. Runs go on.
    ///
    /// # Errors
    /// As [`Client::call`]; this side is detached in any case.
    pub async fn close(self) -> Result<(), Error> {
        self.client.duties().attachments.remove(&self.id);
        self.client.hub().close(&self.id);
        self.client.duties().bindings.forget(&self.id);
        self.client.call::<ThreadUnsubscribe>(ThreadParams { thread_id: self.id.clone() }).await.map(|_| ())
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id).field("client", &self.client).finish_non_exhaustive()
    }
}
