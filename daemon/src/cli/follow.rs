//! Following a run to its end, with Ctrl-C at hand: the first press stops the run, the second one leaves it.

use ropewalk::{Client, Error, EventStream, Run, RunEvent};
use ropewalk_protocol::{
    self as wire, BranchId, Event, Item, ItemBody, MessageId, QueueChange, RunId, RunOutcome, RunStatus, RunStopParams,
    ThreadId,
};

use super::{
    failure::Failure,
    interrupts::Interrupts,
    out::{Out, Style},
    seen::Seen,
};

/// How following a run ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The run ended.
    Ended(Box<RunOutcome>),
    /// The run is paused until somebody resumes it.
    Paused,
    /// The person left; the run goes on.
    Left,
}

/// Which run.
#[derive(Clone, Debug)]
pub(crate) struct Which {
    pub(crate) thread_id: ThreadId,
    pub(crate) branch_id: BranchId,
    pub(crate) run_id: RunId,
    pub(crate) message_id: MessageId,
}

impl Which {
    pub(crate) fn of(run: &Run, thread_id: &ThreadId) -> Self {
        Self {
            thread_id: thread_id.clone(),
            branch_id: run.branch_id().clone(),
            run_id: run.id().clone(),
            message_id: run.message_id().clone(),
        }
    }
}

/// Follows a run, its events picked and typed.
pub(crate) async fn follow(
    mut run: Run,
    stopper: Stopper,
    interrupts: &mut Interrupts,
    mut show: impl FnMut(&RunEvent),
) -> Result<Ending, Failure> {
    let step = async move || match run.next().await {
        Some(Ok(RunEvent::Completed(result))) => Some(Ok(Ending::Ended(Box::new(result.outcome)))),
        Some(Ok(event)) => {
            show(&event);
            matches!(&event, RunEvent::State(run) if is_parked(run)).then_some(Ok(Ending::Paused))
        }
        Some(Err(error)) => Some(Err(error)),
        None => Some(Err(Error::Disconnected)),
    };
    until_end(|| stopper.ask(), interrupts, step).await
}

/// Follows a run, with all that is said of its thread in the meantime: one event of the wire a line.
pub(crate) async fn follow_wire(
    mut events: EventStream,
    stopper: Stopper,
    interrupts: &mut Interrupts,
    seen: &Seen,
) -> Result<Ending, Failure> {
    let step = async || {
        let event = match events.next().await {
            Some(Ok(event)) => event,
            Some(Err(error)) => return Some(Err(error)),
            None => return Some(Err(Error::Disconnected)),
        };
        stopper.out.json_line(&*event);
        if let Event::ItemStarted { item: Item { body: ItemBody::ToolCall(call), .. } } = &event.event {
            seen.mark(&call.call_id);
        }
        stopper.which.end(&event.event)
    };
    until_end(|| stopper.ask(), interrupts, step).await
}

impl Which {
    /// How the run ended, if this is its end or a pause; an error when it will never begin.
    fn end(&self, event: &Event) -> Option<Result<Ending, Error>> {
        match event {
            Event::RunCompleted { run_id, outcome, .. } if *run_id == self.run_id => {
                Some(Ok(Ending::Ended(Box::new(outcome.clone()))))
            }
            Event::RunState { run } if run.run_id == self.run_id && is_parked(run) => Some(Ok(Ending::Paused)),
            Event::QueueChanged(change)
                if change.change == QueueChange::Removed && change.message_id.as_ref() == Some(&self.message_id) =>
            {
                Some(Err(Error::RunRemoved { run_id: self.run_id.clone() }))
            }
            _ => None,
        }
    }
}

/// Whether a run is paused until somebody resumes it. One that is parked because the daemon goes is not: it goes on by
/// itself.
pub(crate) fn is_parked(run: &wire::Run) -> bool {
    run.state == RunStatus::Paused && run.reason.as_deref() != Some("shutdown")
}

/// Takes steps until one of them is the end of the run. At the first press of Ctrl-C `stop` is called, at the second one
/// nobody follows the run any more.
async fn until_end(
    mut stop: impl FnMut(),
    interrupts: &mut Interrupts,
    mut step: impl AsyncFnMut() -> Option<Result<Ending, Error>>,
) -> Result<Ending, Failure> {
    let mut is_asked = false;
    loop {
        tokio::select! {
            end = step() => match end {
                None => {}
                Some(Ok(ending)) => return Ok(ending),
                Some(Err(error)) => return Err(error.into()),
            },
            () = interrupts.next() => {
                if std::mem::replace(&mut is_asked, true) {
                    return Ok(Ending::Left);
                }
                stop();
            }
        }
    }
}

/// Asks the daemon to stop a run, once, without waiting for the answer.
pub(crate) struct Stopper {
    client: Client,
    which: Which,
    out: Out,
}

impl Stopper {
    pub(crate) fn new(client: &Client, which: Which, out: &Out) -> Self {
        Self { client: client.clone(), which, out: out.clone() }
    }

    fn ask(&self) {
        let said = self.out.paint_note(Style::Dim, "\nStopping the run. Ctrl-C again leaves it to itself.");
        // A question may stand at the terminal, and the person just turned to something else.
        self.out.say_now(&format!("{said}\n"));
        let runs = self.client.runs();
        let out = self.out.clone();
        let params = RunStopParams {
            thread_id: self.which.thread_id.clone(),
            branch_id: Some(self.which.branch_id.clone()),
            run_id: Some(self.which.run_id.clone()),
            operation_id: None,
        };
        tokio::spawn(async move {
            if let Err(error) = runs.stop(params).await {
                out.note(&format!("The run could not be stopped: {error}"));
            }
        });
    }
}

#[cfg(test)]
mod tests;
