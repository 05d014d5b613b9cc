//! Threads that wait for the disk, so that no thread of the runtime ever does.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

/// How long a thread with nothing to do stays.
const IDLE: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// A pool that grows when every thread is busy, up to a limit, and shrinks when there is nothing to do.
///
/// Dropping it finishes what was given to it and waits for its threads.
pub(super) struct Pool {
    shared: Arc<Shared>,
    name: &'static str,
    limit: usize,
}

struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    idle: usize,
    threads: Vec<JoinHandle<()>>,
    running: usize,
    closed: bool,
}

impl Pool {
    /// A pool without threads yet.
    pub(super) fn new(name: &'static str, limit: usize) -> Self {
        let shared = Shared { state: Mutex::new(State::default()), work: Condvar::new() };
        Self { shared: Arc::new(shared), name, limit }
    }

    /// Runs `job` on one of the threads, in the order of the calls as far as threads are free.
    ///
    /// The callers bound what waits here: a log has one job at a time, however much it has to write.
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.lock();
        state.jobs.push_back(Box::new(job));
        if state.jobs.len() <= state.idle || state.running >= self.limit {
            drop(state);
            self.shared.work.notify_one();
            return;
        }
        let shared = Arc::clone(&self.shared);
        match thread::Builder::new().name(self.name.to_owned()).spawn(move || shared.serve()) {
            Ok(handle) => {
                state.running += 1;
                state.threads.retain(|thread| !thread.is_finished());
                state.threads.push(handle);
            }
            Err(error) if state.running == 0 => {
                // Without any thread nobody would ever run the job; here it is at least done.
                tracing::warn!(%error, "no thread for the store; its work is done by the caller");
                let job = state.jobs.pop_back();
                drop(state);
                job.into_iter().for_each(|job| job());
            }
            Err(_) => {}
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        let threads = std::mem::take(&mut state.threads);
        drop(state);
        self.shared.work.notify_all();
        for thread in threads {
            // A job's panic was caught in the thread, so there is nothing to learn from how it ended.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                if catch_unwind(AssertUnwindSafe(job)).is_err() {
                    tracing::error!("a job of the store panicked");
                }
                state = self.lock();
                continue;
            }
            if state.closed {
                break;
            }
            state.idle += 1;
            let (woken, waited) = self.work.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if waited.timed_out() && state.jobs.is_empty() {
                break;
            }
        }
        state.running -= 1;
    }
}
