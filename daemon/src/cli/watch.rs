//! Watching a run from the command line to its end or pause: who decides and answers here, what is shown, and the exit code.

use ropewalk::{Approval, Client, Connect, EventStream, Questions, Run, Thread};
use ropewalk_protocol::{ListParams, OutcomeStatus, RunErrorKind, RunOutcome, RunParams, RunRead, Unattended};

use super::{
    approve::Approver,
    endpoint,
    failure::{Exit, Failure},
    follow::{Ending, Stopper, Which, follow, follow_wire},
    interrupts::Interrupts,
    out::Style,
    person::Person,
    question::Answerer,
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
            (None, false) => (!waits).then_some(Approver::Nothing(NO_TERMINAL)),
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
        drop(events);
        let mut transcript = Transcript::new(&self.context.out, self.seen, self.tells_waiting);
        if self.wants_data {
            transcript = transcript.without_result();
        }
        let ending = follow(run, stopper, interrupts, |event| transcript.show(event)).await?;
        self.conclude(&ending, &which).await;
        Ok(exit_of(&ending))
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
