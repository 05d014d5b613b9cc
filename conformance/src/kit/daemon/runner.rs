//! Plays many vectors, some at the same time, and reports in the order of the files.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use futures::{StreamExt, stream};
use tempfile::TempDir;
use tokio::sync::Mutex;

use super::{
    player::{Place, Player},
    rules::Schemas,
    subject::{Daemon, Subject},
};
use crate::kit::{
    known::KnownFailing,
    report::{Failure, Outcome, Report, VectorResult},
    selection::Selection,
    vector::Vector,
};

/// How vectors are played.
#[derive(Clone, Debug)]
pub struct Playing {
    /// The daemon that is tried.
    pub subject: Subject,
    /// Which vectors; the others are left out of the report.
    pub only: Selection,
    /// Which are known to fail.
    pub known: KnownFailing,
    /// How many at the same time.
    pub jobs: usize,
    /// How long a vector waits for any one message.
    pub patience: Duration,
}

/// What plays the vectors.
struct Runner<'a> {
    playing: &'a Playing,
    schemas: Arc<Schemas>,
    /// The daemon of the vectors that need none of their own; `None` until the first of them, and after it has died.
    shared: Mutex<Option<Arc<Daemon>>>,
    /// Makes the words that no two vectors share.
    count: AtomicU32,
    nonce: u32,
    /// Where each vector has a folder of its own, which goes in the end.
    folders: TempDir,
}

/// Plays vectors against a daemon until all had their turn, or until `interrupted` resolves: then no process is left,
/// and what had no turn is reported as not run.
///
/// # Errors
/// When the daemon cannot be started, or nothing listens on the socket, before any vector was played.
pub async fn play(
    vectors: &[Vector],
    playing: &Playing,
    interrupted: impl Future<Output = ()> + Send,
) -> io::Result<Report> {
    let started = Instant::now();
    let schemas = Schemas::shared();
    let (nonce, folders) = (rand::random(), tempfile::Builder::new().prefix("kit-").tempdir()?);
    let runner = Runner { playing, schemas, shared: Mutex::new(None), count: AtomicU32::new(0), nonce, folders };
    let mut interrupted = Box::pin(interrupted);
    let is_ended = tokio::select! {
        tried = runner.try_daemon() => tried.map(|()| false)?,
        () = &mut interrupted => true,
    };
    let asked: Vec<_> = vectors.iter().filter(|vector| playing.only.takes(&vector.topic, &vector.name)).collect();
    let turns = asked.iter().enumerate().map(|(at, vector)| {
        let runner = &runner;
        async move { (at, runner.turn(vector).await) }
    });
    let mut results: Vec<Option<VectorResult>> = asked.iter().map(|_| None).collect();
    let interrupted = async {
        if !is_ended {
            interrupted.await
        }
    };
    let mut ended = stream::iter(turns).buffer_unordered(playing.jobs.max(1)).take_until(Box::pin(interrupted));
    while let Some((at, result)) = ended.next().await {
        results[at] = Some(result);
    }
    drop(ended);
    let is_interrupted = results.iter().any(Option::is_none);
    let not_run =
        |vector: &Vector| result(vector, Outcome::NotRun { reason: "interrupted".to_owned() }, Duration::ZERO);
    let results = results.into_iter().zip(asked).map(|(result, vector)| result.unwrap_or_else(|| not_run(vector)));
    Ok(Report {
        subject: playing.subject.to_string(),
        results: results.collect(),
        took: started.elapsed(),
        is_interrupted,
    })
}

impl Runner<'_> {
    /// Whether there is a daemon at all: else every vector would say so.
    async fn try_daemon(&self) -> io::Result<()> {
        let daemon = self.shared().await?;
        daemon.connect().await.map(drop)
    }

    async fn shared(&self) -> io::Result<Arc<Daemon>> {
        let mut shared = self.shared.lock().await;
        if let Some(daemon) = &*shared
            && (!self.playing.subject.is_command() || daemon.connect().await.is_ok())
        {
            return Ok(Arc::clone(daemon));
        }
        let daemon = Arc::new(self.playing.subject.daemon().await?);
        *shared = Some(Arc::clone(&daemon));
        Ok(daemon)
    }

    async fn turn(&self, vector: &Vector) -> VectorResult {
        let started = Instant::now();
        if vector.needs_own_daemon() && !self.playing.subject.is_command() {
            let reason = "it needs a daemon of its own, and --socket names one that is shared".to_owned();
            return result(vector, Outcome::NotRun { reason }, Duration::ZERO);
        }
        let played = self.play(vector).await.unwrap_or_else(|error| {
            Err(Failure { expected: "a daemon".to_owned(), came: error.to_string(), ..Failure::default() })
        });
        result(vector, self.playing.known.judge(&vector.name, played), started.elapsed())
    }

    async fn play(&self, vector: &Vector) -> io::Result<Result<(), Failure>> {
        let unique = format!("k{:x}-{}", self.nonce, self.count.fetch_add(1, Ordering::Relaxed));
        let folder = self.folders.path().join(&unique);
        std::fs::create_dir(&folder)?;
        let player = |place| Player::new(place, Arc::clone(&self.schemas), self.playing.patience, &unique, &folder);
        if vector.needs_own_daemon() {
            let mut daemon = self.playing.subject.daemon().await?;
            return Ok(player(Place::Own(&mut daemon)).play(vector).await);
        }
        let daemon = self.shared().await?;
        Ok(player(Place::Shared(&daemon)).play(vector).await)
    }
}

fn result(vector: &Vector, outcome: Outcome, took: Duration) -> VectorResult {
    VectorResult { name: vector.name.clone(), topic: vector.topic.clone(), why: vector.why.clone(), outcome, took }
}

impl From<PathBuf> for Subject {
    fn from(socket: PathBuf) -> Self {
        Self::Socket(socket)
    }
}
