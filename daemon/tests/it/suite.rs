//! Every scenario of the conformance suite, over a pipe with a clock that stands still, and over a real socket.

use std::sync::Arc;

use futures::future::BoxFuture;
use ropewalk_conformance::suite::{Fresh, Stream, Subject, find};
use ropewalk_daemon::{
    server::{Environment, Home, Places},
    start::{Config, Running, SecretChoice, start},
};
use tempfile::TempDir;
use tokio::net::UnixStream;

use crate::support::Piped;

mod over_a_pipe {
    ropewalk_conformance::suite_tests!(all, crate::suite::over_a_pipe);
}

mod over_a_socket {
    ropewalk_conformance::suite_tests!(wire, crate::suite::over_a_socket);
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
    play(topic, name, Arc::new(Piped::new().await)).await;
}

async fn over_a_socket(topic: &str, name: &str) {
    let home = TempDir::new().unwrap();
    // The daemon makes its directory itself, so that it is private.
    let places = Places { home: Some(home.path().join("home")), socket: None };
    let resolved = Home::resolve(&places, &Environment::default()).unwrap();
    let running = start(Config {
        home: resolved,
        secret_store: SecretChoice::File,
        idle_exit_ms: None,
        children: Default::default(),
    })
    .await
    .unwrap();
    play(topic, name, Arc::new(Listening { running, home })).await;
}

async fn play(topic: &str, name: &str, subject: Fresh) {
    find(topic, name).unwrap().run(subject).await;
}
