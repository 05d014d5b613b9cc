//! The thread that has the index follow the logs.

use std::{
    sync::Arc,
    thread::{self, JoinHandle},
};

use super::shared::Shared;

/// The thread; dropping this has it put in what is left, and waits for it.
pub(super) struct Follower {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    pub(super) fn start(shared: &Arc<Shared>) -> Self {
        let following = Arc::clone(shared);
        let thread = thread::Builder::new().name("store-index".to_owned()).spawn(move || following.follow());
        if let Err(error) = &thread {
            // Then those who commit put rows in whenever too many wait.
            tracing::warn!(%error, "no thread for the index; it follows at greater distance");
        }
        Self { shared: Arc::clone(shared), thread: thread.ok() }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.shared.ahead.close();
        if let Some(thread) = self.thread.take() {
            // Its panic was told when it happened; the next start finds the index behind and mends that.
            let _ = thread.join();
        }
    }
}
