//! Many writers at once on the same project, thread and queue, through the methods that anybody has: no update is lost, nobody is
//! told of a conflict that there is not, and nobody waits for ever.

use serde_json::{Value, json};

use super::{Fresh, Raw, text};

scenarios! { $ contending
    wire:
        four_writers_change_one_project_thread_and_queue_a_thousand_times_and_lose_nothing;
    clock:;
}

/// Who writes: four clients, two of them under one name.
const WRITERS: [(&str, &str); 4] = [("one", "in-1"), ("two", "in-2"), ("other", "in-3"), ("other", "in-4")];

/// Changes in all; ten times as many where the tests may take long.
fn changes() -> usize {
    if std::env::var_os("SLOW").is_some() { 10_000 } else { 1_000 }
}

/// One writer: what it writes to, and how often it was told of a conflict.
struct Writer {
    raw: Raw,
    name: &'static str,
    project: Value,
    thread: Value,
    busy: Value,
    conflicts: usize,
    kept: Vec<String>,
}

/// A document with a number in it.
struct Counter {
    noun: &'static str,
    id: &'static str,
    field: &'static str,
}

const PROJECT: Counter = Counter { noun: "project", id: "projectId", field: "description" };
const THREAD: Counter = Counter { noun: "thread", id: "threadId", field: "title" };

impl Counter {
    fn number(&self, document: &Value) -> u64 {
        document[self.field].as_str().and_then(|text| text.parse().ok()).expect("a number was written")
    }
}

impl Writer {
    /// Adds one to a document, from the revision that was read on; after a conflict from the document that the conflict has.
    async fn add_one(&mut self, counter: &Counter) {
        let Counter { noun, id, field } = counter;
        let own = if *noun == "project" { &self.project } else { &self.thread }.clone();
        let mut document = self.raw.call(&format!("{noun}/read"), json!({*id: own})).await[noun].take();
        loop {
            let expected = document["revision"].clone();
            let next = (counter.number(&document) + 1).to_string();
            let update = json!({*id: own, *field: next, "expectedRevision": expected});
            let request = self.raw.request(&format!("{noun}/update"), update).await;
            let mut answer = self.raw.answer(request).await;
            if answer.get("error").is_none() {
                assert_eq!(answer["result"][noun][field], next, "{answer}");
                return;
            }
            let data = answer["error"]["data"].take();
            assert_eq!(data["kind"], "conflict", "{answer}");
            assert!(data["currentRevision"].as_u64() > expected.as_u64(), "a conflict that there is not: {data}");
            assert_eq!(data["current"]["revision"], data["currentRevision"], "{data}");
            self.conflicts += 1;
            document = data["current"].clone();
        }
    }

    /// Puts an input into the queue and rewords it; every second one is taken back.
    async fn queue(&mut self, n: usize) {
        let submit = json!({"threadId": self.busy, "input": text("say draft"), "endpointId": "scripted"});
        let message = self.raw.call("run/submit", submit).await["messageId"].clone();
        let wording = format!("say {} {n}", self.name);
        let update = json!({"threadId": self.busy, "messageId": message, "input": text(&wording)});
        let queue = self.raw.call("queue/update", update).await;
        let entries = queue["entries"].as_array().expect("a list");
        assert!(entries.iter().any(|entry| entry["messageId"] == message && entry["input"] == text(&wording)));
        if n.is_multiple_of(2) {
            self.raw.call("queue/remove", json!({"threadId": self.busy, "messageId": message})).await;
        } else {
            self.kept.push(wording);
        }
    }

    async fn write(mut self, times: usize) -> Self {
        for n in 0..times {
            match n % 10 {
                // A queue that grows is answered with whenever it changes.
                9 => self.queue(n / 10).await,
                even if even % 2 == 0 => self.add_one(&PROJECT).await,
                _ => self.add_one(&THREAD).await,
            }
        }
        self
    }
}

pub(super) async fn four_writers_change_one_project_thread_and_queue_a_thousand_times_and_lose_nothing(subject: Fresh) {
    let mut bot = subject.bot().await;
    let made = bot.call("project/create", json!({"name": "shared", "description": "0"})).await;
    let project = made["project"]["projectId"].clone();
    let started = bot.call("thread/start", json!({"projectId": project, "title": "0"})).await;
    let thread = started["thread"]["threadId"].clone();
    let busy = bot.start(&[]).await;
    let submit = json!({"threadId": busy, "input": text("sleep 600000"), "endpointId": "scripted"});
    bot.call("run/submit", submit).await;

    let times = changes() / WRITERS.len();
    let mut tasks = Vec::new();
    for (name, instance) in WRITERS {
        let raw = subject.client(name, instance).await;
        let (project, thread, busy) = (project.clone(), thread.clone(), busy.clone());
        let writer = Writer { raw, name: instance, project, thread, busy, conflicts: 0, kept: Vec::new() };
        tasks.push(tokio::spawn(writer.write(times)));
    }
    let (mut conflicts, mut kept) = (0, Vec::new());
    for task in tasks {
        let writer = task.await.expect("no writer fails");
        conflicts += writer.conflicts;
        kept.extend(writer.kept);
    }

    let counted = |matches: fn(usize) -> bool| (0..times).filter(|n| matches(n % 10)).count() * WRITERS.len();
    let project = bot.call("project/read", json!({"projectId": project})).await["project"].take();
    let thread = bot.call("thread/read", json!({"threadId": thread})).await["thread"].take();
    assert_eq!(PROJECT.number(&project), counted(|n| n != 9 && n % 2 == 0) as u64, "no update of the project is lost");
    assert_eq!(THREAD.number(&thread), counted(|n| n != 9 && n % 2 == 1) as u64, "no update of the thread is lost");
    let queue = bot.call("queue/list", json!({"threadId": busy})).await;
    let left = queue["entries"].as_array().expect("a list").iter();
    let mut left: Vec<String> = left.map(|entry| entry["input"][0]["text"].as_str().unwrap_or_default().to_owned()).collect();
    left.sort();
    kept.sort();
    assert_eq!(left, kept, "the queue has what was kept, each once, as it was worded last");
    assert!(conflicts > 0, "the writers met");
}
