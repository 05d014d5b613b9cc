//! The rows about tools of processes, tried on a daemon that starts some: file tools, and servers of an owner's own.

use std::fs;

use ropewalk_conformance::DaemonProcess;
use serde_json::{Value, json};

use super::{Ground, call_outcome};
use crate::{
    process::{Place, write_server},
    support::{Raw, Stream},
};

/// A daemon as a process, with two directories beside its home.
pub(super) struct Real {
    place: Place,
    daemon: DaemonProcess,
}

impl Ground for Real {
    async fn new() -> Self {
        let place = Place::new();
        let daemon = place.daemon().await;
        let real = Self { place, daemon };
        for directory in ["granted", "other"] {
            fs::create_dir(real.at(directory)).unwrap();
            fs::write(format!("{}/note.txt", real.at(directory)), "noted").unwrap();
        }
        real
    }
}

impl Real {
    fn at(&self, name: &str) -> String {
        self.place.directory.path().canonicalize().unwrap().join(name).display().to_string()
    }

    async fn bot(&self) -> Raw {
        let stream: Stream = Box::new(self.daemon.connect().await.unwrap());
        Raw::greeted(stream, "bot", "in-A").await
    }

    /// The outcome of a call of a file tool, where `granted/` has these capabilities.
    async fn files(&self, capabilities: &[&str], tool: &str, arguments: Value) -> String {
        let mut bot = self.bot().await;
        let thread = bot.start(&[]).await;
        if !capabilities.is_empty() {
            let project = bot.project_of(&thread).await;
            let grant = json!({"projectId": project, "path": self.at("granted"), "capabilities": capabilities});
            bot.call("grant/add", grant).await;
        }
        call_outcome(&mut bot, &thread, &format!("mcp_files__{tool} {arguments}")).await
    }

    async fn write(&self, capabilities: &[&str]) -> String {
        let arguments = json!({"path": self.at("granted/note.txt"), "content": "mine"});
        let outcome = self.files(capabilities, "write_file", arguments).await;
        let now = fs::read_to_string(self.at("granted/note.txt")).unwrap();
        assert_eq!(now == "mine", outcome == "allowed", "{now}");
        outcome
    }

    /// The outcome of a call of a server's tool, after a review in which it was trusted or not, if there was one.
    async fn server(&self, trusted: Option<bool>, tool: &str) -> String {
        let mut bot = self.bot().await;
        let path = write_server(&self.place, &json!({"type": "object"}), "Adds a note.");
        let add = json!({"command": "node", "args": [path], "name": "Notes"});
        let server = bot.call("mcp/server/add", add).await["server"]["serverId"].clone();
        if let Some(trusted) = trusted {
            let digest = bot.call("mcp/review/read", json!({"serverId": server})).await["review"]["digest"].clone();
            let tools = ["list_notes", "add_note"];
            let review = json!({"serverId": server, "digest": digest, "tools": tools, "trusted": trusted});
            bot.call("mcp/review/submit", review).await;
        }
        let thread = bot.start(&[]).await;
        call_outcome(&mut bot, &thread, tool).await
    }
}

const READS: &str = "mcp_notes_listNotes {}";
const WRITES: &str = "mcp_notes_addNote {\"text\":\"a\"}";

pub(super) async fn agent_files_ungranted(real: Real) -> String {
    real.files(&[], "read_file", json!({"path": real.at("granted/note.txt")})).await
}

pub(super) async fn agent_files_read(real: Real) -> String {
    real.files(&["read"], "read_file", json!({"path": real.at("granted/note.txt")})).await
}

pub(super) async fn agent_files_write(real: Real) -> String {
    real.write(&["read", "write"]).await
}

pub(super) async fn agent_files_unwritable(real: Real) -> String {
    real.write(&["read"]).await
}

pub(super) async fn agent_files_outside(real: Real) -> String {
    real.files(&["read"], "read_file", json!({"path": real.at("other/note.txt")})).await
}

pub(super) async fn agent_unreviewed(real: Real) -> String {
    real.server(None, READS).await
}

pub(super) async fn agent_trusted_reads(real: Real) -> String {
    real.server(Some(true), READS).await
}

pub(super) async fn agent_trusted_writes(real: Real) -> String {
    real.server(Some(true), WRITES).await
}

/// Whatever such a server says of its tools, a person is asked.
pub(super) async fn agent_untrusted(real: Real) -> String {
    let outcome = real.server(Some(false), WRITES).await;
    assert_eq!(outcome, real.server(Some(false), READS).await);
    outcome
}
