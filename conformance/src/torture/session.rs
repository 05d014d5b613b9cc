//! A client's time with one daemon: coming back to it, working with it, and whatever arrives meanwhile.

use std::{
    collections::{HashMap, HashSet},
    io,
    path::Path,
    time::Duration,
};

use rand::Rng;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::{
    client::Client,
    memory::{Followed, Operation},
    wire::Wire,
    work::tools,
};

/// How long any answer of the daemon may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Requests of one client that are under way at once.
const AT_ONCE: usize = 4;
/// Acknowledged requests that are sent once more after each start.
const ASKED_ONCE_MORE: usize = 2;

/// A connection and what belongs to it.
pub(super) struct Session<'a> {
    pub(super) client: &'a mut Client,
    pub(super) wire: Wire,
    life: u32,
    /// Requests under way: by their id on this connection, the number of the operation.
    waiting: HashMap<i64, u64>,
    /// When which interaction is answered.
    pub(super) due: Vec<(Instant, String)>,
    /// Interactions that must be offered on this connection, or be over, by then.
    pub(super) must_be_offered: HashMap<String, Instant>,
    /// Interactions that were.
    pub(super) offered: HashSet<String>,
    /// Threads that were started and are not followed yet.
    unfollowed: Vec<String>,
    next_request: Instant,
}

impl<'a> Session<'a> {
    /// A connection that has shaken hands.
    pub(super) async fn open(client: &'a mut Client, socket: &Path, life: u32) -> io::Result<Self> {
        let wire = Wire::connect(socket).await?;
        let handshake = json!({
            "protocol": {"min": 1, "max": 1},
            "client": {"name": client.name, "version": "0", "instanceId": client.instance},
            "capabilities": {"approvals": true, "input": true},
            "optOut": ["data/changed"],
        });
        for offered in client.memory.offers.values_mut() {
            offered.request = None;
            offered.is_sent = false;
        }
        let mut session = Self {
            client,
            wire,
            life,
            waiting: HashMap::new(),
            due: Vec::new(),
            must_be_offered: HashMap::new(),
            offered: HashSet::new(),
            unfollowed: Vec::new(),
            next_request: Instant::now(),
        };
        session.ask("initialize", handshake).await?;
        Ok(session)
    }

    /// What a client does that comes back: it resumes its threads where it was, asks again what was not answered, and
    /// looks whether everything it was told is still so.
    pub(super) async fn come_back(&mut self, is_last: bool) -> io::Result<()> {
        for thread in self.threads(is_last) {
            self.resume(&thread).await?;
        }
        let open: Vec<u64> = self.client.memory.unanswered.keys().copied().collect();
        for number in open {
            self.client.shared.tally.report().repeated += 1;
            self.put(number).await?;
        }
        self.ask_once_more().await?;
        if let Some(own) = self.client.memory.current.clone() {
            self.check_log(&own).await?;
            self.note_open(&own).await?;
        }
        self.client.is_back_again();
        Ok(())
    }

    /// Asks, answers and reads until the daemon is gone; with the last one, until nothing is left to wait for.
    pub(super) async fn work(&mut self, is_last: bool) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if is_last && self.is_quiet() && self.has_seen_all().await? && self.is_quiet() {
                return self.finish().await;
            }
            if is_last && Instant::now() > deadline {
                self.client.violation(format!("something is stuck: {}", self.stuck()));
                return Ok(());
            }
            let due = self.due.iter().map(|(at, _)| *at).chain([self.next_request]).min();
            tokio::select! {
                line = self.wire.next() => self.take(line?),
                () = sleep_until(due.unwrap_or(deadline)) => self.act(is_last).await?,
            }
        }
    }

    /// Sends a request and reads up to its answer, which is returned whole.
    pub(super) async fn ask(&mut self, method: &str, params: Value) -> io::Result<Value> {
        let id = self.wire.request(method, &params).await?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let line = timeout_at(deadline, self.wire.next()).await;
            let line = line.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, method.to_owned()))??;
            if line["id"] == id && line.get("method").is_none() {
                return Ok(line);
            }
            self.take(line);
        }
    }

    /// The same; an error of the daemon is a broken promise.
    pub(super) async fn call(&mut self, method: &str, params: Value) -> io::Result<Value> {
        let mut answer = self.ask(method, params.clone()).await?;
        if answer.get("error").is_some() {
            self.client.violation(format!("{method} {params} was refused: {}", answer["error"]));
        }
        Ok(answer["result"].take())
    }

    /// Makes a request under an operation id.
    pub(super) async fn make(&mut self, operation: Operation) -> io::Result<()> {
        let number = self.client.chooser.number;
        self.client.memory.unanswered.insert(number, operation);
        self.put(number).await
    }

    async fn put(&mut self, number: u64) -> io::Result<()> {
        let Some(operation) = self.client.memory.unanswered.get(&number) else { return Ok(()) };
        let (method, params) = (operation.method, operation.params.clone());
        let id = self.wire.request(method, &params).await?;
        self.waiting.insert(id, number);
        Ok(())
    }

    /// A line of the daemon, whatever it is.
    fn take(&mut self, line: Value) {
        match line["method"].as_str() {
            Some("thread/event") => self.event(&line["params"]),
            Some("tool/call" | "approval/request" | "input/request") => self.offer(line),
            Some("interaction/settled") => self.over(&line["params"]["interactionId"]),
            Some("interaction/invalidAnswer") => self.client.violation(format!("a good answer was refused: {line}")),
            Some(_) => {}
            None => {
                let number = line["id"].as_i64().and_then(|id| self.waiting.remove(&id));
                let operation = number.and_then(|number| self.client.memory.unanswered.remove(&number));
                match operation {
                    Some(operation) => self.answered(operation, line),
                    None => self.client.violation(format!("an answer to nothing that was asked: {line}")),
                }
            }
        }
    }

    fn event(&mut self, params: &Value) {
        if params.get("seq").is_none() {
            return;
        }
        let thread = params["threadId"].as_str().unwrap_or_default();
        let Some(followed) = self.client.memory.threads.get_mut(thread) else {
            return self.client.violation(format!("an event of a thread that is not followed: {params}"));
        };
        let wrong = followed.pushed(params).err();
        self.client.shared.tally.report().events += 1;
        if let Some(wrong) = wrong {
            self.client.violation(format!("thread {thread}: {wrong}"));
        }
        if params["event"]["type"] == "interactionSettled" {
            self.over(&params["event"]["interactionId"]);
        }
    }

    fn over(&mut self, interaction_id: &Value) {
        let interaction_id = interaction_id.as_str().unwrap_or_default();
        self.must_be_offered.remove(interaction_id);
        self.client.memory.settled.insert(interaction_id.to_owned());
    }

    /// The threads a client follows: its own of the moment, and its neighbour's, whose approvals it sees too. At the end
    /// also those that it had turned away from.
    fn threads(&self, is_last: bool) -> Vec<String> {
        let memory = &self.client.memory;
        let mut threads: Vec<String> = memory.current.iter().cloned().collect();
        if is_last {
            let own = memory.threads.iter().filter(|(id, thread)| thread.is_own && !threads.contains(id));
            let older: Vec<_> = own.map(|(id, _)| id.clone()).collect();
            threads.extend(older);
        } else {
            threads.extend(self.client.shared.neighbour_of(self.client.number));
        }
        threads
    }

    /// Resumes a thread after the last event that was seen of it, and follows it from there.
    async fn resume(&mut self, thread: &str) -> io::Result<()> {
        let life = self.life;
        let threads = &mut self.client.memory.threads;
        let followed = threads.entry(thread.to_owned()).or_insert_with(|| Followed::new(false, life));
        let mut params = json!({"threadId": thread, "after": followed.seq});
        // The same declarations again change nothing, and none keep what there is.
        if followed.is_own && self.client.random.random_bool(0.5) {
            params["tools"] = tools();
        }
        let resumed = self.call("thread/resume", params).await?;
        let known = self.client.memory.threads.get(thread).map_or(0, |followed| followed.seq);
        if resumed["seq"].as_u64() < Some(known) {
            self.client.violation(format!("thread {thread} ends at {} and had event {known}", resumed["seq"]));
        }
        Ok(())
    }

    /// What was acknowledged is answered from the journal when it is asked once more, with the same words.
    async fn ask_once_more(&mut self) -> io::Result<()> {
        for _ in 0..ASKED_ONCE_MORE {
            let answered = &self.client.memory.answered;
            if answered.is_empty() {
                return Ok(());
            }
            let at = self.client.random.random_range(0..answered.len());
            let (operation, mut before) = answered[at].clone();
            let mut again = self.call(operation.method, operation.params.clone()).await?;
            {
                let mut report = self.client.shared.tally.report();
                report.repeated += 1;
                report.replayed += u64::from(again["replayed"] == true);
            }
            if again["replayed"] != true {
                self.client.violation(format!("{} was done twice under {}", operation.method, operation.id));
            }
            again["replayed"] = json!(false);
            before["replayed"] = json!(false);
            if again != before {
                self.client.violation(format!("{}: {before} is answered as {again}", operation.method));
            }
        }
        Ok(())
    }

    /// Does what is due: answers, and asks for the next thing.
    pub(super) async fn act(&mut self, is_last: bool) -> io::Result<()> {
        let now = Instant::now();
        let due: Vec<String> = self.due.iter().filter(|(at, _)| *at <= now).map(|(_, id)| id.clone()).collect();
        self.due.retain(|(at, _)| *at > now);
        for interaction_id in due {
            self.answer(&interaction_id).await?;
        }
        while let Some(thread) = self.unfollowed.pop() {
            self.resume(&thread).await?;
        }
        let late: Vec<_> = self.must_be_offered.extract_if(|_, by| *by < now).map(|(id, _)| id).collect();
        for interaction_id in late {
            self.client.violation(format!("{interaction_id} is open and was not offered again"));
        }
        if now < self.next_request {
            return Ok(());
        }
        self.next_request = now + Duration::from_millis(self.client.random.random_range(1..20));
        let client = &mut *self.client;
        if client.memory.unanswered.len() >= AT_ONCE {
            return Ok(());
        }
        let operation = if is_last {
            let held = client.memory.threads.iter().filter(|(_, thread)| thread.is_own);
            held.filter_map(|(id, thread)| client.chooser.release(id, thread)).next()
        } else {
            client.chooser.next(&client.memory, self.life, &mut client.random)
        };
        match operation {
            Some(operation) => self.make(operation).await,
            None => Ok(()),
        }
    }

    /// A thread was started: it is this client's own, and the one it works on.
    pub(super) fn started(&mut self, thread: &str) {
        self.client.memory.threads.insert(thread.to_owned(), Followed::new(true, self.life));
        self.client.memory.current = Some(thread.to_owned());
        self.client.shared.works_on(self.client.number, thread);
        self.unfollowed.push(thread.to_owned());
    }

    fn is_quiet(&self) -> bool {
        let memory = &self.client.memory;
        let all_quiet = memory.threads.values().filter(|thread| thread.is_own).all(Followed::is_quiet);
        memory.unanswered.is_empty() && self.unfollowed.is_empty() && self.due.is_empty() && all_quiet
    }

    /// Whether every event of its threads has reached this client.
    async fn has_seen_all(&mut self) -> io::Result<bool> {
        for thread in self.threads(true) {
            let read = self.call("thread/read", json!({"threadId": thread})).await?;
            let seen = self.client.memory.threads.get(&thread).map(|followed| followed.seq);
            if read["thread"]["seq"].as_u64() != seen {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn stuck(&self) -> String {
        let memory = &self.client.memory;
        let own = memory.threads.iter().filter(|(_, thread)| thread.is_own && !thread.is_quiet());
        let threads: Vec<_> =
            own.map(|(id, thread)| json!([id, thread.active.len(), thread.queue.len(), thread.held])).collect();
        let requests: Vec<_> = memory.unanswered.values().map(|operation| operation.method).collect();
        json!({"threads": threads, "requests": requests, "due": self.due.len()}).to_string()
    }
}
