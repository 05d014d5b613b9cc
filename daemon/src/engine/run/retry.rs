//! What follows when asking the model failed: the same request again after a wait that everybody can see, or the end.

use std::{fmt, time::Duration};

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use futures::future::BoxFuture;
use ropewalk_protocol::{RunErrorKind, Severity, Timestamp, WaitingKind, WaitingOn};

use super::{
    party::Party,
    report::{Over, Reporter},
};
use crate::{clock::Clock, domain::Notice, models::ModelError};

#[cfg(test)]
mod tests;

/// How often a model is asked in one step, the first time included.
const STEP_ATTEMPTS: usize = 5;
/// The first wait of our own choice: short, so that whoever mistyped an address is told so soon. Each one after it is twice
/// as long, and each is lengthened by chance up to double, so that many runs which failed together do not come back
/// together.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait a provider may ask for; one that asks for more fails the run at once.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// How much of our own wait is added to one that the provider asked for.
const SPREAD: u32 = 8;
/// How long a step may take: its attempts and the waits between them. An answer that trickles without end ends here.
pub const STEP_CEILING: Duration = Duration::from_secs(30 * 60);

/// An attempt that failed.
pub struct Failure {
    /// Why.
    pub error: ModelError,
    /// Whether asking again is out of the question whatever the error is: it is certain to fail the same way, or there
    /// is no time left.
    pub is_final: bool,
}

/// The attempts at one step.
pub struct Attempts {
    /// Ends when the step has taken as long as it may. Whoever sees it end does not wait for it again.
    pub ceiling: BoxFuture<'static, ()>,
    began_at: Timestamp,
    failed: Vec<RunErrorKind>,
    delays: ExponentialBackoff,
}

/// What follows a failed attempt.
pub enum Next {
    /// The wait is over: ask again.
    Again,
    /// The run fails, with this error.
    End(ModelError),
}

/// What follows a failure, and the wait before it. This is the one place that decides it.
///
/// Asking again repeats the same request, and nothing that the failed answer held has been done: calls are made only of
/// an answer that came whole. A request that has to change before it can succeed (it does not fit the window, say) is not
/// retryable, and is changed by the step before the failure gets here.
pub async fn next(reporter: &Reporter, attempts: &mut Attempts, failure: Failure, party: &Party) -> Result<Next, Over> {
    let clock = reporter.shared().clock.clone();
    let wait = match attempts.wait_after(&failure) {
        Ok(wait) => wait,
        Err(why) => return Ok(Next::End(attempts.give_up(failure.error, &why, clock.now()))),
    };
    let now = clock.now();
    let until = now.plus_millis(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    let notice = attempts.notice(failure.error.kind, party, until);
    let over = clock.sleep(wait);
    reporter
        .report(move |turn, run_id| {
            turn.attempt_failed(run_id);
            turn.change.notice(run_id, notice);
            let waiting_on = WaitingOn {
                kind: WaitingKind::Endpoint,
                interaction_id: None,
                since: now,
                deadline_at: Some(until),
                can_answer: Vec::new(),
                path: Vec::new(),
            };
            turn.change.run_waits(run_id, Some(waiting_on));
        })
        .await?;
    tokio::select! {
        biased;
        () = &mut attempts.ceiling => Ok(Next::End(attempts.give_up(failure.error, &Why::NoTime, clock.now()))),
        () = over => {
            reporter.stage(|turn, run_id| turn.change.run_waits(run_id, None));
            Ok(Next::Again)
        }
    }
}

/// Why there is no further attempt.
#[derive(Debug, PartialEq, Eq)]
enum Why {
    /// It would fail again.
    Useless,
    /// The provider asks for a longer wait than any.
    TooLong(Duration),
    /// There have been as many as there may be.
    Enough,
    /// The step has taken as long as it may.
    NoTime,
}

impl Attempts {
    /// A step begins.
    pub fn begin(clock: &dyn Clock) -> Self {
        let delays = ExponentialBuilder::new()
            .with_min_delay(FIRST_WAIT)
            .with_max_delay(LONGEST_WAIT)
            .with_max_times(STEP_ATTEMPTS - 1)
            .with_jitter();
        Self { ceiling: clock.sleep(STEP_CEILING), began_at: clock.now(), failed: Vec::new(), delays: delays.build() }
    }

    /// How long to wait after a failure; never less than the provider asked for.
    fn wait_after(&mut self, failure: &Failure) -> Result<Duration, Why> {
        self.failed.push(failure.error.kind);
        if failure.is_final || !failure.error.retryable {
            return Err(Why::Useless);
        }
        let asked_for = Duration::from_millis(failure.error.retry_after_ms.unwrap_or(0));
        if asked_for > LONGEST_WAIT {
            return Err(Why::TooLong(asked_for));
        }
        let own = self.delays.next().ok_or(Why::Enough)?;
        Ok(own.max(asked_for + own / SPREAD))
    }

    /// The error a run ends with: the last one, and what was tried.
    fn give_up(&self, mut error: ModelError, why: &Why, now: Timestamp) -> ModelError {
        match why {
            Why::TooLong(asked_for) => {
                let (asked_for, longest) = (Spelt(*asked_for), Spelt(LONGEST_WAIT));
                error.message += &format!(" It asks for a wait of {asked_for}, and none is longer than {longest}.");
            }
            Why::NoTime => {
                let ceiling = Spelt(STEP_CEILING);
                error.message += &format!(" It was not asked again: the {ceiling} that a step may take are over.");
            }
            Why::Useless | Why::Enough => {}
        }
        if self.failed.len() > 1 {
            let took = Spelt(Duration::from_millis(now.millis_since(self.began_at)));
            error.message += &format!(" ({} attempts over {took}: {})", self.failed.len(), self.tried());
        }
        error
    }

    /// Every kind of failure so far and how often it came, in the order in which they first came.
    fn tried(&self) -> String {
        let mut counted: Vec<(RunErrorKind, usize)> = Vec::new();
        for kind in &self.failed {
            match counted.iter_mut().find(|(known, _)| known == kind) {
                Some((_, times)) => *times += 1,
                None => counted.push((*kind, 1)),
            }
        }
        let spelt = counted.iter().map(|(kind, times)| format!("{} ×{times}", word(*kind)));
        spelt.collect::<Vec<_>>().join(", ")
    }

    fn notice(&self, kind: RunErrorKind, party: &Party, until: Timestamp) -> Notice {
        let (next, what) = (self.failed.len() + 1, what_happened(kind, party.place()));
        let text = format!(
            "{what} ({}). Trying again at {} UTC, attempt {next} of {STEP_ATTEMPTS}.",
            word(kind),
            time_of_day(until)
        );
        Notice { code: "retrying", text, severity: Severity::Warning }
    }
}

fn what_happened(kind: RunErrorKind, place: &str) -> String {
    match kind {
        RunErrorKind::RateLimited => format!("Too many requests at {place}"),
        RunErrorKind::Overloaded => format!("{place} has too much to do"),
        RunErrorKind::CutOff => format!("{place} broke off its answer"),
        RunErrorKind::Stalled => format!("{place} fell silent"),
        RunErrorKind::Unreachable => format!("{place} cannot be reached"),
        RunErrorKind::BadResponse => format!("{place} gave an answer that cannot be used"),
        _ => format!("Asking {place} failed"),
    }
}

/// A kind as the wire spells it.
fn word(kind: RunErrorKind) -> String {
    serde_json::to_value(kind).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The time of a moment without its date, in whole seconds.
fn time_of_day(moment: Timestamp) -> String {
    let text = moment.to_string();
    let time = text.split_once('T').map_or(text.as_str(), |(_, time)| time);
    time.split(['.', 'Z']).next().unwrap_or_default().to_owned()
}

/// A time as people say it: seconds, or minutes when there are several.
struct Spelt(Duration);

impl fmt::Display for Spelt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = (self.0.as_millis() + 500) / 1_000;
        if seconds < 120 { write!(f, "{seconds} s") } else { write!(f, "{} min", seconds.div_ceil(60)) }
    }
}
