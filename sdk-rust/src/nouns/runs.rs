//! Runs of any thread, by their ids.

use ropewalk_protocol::{Run, RunId, RunParams, RunRead};

use super::{noun, verbs};
use crate::Error;

noun! {
    /// Runs of any thread. [`Thread::run`](crate::Thread::run) is the pleasant way to make one.
    Runs
}

impl Runs {
    verbs! {
        /// Submits input. Durable before the answer.
        submit = RunSubmit;
        /// Stops a run. Idempotent, and always answered.
        stop = RunStop;
        /// Waits until a run has ended, or until it needs a person. A timeout is no error.
        wait = RunWait;
        /// The runs, newest first.
        list = RunList;
        /// Leaves a bad end as it is and releases what waits behind it.
        skip = RunSkip;
        /// Lets a paused run go on under its id, or continues one that has ended badly from its last stored step.
        resume = RunResume;
        /// Gives the input of a run that has ended badly once more. What came of it leaves the chain.
        retry = RunRetry;
        /// Puts an input whose parent is gone on the head of its branch.
        rebase = RunRebase;
    }

    /// A run.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn read(&self, run: impl Into<RunId>) -> Result<Run, Error> {
        Ok(self.client.call::<RunRead>(RunParams { run_id: run.into() }).await?.run)
    }
}
