//! Runs that a command submitted, each held by a task of its own: who reads its events can stop it at the same time.

use std::sync::Arc;

use ropewalk::{Run, RunEvent};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{Driver, events, failures};

/// What a run may be asked for, with the id of the command that asks.
pub(super) enum Wish {
    /// Its result.
    Result(String),
    /// Its events, so many at most.
    Iterate(String, Option<u64>),
    /// To be stopped.
    Stop(String),
}

/// The way to a run's task.
#[derive(Clone)]
pub(super) struct Followed(mpsc::UnboundedSender<Wish>);

impl Followed {
    /// Holds a run until the handle is dropped.
    pub(super) fn new(driver: &Arc<Driver>, run: Run) -> Self {
        let (send, wishes) = mpsc::unbounded_channel();
        tokio::spawn(hold(Arc::clone(driver), run, wishes));
        Self(send)
    }

    /// Asks for something; the task reports what comes of it.
    pub(super) fn ask(&self, wish: Wish) {
        let _ = self.0.send(wish);
    }
}

async fn hold(driver: Arc<Driver>, mut run: Run, mut wishes: mpsc::UnboundedReceiver<Wish>) {
    let mut reader: Option<Reader> = None;
    loop {
        tokio::select! {
            biased;
            wish = wishes.recv() => match wish {
                None => return,
                Some(Wish::Result(id)) => reader = Some(Reader { id, shows: false, left: None }),
                Some(Wish::Iterate(id, left)) => reader = Some(Reader { id, shows: true, left }),
                Some(Wish::Stop(id)) => {
                    let stopped = run.stop().await;
                    let stopped = stopped.map(|stopped| json!({"seq": stopped.seq}));
                    driver.reports.outcome(&id, stopped.map_err(|error| failures::failure(&error)));
                }
            },
            event = run.next(), if reader.is_some() => {
                let goes_on = reader.as_mut().is_some_and(|reader| reader.take(&driver, event));
                if !goes_on {
                    reader = None;
                }
            }
        }
    }
}

/// Who reads the events of a run.
struct Reader {
    id: String,
    shows: bool,
    left: Option<u64>,
}

impl Reader {
    /// Takes what came; whether more is wanted.
    fn take(&mut self, driver: &Driver, event: Option<Result<RunEvent, ropewalk::Error>>) -> bool {
        let ended = match event {
            None if self.shows => Ok(json!({})),
            None => Err(failures::failure(&ropewalk::Error::Disconnected)),
            Some(Err(error)) => Err(failures::failure(&error)),
            Some(Ok(event)) => match self.show(driver, &event) {
                Some(done) => Ok(done),
                None => return true,
            },
        };
        driver.reports.outcome(&self.id, ended);
        false
    }

    /// Shows an event, or waits for the last one; what to end with, if that is now.
    fn show(&mut self, driver: &Driver, event: &RunEvent) -> Option<Value> {
        if self.shows {
            driver.reports.event(&self.id, events::of_run(event));
            if let Some(left) = &mut self.left {
                *left = left.saturating_sub(1);
                return (*left == 0).then(|| json!({}));
            }
            return None;
        }
        match event {
            RunEvent::Completed(result) => Some(events::of_result(result)),
            _ => None,
        }
    }
}
