//! Starting a thread.

use std::{collections::BTreeSet, sync::Arc};

use ropewalk_protocol::{RpcError, ThreadId, ThreadStarted};

use super::{read::effective_tools, refusal};
use crate::{
    catalogue::Operation,
    domain::{ClientTool, Declaring, StartThread, ThreadState},
    engine::{AttachedClient, Engine, ThreadHandle, live::Attached},
};

/// A thread to start, checked.
pub struct StartRequest {
    /// What it begins with; its id is made here.
    pub start: StartThread,
    /// Tools of the client.
    pub tools: Vec<Arc<ClientTool>>,
    /// Who starts it.
    pub client: Arc<dyn AttachedClient>,
    /// Whether the client follows its events.
    pub subscribe: bool,
    /// The operation.
    pub operation: Option<Operation>,
}

/// A thread that was started.
pub struct Started {
    /// What the client is told.
    pub answer: ThreadStarted,
    /// The thread.
    pub thread: ThreadHandle,
}

impl Engine {
    /// Starts a thread: its first record has everything it begins with.
    ///
    /// # Errors
    /// `notFound` (project), `unavailable` when it could not be stored; there is no thread then.
    pub async fn start(self: &Arc<Self>, mut request: StartRequest) -> Result<Started, RpcError> {
        let shared = self.shared();
        let _project_stays = self.beginnings.read().await;
        let project_id = &request.start.project_id;
        if !shared.catalogue.snapshot().projects.contains_key(project_id) {
            return Err(RpcError::not_found("project", project_id));
        }
        let now = shared.clock.now();
        request.start.thread_id = ThreadId::from(shared.ids.next(now));
        let thread = self.begin(ThreadState::new(request.start.header(now)));
        let answer = thread
            .turn(move |turn| {
                let client = request.client;
                let declaring = Declaring {
                    client: client.client_ref().clone(),
                    lasting: client.is_lasting(),
                    tools: Some(request.tools),
                    takeover: false,
                    absent: BTreeSet::new(),
                };
                let header = turn.state().thread.clone();
                turn.change.start_thread(&request.start, &declaring).map_err(|error| refusal(error, &header))?;
                let attached = Attached { client: client.clone(), subscribed: request.subscribe, holds_tools: true };
                turn.live.attached.insert(client.connection(), attached);
                let answer = ThreadStarted {
                    thread: turn.state().thread.clone(),
                    seq: turn.change.seq(),
                    tools: effective_tools(turn, false),
                    replayed: false,
                };
                turn.answers(request.operation, &answer)?;
                Ok(answer)
            })
            .await?;
        self.has_begun();
        Ok(Started { answer, thread })
    }
}
