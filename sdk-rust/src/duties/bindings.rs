//! Which thread has which handlers of this process.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use ropewalk_protocol::{ThreadId, ToolDeclaration};
use tokio::{sync::watch, time::timeout};

use crate::tools::{Tool, ToolKey, Tools};

/// How long a call of a thread nobody knows waits for the start that is under way.
const START_PATIENCE: Duration = Duration::from_secs(5);

/// The handlers of all threads of a client.
pub(crate) struct Bindings {
    threads: Mutex<HashMap<ThreadId, Arc<ThreadTools>>>,
    starting: watch::Sender<usize>,
}

/// The handlers of one thread.
#[derive(Default)]
pub(crate) struct ThreadTools {
    bound: Mutex<HashMap<ToolKey, Bound>>,
    /// What the daemon was told last; a detached handler's declaration stays until the next time.
    declared: Mutex<Vec<ToolDeclaration>>,
    /// Held while a set is being declared, so that two declarations do not undo each other.
    pub(crate) declaring: tokio::sync::Mutex<()>,
    next: AtomicU64,
}

#[derive(Clone)]
struct Bound {
    tool: Tool,
    registration: u64,
}

/// One handler's place in a thread, to take it back by.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) key: ToolKey,
    pub(crate) registration: u64,
}

/// Handlers that are bound on trial, until the daemon has agreed: dropped without [`Trial::keep`], all is as it was.
pub(crate) struct Trial<'a> {
    handlers: &'a ThreadTools,
    before: Option<HashMap<ToolKey, Bound>>,
}

/// Says that a thread is being started, until it is dropped.
pub(crate) struct Starting<'a>(&'a watch::Sender<usize>);

impl Default for Bindings {
    fn default() -> Self {
        Self { threads: Mutex::default(), starting: watch::Sender::new(0) }
    }
}

impl Bindings {
    /// A thread is being started; calls of threads that are not known yet wait meanwhile.
    pub(crate) fn starting(&self) -> Starting<'_> {
        self.starting.send_modify(|count| *count += 1);
        Starting(&self.starting)
    }

    /// The handlers of a thread, made when there are none.
    pub(crate) fn thread(&self, thread: &ThreadId) -> Arc<ThreadTools> {
        Arc::clone(self.lock().entry(thread.clone()).or_default())
    }

    /// Forgets a thread.
    pub(crate) fn forget(&self, thread: &ThreadId) {
        self.lock().remove(thread);
    }

    /// The tool of a call.
    pub(crate) async fn find(&self, thread: &ThreadId, key: &ToolKey) -> Option<Tool> {
        let mut starting = self.starting.subscribe();
        // The answer that names a new thread may still be on its way to whoever started it.
        let known = |count: &usize| *count == 0 || self.lock().contains_key(thread);
        let _ = timeout(START_PATIENCE, starting.wait_for(known)).await;
        let tools = self.lock().get(thread).cloned()?;
        tools.get(key)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ThreadId, Arc<ThreadTools>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Trial<'_> {
    /// The handlers stay as they are now.
    pub(crate) fn keep(mut self) {
        self.before = None;
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            *self.handlers.lock() = before;
        }
    }
}

impl ThreadTools {
    /// Begins a trial.
    pub(crate) fn trial(&self) -> Trial<'_> {
        Trial { handlers: self, before: Some(self.lock().clone()) }
    }

    /// Binds a handler in the place of one with the same key.
    pub(crate) fn bind(&self, tool: Tool) -> Registered {
        let registration = self.next.fetch_add(1, Ordering::Relaxed);
        let key = tool.key();
        self.lock().insert(key.clone(), Bound { tool, registration });
        Registered { key, registration }
    }

    /// Takes a handler back, unless another has taken its place.
    pub(crate) fn unbind(&self, registered: &Registered) {
        let mut bound = self.lock();
        if bound.get(&registered.key).is_some_and(|bound| bound.registration == registered.registration) {
            bound.remove(&registered.key);
        }
    }

    /// Replaces all handlers.
    pub(crate) fn replace(&self, tools: &Tools) {
        self.lock().clear();
        tools.iter().for_each(|tool| drop(self.bind(tool.clone())));
    }

    /// The tools, in the order of their names.
    pub(crate) fn tools(&self) -> Tools {
        let mut tools: Vec<Tool> = self.lock().values().map(|bound| bound.tool.clone()).collect();
        tools.sort_by_key(|tool| tool.key().to_string());
        tools.into_iter().collect()
    }

    /// Whether the daemon has been told of this very tool.
    pub(crate) fn is_declared(&self, tool: &Tool) -> bool {
        self.declared.lock().unwrap_or_else(PoisonError::into_inner).contains(tool.declaration())
    }

    /// The daemon has been told of these tools and no others.
    pub(crate) fn declared(&self, tools: &Tools) {
        *self.declared.lock().unwrap_or_else(PoisonError::into_inner) = tools.declarations().cloned().collect();
    }

    /// What the daemon was told last.
    pub(crate) fn declarations(&self) -> Vec<ToolDeclaration> {
        self.declared.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn get(&self, key: &ToolKey) -> Option<Tool> {
        self.lock().get(key).map(|bound| bound.tool.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ToolKey, Bound>> {
        self.bound.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
