//! Watching a run from the command line to its end or pause: who decides and answers here, what is shown, and the exit code.

use std::convert::Infallible;

use ropewalk::{Approval, Client, Connect, EventStream, Questions, Run, Thread};
use ropewalk_protocol::{
    Event, ListParams, OutcomeStatus, QueueChange, RunErrorKind, RunOutcome, RunParams, RunRead, ThreadId, Unattended,
};

use super::{
    approve::{Approver, Help},
    endpoint,
    failure::{Exit, Failure},
    follow::{Ending, Stopper, Which, follow, follow_wire},
    interrupts::Interrupts,
    out::Style,
    person::Person,
    question::Answerer,
    reconnecting::Telling,
    seen::Seen,
    session::Context,
    text::printable,
    transcript::Transcript,
};

const NO_TERMINAL: &str = "there is no terminal to ask at";
const NO_APPROVE: &str = "the run was started with --no-approve";

/// Who decides and answers. Nobody, when a run may wait and there is no terminal here: then whoever attaches does.
pub(crate) struct Deciders {
    approver: Option<Approver>,
    answerer: Option<Answerer>,
}

impl Deciders {
    pub(crate) fn find(unattended: Unattended, no_approve: bool, seen: &Seen, context: &Context) -> Self {
        let person = Person::find(&context.out);
        let waits = unattended == Unattended::Wait;
        let approver = match (&person, no_approve) {
            (_, true) => Some(Approver::Nothing(NO_APPROVE)),
            (Some(person), false) => Some(Approver::Person(person.clone(), seen.clone())),
            (None, false) => (!waits).then(|| Approver::Nobody(Some(Help::of(context.environment.program())))),
        };
        let answerer = match person {
            Some(person) => Some(Answerer::Person(person, seen.clone())),
            None => (!waits).then_some(Answerer::Nobody(NO_TERMINAL)),
        };
        Self { approver, answerer }
    }

    /// Whether what waits for a decision waits for somebody else.
    pub(crate) const fn leave_it_to_others(&self) -> bool {
        self.approver.is_none()
    }

    /// What is said where nobody can be asked, to be told which project it is about.
    pub(crate) fn help(&self) -> Option<Help> {
        match &self.approver {
            Some(Approver::Nobody(help)) => help.clone(),
            _ => None,
        }
    }

    /// Has them asked by the client that is being connected.
    pub(crate) fn register(self, mut connect: Connect, context: &Context) -> Connect {
        if let Some(approver) = self.approver {
            let out = context.out.clone();
            connect = connect.on_approval(move |approval: Approval| {
                let (approver, out) = (approver.clone(), out.clone());
                async move { approver.decide(&approval, &out).await }
            });
        }
        if let Some(answerer) = self.answerer {
            let out = context.out.clone();
            connect = connect.on_input(move |questions: Questions| {
                let (answerer, out) = (answerer.clone(), out.clone());
                async move { answerer.answer(&questions, &out).await }
            });
        }
        connect
    }
}

/// What is shown of a run, besides what happens in it.
pub(crate) struct Watching<'a> {
    pub(crate) client: &'a Client,
    pub(crate) thread: &'a Thread,
    pub(crate) context: &'a Context,
    pub(crate) seen: &'a Seen,
    pub(crate) tells_waiting: bool,
    /// Whether it was said already that the input is held behind a bad end.
    pub(crate) held_is_said: bool,
    /// Whether the result is the answer as data, and its text is shown on the way only.
    pub(crate) wants_data: bool,
}

impl Watching<'_> {
    /// Watches a run whose events come with `run`, or, for programs, all `events` of its thread.
    pub(crate) async fn watch(
        &self,
        run: Run,
        events: EventStream,
        interrupts: &mut Interrupts,
    ) -> Result<Exit, Failure> {
        let _telling = Telling::begin(self.client, &self.context.out);
        let which = Which::of(&run, self.thread.id());
        let stopper = Stopper::new(self.client, which.clone(), &self.context.out);
        if self.context.global.json {
            drop(run);
            let ending = follow_wire(events, stopper, interrupts, self.seen).await?;
            if !matches!(ending, Ending::Left) {
                let read = self.client.call::<RunRead>(RunParams { run_id: which.run_id }).await?;
                self.context.out.json_line(&read);
            }
            return Ok(exit_of(&ending));
        }
        let mut transcript = Transcript::new(&self.context.out, self.seen, self.tells_waiting);
        if self.wants_data {
            transcript = transcript.without_result();
        } else if !self.context.out.results_are_read() {
            transcript = transcript.with_result_at_the_end();
        }
        let following = follow(run, stopper, interrupts, |event| transcript.show(event));
        let ending = tokio::select! {
            ending = following => ending,
            never = self.tell_held(events, &which) => match never {},
        };
        // What was said before the connection was lost is shown too.
        transcript.finish(ending.as_ref().ok().and_then(answer));
        let ending = ending?;
        self.conclude(&ending, &which).await;
        Ok(exit_of(&ending))
    }

    /// Says that the input is held, as soon as the run it waits behind ends badly.
    async fn tell_held(&self, mut events: EventStream, which: &Which) -> Infallible {
        let mut is_said = self.held_is_said;
        while let Some(Ok(event)) = events.next().await {
            match &event.event {
                Event::RunStarted { run } if run.run_id == which.run_id => break,
                Event::QueueChanged(change) if change.branch_id == which.branch_id => match change.change {
                    QueueChange::Held if !std::mem::replace(&mut is_said, true) => {
                        self.context.out.aside(&held(self.context.environment.program(), &which.thread_id));
                    }
                    QueueChange::Released => is_said = false,
                    _ => {}
                },
                _ => {}
            }
        }
        // A stream that nobody reads must not be kept: it holds back what the connection has for others.
        drop(events);
        std::future::pending().await
    }

    async fn conclude(&self, ending: &Ending, which: &Which) {
        let out = &self.context.out;
        let thread = &which.thread_id;
        let goes_on = format!("thread {thread}; `ropewalk run --continue \"…\"` goes on here");
        match ending {
            Ending::Ended(outcome) => {
                if let Some(data) = outcome.structured.as_ref().filter(|_| self.wants_data) {
                    out.json(data);
                }
                if let Some(why) = why(outcome) {
                    out.note(&format!("{} {}", out.paint_note(Style::Red, "✗"), printable(&why)));
                    let program = self.context.environment.program();
                    out.aside(&format!(
                        "  `{program} resume {thread}` goes on from here, `{program} retry {thread}` gives the input again"
                    ));
                }
                if let Some(next) = self.next_step(outcome).await {
                    out.note(&format!("  Next: {}", printable(&next)));
                }
                if out.notes_are_read() {
                    out.aside(&goes_on);
                }
            }
            Ending::Paused => {
                let mark = out.paint_note(Style::Yellow, "–");
                out.note(&format!("{mark} The run is paused; `ropewalk resume {thread}` lets it go on"));
            }
            Ending::Left => out.aside(&format!("Left the run to itself: {goes_on}")),
        }
    }

    /// What to do about a failure whose message does not say it: those that `endpoint test` would find too.
    async fn next_step(&self, outcome: &RunOutcome) -> Option<String> {
        let error = outcome.error.as_ref()?;
        let program = self.context.environment.program();
        match error.kind {
            RunErrorKind::NoEndpoint => Some(format!(
                "`{program} endpoint list` shows the endpoints, `{program} endpoint use NAME` chooses one."
            )),
            RunErrorKind::Auth | RunErrorKind::ModelNotFound | RunErrorKind::Quota | RunErrorKind::Unreachable => {
                let name = error.provider.as_deref()?;
                let everything = ListParams { cursor: None, limit: Some(1_000) };
                let endpoints = self.client.endpoints().list(everything).await.ok()?.items;
                let endpoint = endpoints.iter().find(|endpoint| endpoint.name == name && !endpoint.builtin)?;
                Some(endpoint::next_step(endpoint, error, program))
            }
            _ => None,
        }
    }
}

fn exit_of(ending: &Ending) -> Exit {
    match ending {
        Ending::Ended(outcome) => Exit::of_run(outcome.status),
        Ending::Paused => Exit::PAUSED,
        Ending::Left => Exit::LEFT,
    }
}

/// The answer of a run that has ended with one.
fn answer(ending: &Ending) -> Option<&str> {
    match ending {
        Ending::Ended(outcome) => outcome.text.as_deref(),
        Ending::Paused | Ending::Left => None,
    }
}

/// What is said of inputs that are held behind a bad end.
pub(crate) fn held(program: &str, thread: &ThreadId) -> String {
    format!(
        "… held, because the run before ended badly: `{program} resume {thread}` goes on with that one, \
         `{program} retry {thread}` gives its input again, `{program} skip {thread}` leaves it as it is"
    )
}

/// Why a run did not complete, in a sentence.
pub(crate) fn why(outcome: &RunOutcome) -> Option<String> {
    let reason = outcome.error.as_ref().map(|error| error.message.as_str()).or(outcome.reason.as_deref());
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let by = outcome.by.as_ref().and_then(|by| by.client_name.as_deref());
    let by = by.map(|name| format!(" by {name}")).unwrap_or_default();
    match outcome.status {
        OutcomeStatus::Completed => None,
        OutcomeStatus::Failed => Some(format!("The run failed{reason}")),
        OutcomeStatus::Stopped => Some(format!("The run was stopped{by}{reason}")),
        OutcomeStatus::Interrupted => Some(format!("The run was interrupted{reason}")),
    }
}
