//! What the daemon has promised by answering, so that it can be held to it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::log::{ThreadLog, text};

/// What the daemon has promised, and all that is known of its logs.
#[derive(Default)]
pub(crate) struct Book {
    pub(crate) logs: BTreeMap<String, ThreadLog>,
    /// Operations that were asked for, in order.
    pub(crate) operations: Vec<Operation>,
    /// Threads that were begun, and the revision that each had at least.
    pub(crate) threads: BTreeMap<String, u64>,
    /// Messages that were taken, and their thread.
    messages: BTreeSet<(String, String)>,
    /// Runs that go on after a bad end, and their thread.
    recovered: BTreeSet<(String, String)>,
    /// Branches that were deleted, and their thread.
    branches_gone: BTreeSet<(String, String)>,
    /// Projects that were made and not deleted.
    pub(crate) projects: BTreeSet<String>,
    /// The project of each thread.
    project_of: BTreeMap<String, String>,
    /// Threads and projects somebody has tried to delete: they may be gone.
    doomed: BTreeSet<String>,
    /// Threads and projects that are gone for ever.
    pub(crate) gone: BTreeSet<String>,
    /// What each interaction is about: its thread.
    pub(crate) thread_of: BTreeMap<String, String>,
    /// The thread or project of each rule that has one.
    owner_of: BTreeMap<String, String>,
    /// Interactions whose settlement was acknowledged.
    settled: BTreeSet<String>,
    /// How far each log is at least.
    seqs: BTreeMap<String, u64>,
    /// Rules that were set, and the revision that each had at least.
    pub(crate) rules: BTreeMap<String, u64>,
    /// Rules somebody has tried to take back, and those that were.
    pub(crate) rules_asked_back: BTreeSet<String>,
    rules_taken_back: BTreeSet<String>,
}

/// An operation that was asked for.
#[derive(Clone)]
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) params: Value,
    /// What it was answered, `replayed` left out.
    pub(crate) result: Option<Value>,
    /// Whether an answer has said that it was done just then.
    was_new: bool,
}

/// Refusals that say nothing about an operation that was done before.
const PASSING: [&str; 4] = ["shuttingDown", "unavailable", "overloaded", "cancelled"];

impl Book {
    /// The log of a thread.
    pub(crate) fn log(&mut self, thread: &str) -> &mut ThreadLog {
        self.logs.entry(thread.to_owned()).or_default()
    }

    /// Somebody asks for an operation.
    pub(crate) fn asks(&mut self, method: &str, params: &Value) {
        if method == "policy/remove" {
            self.rules_asked_back.insert(text(&params["policyId"]));
        }
        if matches!(method, "thread/delete" | "project/delete") && !is_rehearsal(params) {
            self.doomed.extend(subject(params));
        }
        let Some(id) = params["operationId"].as_str().filter(|_| !is_rehearsal(params)) else { return };
        if !self.operations.iter().any(|operation| operation.id == id) {
            let (id, method, params) = (id.to_owned(), method.to_owned(), params.clone());
            self.operations.push(Operation { id, method, params, result: None, was_new: false });
        }
    }

    /// A request has been answered.
    pub(crate) fn answered(&mut self, method: &str, params: &Value, result: &Value) {
        if params["wait"] != true {
            self.repeated(method, params, result);
        }
        let thread = || text(&params["threadId"]);
        match method {
            "thread/start" | "thread/update" | "thread/archive" => {
                let (id, revision) = (text(&result["thread"]["threadId"]), result["thread"]["revision"].as_u64());
                self.project_of.insert(id.clone(), text(&result["thread"]["projectId"]));
                if !self.gone.contains(&id) {
                    let known = self.threads.entry(id).or_default();
                    *known = revision.unwrap_or(0).max(*known);
                }
            }
            "project/create" => {
                let id = text(&result["project"]["projectId"]);
                if !self.gone.contains(&id) {
                    self.projects.insert(id);
                }
            }
            "thread/delete" | "project/delete" if result["applied"] == true => {
                self.goes(&subject(params).expect("what was deleted"));
            }
            "run/submit" => {
                self.messages.insert((thread(), text(&result["messageId"])));
            }
            "run/retry" | "run/resume" | "run/rebase" => {
                self.recovered.insert((thread(), text(&result["run"]["runId"])));
            }
            "branch/delete" if result["applied"] == true => {
                self.branches_gone.insert((thread(), text(&params["branchId"])));
            }
            "interaction/settle" => self.settled(&text(&params["interactionId"])),
            "policy/set" => {
                let (id, revision) = (text(&result["policy"]["policyId"]), result["policy"]["revision"].as_u64());
                if let Some(owner) = subject(&result["policy"]) {
                    self.owner_of.insert(id.clone(), owner);
                }
                let known = self.rules.entry(id).or_default();
                *known = revision.unwrap_or(0).max(*known);
            }
            "policy/remove" => {
                self.rules_taken_back.insert(text(&params["policyId"]));
            }
            _ => {}
        }
        if matches!(method, "thread/start" | "thread/resume" | "run/stop")
            && let Some(seq) = result["seq"].as_u64()
        {
            let thread = params["threadId"].as_str().or(result["thread"]["threadId"].as_str()).unwrap();
            let known = self.seqs.entry(thread.to_owned()).or_default();
            *known = seq.max(*known);
        }
    }

    /// Whether a thread or project may be gone.
    pub(crate) fn is_doomed(&self, id: &str) -> bool {
        self.doomed.contains(id) || self.project_of.get(id).is_some_and(|project| self.doomed.contains(project))
    }

    /// Whether what a request is about may be gone.
    pub(crate) fn is_of_the_doomed(&self, params: &Value) -> bool {
        let asked_of = params["interactionId"].as_str().and_then(|id| self.thread_of.get(id).cloned());
        subject(params).or(asked_of).is_some_and(|id| self.is_doomed(&id))
    }

    /// Whether an operation may be forgotten with the thread it was about.
    pub(crate) fn is_forgotten(&self, operation: &Operation) -> bool {
        let started = operation.result.as_ref().and_then(|result| subject(&result["thread"]));
        self.is_of_the_doomed(&operation.params) || started.is_some_and(|id| self.is_doomed(&id))
    }

    /// A thread or a project is gone, a project with its threads.
    pub(crate) fn goes(&mut self, id: &str) {
        let threads = self.project_of.iter().filter(|(_, project)| *project == id).map(|(thread, _)| thread.clone());
        let going: Vec<String> = threads.chain([id.to_owned()]).collect();
        for id in going {
            self.threads.remove(&id);
            self.projects.remove(&id);
            self.gone.insert(id);
        }
    }

    /// The daemon has said that an interaction is settled.
    pub(crate) fn settled(&mut self, interaction: &str) {
        self.settled.insert(interaction.to_owned());
    }

    /// Whether a refusal of this kind says nothing about an operation that was done before.
    pub(crate) fn is_passing(kind: &str) -> bool {
        PASSING.contains(&kind)
    }

    /// Whether this very request is known to have been done.
    pub(crate) fn is_done(&self, method: &str, params: &Value) -> bool {
        let Some(id) = params["operationId"].as_str() else { return false };
        let known = self.operations.iter().find(|operation| operation.id == id);
        known.is_some_and(|known| known.result.is_some() && known.method == method && known.params == *params)
    }

    fn repeated(&mut self, method: &str, params: &Value, result: &Value) {
        let Some(id) = params["operationId"].as_str() else { return };
        if is_rehearsal(params) {
            // Every one is new.
            return assert_eq!(result["replayed"], false, "{method} {params}");
        }
        let mut plain = result.clone();
        if let Some(fields) = plain.as_object_mut() {
            fields.remove("replayed");
        }
        let at = self.operations.iter().position(|operation| operation.id == id).expect("it was asked for");
        let is_forgotten = method == "thread/start" && self.is_forgotten(&self.operations[at]);
        let known = &mut self.operations[at];
        if is_forgotten && known.result.as_ref() != Some(&plain) {
            (known.result, known.was_new) = (None, false);
        }
        assert!(known.method == method && known.params == *params, "an id belongs to one request: {method} {params}");
        let is_new = result["replayed"] != true;
        assert!(!(is_new && known.was_new), "an operation is done once: {method} {params}");
        known.was_new |= is_new;
        let first = known.result.get_or_insert_with(|| plain.clone());
        assert_eq!(*first, plain, "a repeat is answered as the first one was: {method} {params}");
    }

    /// Everything promised of threads is in the logs, which are known to their ends.
    pub(crate) fn check_logs(&self) {
        let is_there = |thread: &String| !self.gone.contains(thread);
        for (thread, message) in self.messages.iter().filter(|(thread, _)| is_there(thread)) {
            let there = self.logs.get(thread).is_some_and(|log| log.messages.contains(message));
            assert!(there, "message {message} was acknowledged and is not in the log of {thread}");
        }
        for (thread, run) in self.recovered.iter().filter(|(thread, _)| is_there(thread)) {
            let there = self.logs.get(thread).is_some_and(|log| log.has_run(run));
            assert!(there, "run {run} was said to go on and is not in the log of {thread}");
        }
        for (thread, branch) in self.branches_gone.iter().filter(|(thread, _)| is_there(thread)) {
            let there = self.logs.get(thread).is_some_and(|log| log.branches.contains(branch));
            assert!(!there, "branch {branch} of {thread} was deleted, and is there");
        }
        let is_of_the_gone = |id: &String| self.thread_of.get(id).is_some_and(|thread| !is_there(thread));
        for interaction in self.settled.iter().filter(|id| !is_of_the_gone(id)) {
            let there = self.logs.values().any(|log| log.settled.contains(interaction));
            assert!(there, "interaction {interaction} was said to be settled, and no log says so");
        }
        for (thread, seq) in self.seqs.iter().filter(|(thread, _)| is_there(thread)) {
            let end = self.logs.get(thread).map_or(0, ThreadLog::end);
            assert!(end >= *seq, "the log of {thread} ends at {end}, and {seq} was acknowledged");
        }
    }

    /// The rules that are there are those that were promised.
    pub(crate) fn check_rules(&self, there: &[Value]) {
        let revisions: BTreeMap<String, u64> =
            there.iter().map(|rule| (text(&rule["policyId"]), rule["revision"].as_u64().unwrap())).collect();
        for (id, revision) in &self.rules {
            let found = revisions.get(id).copied();
            let is_kept = found.is_some_and(|found| found >= *revision);
            let is_doomed = self.owner_of.get(id).is_some_and(|owner| self.is_doomed(owner));
            assert!(
                is_kept || is_doomed || self.rules_asked_back.contains(id),
                "rule {id} was set ({revision}): {found:?}"
            );
        }
        let back = self.rules_taken_back.iter().find(|id| revisions.contains_key(*id));
        assert!(back.is_none(), "rule {back:?} was taken back");
        let of_the_gone = there.iter().find(|rule| subject(rule).is_some_and(|owner| self.gone.contains(&owner)));
        assert!(of_the_gone.is_none(), "{of_the_gone:?} is a rule of something that was deleted");
    }
}

/// The thread or the project that something is about.
fn subject(params: &Value) -> Option<String> {
    params["threadId"].as_str().or(params["projectId"].as_str()).map(str::to_owned)
}

/// Whether a request only asks what would happen: it does nothing and uses up no id.
fn is_rehearsal(params: &Value) -> bool {
    params["dryRun"] == true
}
