//! The daemon that is measured.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{BenchArgs, wire::Wire};
use crate::{DaemonOptions, DaemonProcess, Signal, Usage};

/// The daemon that is measured.
pub(crate) struct Subject {
    pub(crate) socket: PathBuf,
    /// How to start more of the kind, unless it was there before.
    pub(crate) program: Option<PathBuf>,
    pid: u32,
    version: String,
    process: Option<DaemonProcess>,
}

impl Subject {
    /// The daemon that is asked for, started when it does not run yet.
    pub(crate) async fn find(args: &BenchArgs, dir: &Path) -> io::Result<Self> {
        if let Some(socket) = &args.socket {
            return Self::running(socket).await;
        }
        let program = match &args.daemon {
            Some(program) => program.clone(),
            None => std::env::current_exe()?.with_file_name("ropewalk"),
        };
        let options = DaemonOptions::new(&program, dir.join("home"));
        let process = DaemonProcess::start(&options).await.map_err(io::Error::other)?;
        let ready = process.ready();
        Ok(Self {
            socket: ready.socket.clone(),
            program: Some(program),
            pid: ready.pid,
            version: ready.version.clone(),
            process: Some(process),
        })
    }

    async fn running(socket: &Path) -> io::Result<Self> {
        let mut wire = Wire::connect(socket).await?;
        let client = json!({"name": "bench", "version": "0"});
        let hello = wire.call("initialize", json!({"protocol": {"min": 1, "max": 1}, "client": client})).await?;
        let pid = hello["daemon"]["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        let pid = pid.ok_or_else(|| io::Error::other("the daemon does not say its pid"))?;
        let version = hello["daemon"]["version"].as_str().unwrap_or_default().to_owned();
        Ok(Self { socket: socket.to_owned(), program: None, pid, version, process: None })
    }

    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    pub(crate) fn usage(&self) -> io::Result<Usage> {
        Usage::of(self.pid)
    }

    pub(crate) async fn connect(&self) -> io::Result<Wire> {
        Wire::greeted(&self.socket).await
    }

    /// Bytes in all logs.
    pub(crate) async fn log_bytes(&self) -> io::Result<u64> {
        let status = self.connect().await?.call("daemon/status", json!({})).await?;
        status["store"]["logBytes"].as_u64().ok_or_else(|| io::Error::other("daemon/status has no logBytes"))
    }

    pub(crate) async fn stop(mut self) -> io::Result<()> {
        let Some(process) = &mut self.process else { return Ok(()) };
        process.signal(Signal::Terminate)?;
        process.ended().await.map(drop)
    }
}

/// A new thread on the built-in model, followed by its connection if `subscribe` says so; its id.
pub(crate) async fn new_thread(wire: &mut Wire, subscribe: bool, more: Value) -> io::Result<String> {
    let mut params = json!({"subscribe": subscribe, "endpointId": "scripted"});
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    let started = wire.call("thread/start", params).await?;
    Ok(started["thread"]["threadId"].as_str().unwrap_or_default().to_owned())
}

/// The parameters of `run/submit`.
pub(crate) fn submit(thread: &str, text: &str) -> Value {
    json!({"threadId": thread, "input": [{"type": "text", "text": text}]})
}

/// A tool of the bench's own; the floor's answers are its results.
pub(crate) fn echo_tool() -> Value {
    json!({
        "name": "echo",
        "description": "Says that it is done.",
        "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        "annotations": {"readOnlyHint": true},
        "approval": "allow",
    })
}
