//! Plays one vector: its connections, what it has captured, and one step after another.

use std::{collections::BTreeMap, io, path::Path, sync::Arc, time::Duration};

use futures::future::{BoxFuture, FutureExt, select_all};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    connection::Connection,
    rules::{Broken, Rules, Schemas},
    seeking::{Seeker, Sought},
    subject::Daemon,
};
use crate::kit::{
    matching::{Captures, Unfilled, matches},
    report::Failure,
    vector::{Step, Vector},
};

/// How long a write may take; a daemon that does not read for so long does not read.
const WRITES_WITHIN: Duration = Duration::from_secs(60);

/// Where a vector is played.
pub(super) enum Place<'a> {
    /// At a daemon that others talk to.
    Shared(&'a Daemon),
    /// At a daemon of its own.
    Own(&'a mut Daemon),
}

/// Why a step did not go as it says.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) expected: String,
    pub(super) came: String,
    pub(super) rule: Option<String>,
}

/// A vector being played.
pub(super) struct Player<'a> {
    pub(super) place: Place<'a>,
    pub(super) captures: Captures,
    pub(super) connections: BTreeMap<String, Connection>,
    /// How long a message is waited for.
    pub(super) patience: Duration,
    pub(super) next_id: i64,
    schemas: Arc<Schemas>,
}

impl<'a> Player<'a> {
    /// A player; `unique` is a word that no other vector has, `folder` an empty directory that is this vector's own.
    pub(super) fn new(
        place: Place<'a>,
        schemas: Arc<Schemas>,
        patience: Duration,
        unique: &str,
        folder: &Path,
    ) -> Self {
        let mut captures = Captures::new();
        captures.set("unique", unique.into());
        captures.set("folder", folder.to_string_lossy().into());
        Self { place, captures, connections: BTreeMap::new(), patience, next_id: 1, schemas }
    }

    /// Plays a vector to its end, and looks at the end whether every connection still answers.
    pub(super) async fn play(mut self, vector: &Vector) -> Result<(), Failure> {
        let played = self.play_steps(&vector.steps, "").await;
        let played = match played {
            Ok(()) => self.still_answers().await.map_err(|problem| Failed { step: None, problem }),
            failed => failed,
        };
        played.map_err(|failed| self.failure(failed))
    }

    /// Steps one after another; `before` is the number of the step they are part of.
    pub(super) fn play_steps<'s>(
        &'s mut self,
        steps: &'s [Step],
        before: &'s str,
    ) -> BoxFuture<'s, Result<(), Failed>> {
        async move {
            for (at, step) in steps.iter().enumerate() {
                let number = format!("{before}{}", at + 1);
                self.play_step(step, &number).await?;
            }
            Ok(())
        }
        .boxed()
    }

    fn failure(&self, Failed { step, problem }: Failed) -> Failure {
        let (step, doing) = step.unwrap_or_else(|| {
            (String::new(), "after the last step: every connection still answers `daemon/status`".to_owned())
        });
        let transcripts = self.connections.iter().map(|(name, connection)| connection.transcript(name)).collect();
        Failure { step, doing, expected: problem.expected, came: problem.came, rule: problem.rule, transcripts }
    }

    /// Opens a connection in the place of one with this name.
    pub(super) async fn open(&mut self, name: &str) -> Result<(), Problem> {
        let stream = match &self.place {
            Place::Shared(daemon) => daemon.connect().await,
            Place::Own(daemon) => daemon.connect().await,
        };
        let stream = stream.map_err(|error| Problem::said("a connection to the daemon's socket", error.to_string()))?;
        let connection = Connection::new(stream, Rules::new(Arc::clone(&self.schemas)));
        self.connections.insert(name.to_owned(), connection);
        Ok(())
    }

    pub(super) fn connection(&mut self, name: &str) -> Result<&mut Connection, Problem> {
        let connection = self.connections.get_mut(name);
        connection.ok_or_else(|| Problem::said("a connection that is open", format!("connection {name} is not open")))
    }

    /// Sends a message, and remembers what it asks.
    pub(super) async fn send(&mut self, on: &str, message: &Value) -> Result<(), Problem> {
        let connection = self.connection(on)?;
        connection.rules.sends(message);
        let line = message.to_string();
        connection.sent(&line);
        self.write(on, format!("{line}\n").as_bytes()).await
    }

    /// Writes bytes, and reads what comes meanwhile: who only writes may wait for a daemon that waits to be read.
    pub(super) async fn write(&mut self, on: &str, bytes: &[u8]) -> Result<(), Problem> {
        let writer = self.connection(on)?.writer.take();
        let mut writer =
            writer.ok_or_else(|| Problem::said("a connection to write to", "it was finished".to_owned()))?;
        let written = {
            let writing = timeout(WRITES_WITHIN, Connection::write(&mut writer, bytes));
            tokio::pin!(writing);
            loop {
                tokio::select! {
                    biased;
                    written = &mut writing => break written,
                    read = self.pump() => read?,
                }
            }
        };
        self.connection(on)?.writer = Some(writer);
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, "the daemon did not read for a minute");
        let written = written.map_err(late).and_then(|written| written);
        written.map_err(|error| Problem::said("a daemon that reads", error.to_string()))
    }

    /// Reads one line of any connection that is read. Never returns when there is none.
    async fn pump(&mut self) -> Result<(), Problem> {
        let readable = self.connections.iter_mut().filter(|(_, connection)| connection.is_read());
        let reads: Vec<_> = readable
            .map(|(name, connection)| Box::pin(async move { (name.clone(), connection.next_line().await) }))
            .collect();
        if reads.is_empty() {
            return std::future::pending().await;
        }
        let ((name, read), _, others) = select_all(reads).await;
        drop(others);
        self.connection(&name)?.take_in(read).map_err(Problem::from)
    }

    /// Waits for what a seeker seeks on a connection, takes it out and returns it.
    pub(super) async fn wait(
        &mut self,
        on: &str,
        without: Option<&Value>,
        seeker: &Seeker,
    ) -> Result<Vec<Value>, Problem> {
        let deadline = Instant::now() + self.patience;
        let mut nearest = None;
        loop {
            let captures = &mut self.captures;
            let connection = self.connections.get_mut(on);
            let connection = connection.ok_or_else(|| Problem::said("an open connection", format!("{on} is not")))?;
            match seeker.seek(&connection.inbox, captures)? {
                Sought::Found(places) => {
                    nothing_like(without, &connection.inbox, &places, captures)?;
                    return Ok(seeker.take(&mut connection.inbox, &places));
                }
                Sought::NotYet(mismatch) => nearest = mismatch.or(nearest),
            }
            if connection.is_ended {
                return Err(Problem::said(seeker.to_string(), "the daemon closed the connection".to_owned()));
            }
            if let Ok(read) = timeout_at(deadline, self.pump()).await {
                read?;
            } else {
                return Err(late(seeker, nearest, self.patience));
            }
        }
    }

    /// Waits until the daemon has closed a connection.
    pub(super) async fn wait_for_end(&mut self, on: &str, without: Option<&Value>) -> Result<(), Problem> {
        let deadline = Instant::now() + self.patience;
        while !self.connection(on)?.is_ended {
            let read = timeout_at(deadline, self.pump()).await;
            read.map_err(|_| Problem::said("a connection that the daemon closes", "it stayed open".to_owned()))??;
        }
        let connection = self.connections.get(on).expect("it was looked at just now");
        nothing_like(without, &connection.inbox, &[connection.inbox.len()], &self.captures)
    }

    /// A round trip on each connection that has shaken hands: whatever else was sent in answer has come by then.
    async fn still_answers(&mut self) -> Result<(), Problem> {
        let names: Vec<_> = self
            .connections
            .iter()
            .filter(|(_, connection)| {
                connection.rules.is_greeted() && connection.is_read() && connection.writer.is_some()
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in names {
            let id = self.request(&name, "daemon/status", None, None).await?;
            let answer = self.wait(&name, None, &Seeker::answer(id)).await?;
            let has_result =
                matches(&serde_json::json!({"result": {"$any": true}}), answer.first(), &mut self.captures);
            has_result.map_err(|wrong| Problem::said(wrong.expected, wrong.came))?;
        }
        Ok(())
    }
}

/// A step that failed, with its number and its words; without a step it is the look at the end.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) step: Option<(String, String)>,
    pub(super) problem: Problem,
}

/// Whether nothing that came before the last of these places, and was not taken, matches.
fn nothing_like(
    without: Option<&Value>,
    inbox: &[Value],
    places: &[usize],
    captures: &Captures,
) -> Result<(), Problem> {
    let Some(pattern) = without else { return Ok(()) };
    let until = places.iter().max().copied().unwrap_or_default().min(inbox.len());
    let before = inbox[..until].iter().enumerate().filter(|(at, _)| !places.contains(at));
    match before
        .map(|(_, message)| message)
        .find(|message| matches(pattern, Some(message), &mut captures.clone()).is_ok())
    {
        Some(message) => Err(Problem::said(format!("nothing like {pattern}"), message.to_string())),
        None => Ok(()),
    }
}

fn late(seeker: &Seeker, nearest: Option<String>, patience: Duration) -> Problem {
    let nearest = nearest.map(|nearest| format!("; the nearest: {nearest}")).unwrap_or_default();
    Problem::said(seeker.to_string(), format!("nothing like it within {} s{nearest}", patience.as_secs_f64()))
}

impl Problem {
    pub(super) fn said(expected: impl Into<String>, came: impl Into<String>) -> Self {
        Self { expected: expected.into(), came: came.into(), rule: None }
    }
}

impl From<Broken> for Problem {
    fn from(broken: Broken) -> Self {
        Self { expected: broken.expected, came: broken.came, rule: Some(broken.rule.to_owned()) }
    }
}

impl From<Unfilled> for Problem {
    fn from(unfilled: Unfilled) -> Self {
        Self::said("a step whose templates can be filled", unfilled.to_string())
    }
}
