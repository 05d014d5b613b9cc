//! Plays all vectors that are asked for against one driver, several at once.

use std::time::{Duration, Instant};

use futures::{StreamExt, stream};

use super::{library::Library, play::play, stage::Setting, vector::Vector};
use crate::kit::{
    known::KnownFailing,
    report::{Outcome, Report, VectorResult},
    selection::Selection,
};

/// What is tried, and how.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The driver's command line.
    pub driver: Vec<String>,
    /// Which vectors.
    pub only: Selection,
    /// Those that are known to fail.
    pub known: KnownFailing,
    /// How many vectors are played at once, each with a driver of its own.
    pub jobs: usize,
    /// How long anything that is waited for may take.
    pub patience: Duration,
}

/// Plays the vectors; those whose turn has not come when `interrupted` resolves are not run.
pub async fn try_driver(library: &Library, trial: &Trial, interrupted: impl Future<Output = ()>) -> Report {
    let begun = Instant::now();
    let setting = Setting { command: trial.driver.clone(), patience: trial.patience };
    let chosen: Vec<&Vector> =
        library.vectors.iter().filter(|vector| trial.only.takes(&vector.topic, &vector.name)).collect();
    let playing = stream::iter(chosen.iter().enumerate())
        .map(async |(at, vector)| (at, result(vector, library, &setting, &trial.known).await));
    let mut playing = playing.buffer_unordered(trial.jobs.max(1));
    let mut interrupted = std::pin::pin!(interrupted);
    let mut played: Vec<Option<VectorResult>> = chosen.iter().map(|_| None).collect();
    let mut is_interrupted = false;
    loop {
        tokio::select! {
            biased;
            () = &mut interrupted => {
                is_interrupted = true;
                break;
            }
            next = playing.next() => match next {
                Some((at, result)) => played[at] = Some(result),
                None => break,
            }
        }
    }
    // Drivers that are under way end with what played them.
    drop(playing);
    let results = chosen.iter().zip(played).map(|(vector, result)| result.unwrap_or_else(|| not_run(vector))).collect();
    Report { subject: trial.driver.join(" "), results, took: begun.elapsed(), is_interrupted }
}

async fn result(vector: &Vector, library: &Library, setting: &Setting, known: &KnownFailing) -> VectorResult {
    let begun = Instant::now();
    let played = play(vector, &library.values, setting).await;
    of(vector, known.judge(&vector.name, played), begun.elapsed())
}

fn not_run(vector: &Vector) -> VectorResult {
    of(vector, Outcome::NotRun { reason: "the trial was interrupted".to_owned() }, Duration::ZERO)
}

fn of(vector: &Vector, outcome: Outcome, took: Duration) -> VectorResult {
    VectorResult { name: vector.name.clone(), topic: vector.topic.clone(), why: vector.why.clone(), outcome, took }
}
