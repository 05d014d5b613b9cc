//! Every scenario of the conformance suite, over a pipe with a clock that stands still, and over a real socket.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use ropewalk_conformance::suite::{Fresh, Stream, Subject, find};
use ropewalk_daemon::{
    clock::{Ids, ManualClock},
    daemon::Parts,
    embed::{Embedded, embed_parts},
    models::Models,
    secrets::MemorySecrets,
    server::{Environment, Home, Places},
    start::{Config, Running, start},
    store::MemoryStore,
};
use ropewalk_protocol::Timestamp;
use tempfile::TempDir;
use tokio::net::UnixStream;

/// 2026-11-30T10:00:00Z, as in the transcripts.
const BEGINNING_MS: i64 = 1_796_032_800_000;

mod over_a_pipe {
    ropewalk_conformance::suite_tests!(all, crate::suite::over_a_pipe);
}

mod over_a_socket {
    ropewalk_conformance::suite_tests!(wire, crate::suite::over_a_socket);
}

/// A daemon in memory whose clock stands still.
struct Piped {
    daemon: Embedded,
    clock: ManualClock,
}

impl Subject for Piped {
    fn open(&self) -> BoxFuture<'_, Stream> {
        let pipe: Stream = Box::new(self.daemon.pipe());
        Box::pin(std::future::ready(pipe))
    }

    fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}

/// A daemon as `ropewalk daemon` starts it, on a home of its own.
struct Listening {
    running: Running,
    home: TempDir,
}

impl Subject for Listening {
    fn open(&self) -> BoxFuture<'_, Stream> {
        let socket = self.home.path().join("home/daemon.sock");
        Box::pin(async move {
            let stream: Stream = Box::new(UnixStream::connect(socket).await.unwrap());
            stream
        })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.running.daemon().stop(0);
    }
}

async fn over_a_pipe(topic: &str, name: &str) {
    let clock = ManualClock::new(Timestamp::from_millis(BEGINNING_MS));
    let seam: Arc<dyn ropewalk_daemon::clock::Clock> = Arc::new(clock.clone());
    let parts = Parts {
        store: Arc::new(MemoryStore::new()),
        secrets: Arc::new(MemorySecrets::new()),
        ids: Arc::new(Ids::new(Timestamp::from_millis(BEGINNING_MS))),
        models: Arc::new(Models::new(seam.clone())),
        clock: seam,
    };
    let daemon = embed_parts(parts).await.unwrap();
    play(topic, name, Arc::new(Piped { daemon, clock })).await;
}

async fn over_a_socket(topic: &str, name: &str) {
    let home = TempDir::new().unwrap();
    // The daemon makes its directory itself, so that it is private.
    let places = Places { home: Some(home.path().join("home")), socket: None };
    let resolved = Home::resolve(&places, &Environment::default()).unwrap();
    let running = start(Config { home: resolved, idle_exit_ms: None }).await.unwrap();
    play(topic, name, Arc::new(Listening { running, home })).await;
}

async fn play(topic: &str, name: &str, subject: Fresh) {
    find(topic, name).unwrap().run(subject).await;
}
