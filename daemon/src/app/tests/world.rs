//! A small daemon of documents, and a stock client of its App tools.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt as _, pending, ready};
use rmcp::{
    RoleClient, ServiceExt as _,
    model::{CallToolRequestParams, CallToolResult},
    service::RunningService,
};
use ropewalk_protocol::{
    BranchId, Endpoint, Instructions, MemoryEntry, Message, NavigateParams, Policy, PolicyId, Project, ProjectId,
    RpcError, Run, Server, Settings, Thread, ThreadId, ThreadSearchParams, Unattended,
};
use serde_json::{Value, json};

use crate::{
    app::{AppServer, Asked, Chain, Hits, Reader, Setting, Standing, Windows, Writer},
    tools::servers::Place,
};

/// How long a test waits for anything before it fails.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) const AT: &str = "2026-11-30T10:00:00Z";

/// Waits, but not for ever.
pub(super) async fn soon<T>(waited: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, waited).await.expect("what was waited for happens soon")
}

/// What there is to read, and what was shown.
#[derive(Default)]
pub(super) struct World {
    pub(super) projects: BTreeMap<ProjectId, Project>,
    pub(super) threads: BTreeMap<ThreadId, Thread>,
    /// The messages of branches, oldest first.
    pub(super) messages: BTreeMap<BranchId, Vec<Message>>,
    /// The runs of branches.
    pub(super) runs: BTreeMap<BranchId, Run>,
    /// What waits on branches.
    pub(super) queues: BTreeMap<BranchId, Vec<ropewalk_protocol::QueueEntry>>,
    pub(super) policies: Vec<Policy>,
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) servers: Vec<Server>,
    /// What a search finds, whatever it looks for.
    pub(super) found: Hits,
    /// What was searched for.
    pub(super) searched: Mutex<Vec<ThreadSearchParams>>,
    pub(super) entries: Vec<MemoryEntry>,
    pub(super) instructions: BTreeMap<ProjectId, Instructions>,
    pub(super) unattended: bool,
    pub(super) windows: u64,
    pub(super) shown: Mutex<Vec<NavigateParams>>,
    /// What was asked for, in order, and what is answered to it.
    pub(super) asked: Mutex<Vec<Asked>>,
    pub(super) answers: Mutex<VecDeque<Result<Value, RpcError>>>,
}

/// Reading this thread panics, and reading the other one never ends.
pub(super) const BROKEN: &str = "t-broken";
pub(super) const ENDLESS: &str = "t-endless";

impl World {
    /// Two projects; a thread with two branches in the first, one in the second.
    pub(super) fn new() -> Self {
        let mut world = Self { windows: 1, ..Self::default() };
        world.add_project("p1");
        world.add_project("p2");
        world.add_thread("p1", "t1", &["t1", "b2"]);
        world.add_thread("p2", "t2", &["t2"]);
        world
    }

    pub(super) fn add_project(&mut self, id: &str) {
        let project = json!({
            "projectId": id, "name": format!("Project {id}"), "isDefault": id == "p1", "servers": [], "createdAt": AT,
            "updatedAt": AT, "revision": 1,
        });
        self.projects.insert(id.into(), serde_json::from_value(project).unwrap());
        let told = json!({"projectId": id, "text": "", "includeWorkspaceFiles": true, "sources": [], "revision": 1});
        self.instructions.insert(id.into(), serde_json::from_value(told).unwrap());
    }

    pub(super) fn add_thread(&mut self, project: &str, id: &str, branches: &[&str]) {
        let branch = |branch: &&str| json!({"branchId": branch, "threadId": id, "queue": {"length": 0, "held": false}, "revision": 1});
        let thread = json!({
            "threadId": id, "projectId": project, "pinned": false, "archived": false, "unread": false,
            "origin": {"clientName": "bot"}, "seq": 1, "createdAt": AT, "updatedAt": AT, "revision": 1,
            "branches": branches.iter().map(branch).collect::<Vec<_>>(),
        });
        self.threads.insert(id.into(), serde_json::from_value(thread).unwrap());
    }

    pub(super) fn says(&mut self, thread: &str, branch: &str, text: &str) {
        let messages = self.messages.entry(branch.into()).or_default();
        let message = json!({
            "messageId": format!("m{}", messages.len()), "threadId": thread, "branchId": branch, "role": "user",
            "delivery": "turn", "content": [{"type": "text", "text": text}], "at": AT,
        });
        messages.push(serde_json::from_value(message).unwrap());
    }

    /// A client of the tools of a run that stands on branch `b2` of thread `t1`.
    pub(super) async fn client(self) -> Client {
        let world = Arc::new(self);
        let place = Place {
            project_id: "p1".into(),
            thread_id: "t1".into(),
            branch_id: "b2".into(),
            run_id: "r1".into(),
            unattended: Unattended::Decline,
        };
        let pipe = AppServer::new(place, world.clone(), world.clone(), world.clone()).begin();
        Client { running: soon(().serve(pipe)).await.unwrap(), world }
    }
}

impl Reader for World {
    fn projects(&self) -> Vec<Project> {
        self.projects.values().cloned().collect()
    }

    fn project(&self, project_id: &ProjectId) -> Result<Project, RpcError> {
        self.projects.get(project_id).cloned().ok_or_else(|| RpcError::not_found("project", project_id))
    }

    fn threads(&self, project_id: &ProjectId, after: Option<&ThreadId>, limit: usize) -> Result<Vec<Thread>, RpcError> {
        let beyond = self.threads.values().rev().filter(|thread| after.is_none_or(|after| thread.thread_id < *after));
        let here = beyond.filter(|thread| thread.project_id == *project_id).take(limit);
        Ok(here.map(|thread| Thread { branches: None, ..thread.clone() }).collect())
    }

    fn thread<'a>(&'a self, thread_id: &'a ThreadId) -> BoxFuture<'a, Result<Thread, RpcError>> {
        match thread_id.as_str() {
            BROKEN => panic!("this thread is broken"),
            ENDLESS => pending().boxed(),
            _ => {
                let thread = self.threads.get(thread_id).cloned();
                ready(thread.ok_or_else(|| RpcError::not_found("thread", thread_id))).boxed()
            }
        }
    }

    fn rule(&self, id: &PolicyId) -> Option<Policy> {
        self.policies.iter().find(|policy| policy.policy_id == *id).cloned()
    }

    fn policies(&self, thread_id: &ThreadId) -> Vec<Policy> {
        self.policies.iter().filter(|policy| policy.thread_id.as_ref() == Some(thread_id)).cloned().collect()
    }

    fn standing<'a>(
        &'a self,
        thread_id: &'a ThreadId,
        branch_id: Option<&'a BranchId>,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Standing>, RpcError>> {
        let Some(thread) = self.threads.get(thread_id) else {
            return ready(Err(RpcError::not_found("thread", thread_id))).boxed();
        };
        let branches = thread.branches.iter().flatten().filter(|branch| match branch_id {
            Some(id) => branch.branch_id == *id,
            None => after.is_none_or(|after| branch.branch_id.as_str() > after),
        });
        let mut found: Vec<Standing> = branches
            .map(|branch| Standing {
                branch: branch.clone(),
                entries: self.queues.get(&branch.branch_id).cloned().unwrap_or_default(),
                run: self.runs.get(&branch.branch_id).cloned(),
            })
            .collect();
        found.sort_by(|a, b| a.branch.branch_id.cmp(&b.branch.branch_id));
        found.truncate(limit);
        if let Some(id) = branch_id.filter(|_| found.is_empty()) {
            return ready(Err(RpcError::not_found("branch", id))).boxed();
        }
        ready(Ok(found)).boxed()
    }

    fn settings(&self) -> Vec<Setting> {
        let mut all = vec![Setting::Settings(Settings::default())];
        all.extend(self.servers.iter().cloned().map(Setting::Server));
        all.extend(self.policies.iter().filter(|policy| policy.thread_id.is_none()).cloned().map(Setting::Policy));
        all.extend(self.endpoints.iter().cloned().map(Setting::Endpoint));
        all
    }

    fn search(&self, params: ThreadSearchParams) -> BoxFuture<'_, Result<Hits, RpcError>> {
        self.searched.lock().unwrap().push(params);
        ready(Ok(self.found.clone())).boxed()
    }

    fn messages<'a>(
        &'a self,
        thread_id: &'a ThreadId,
        branch_id: &'a BranchId,
        from: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Chain, RpcError>> {
        let branches = self.threads.get(thread_id).and_then(|thread| thread.branches.clone()).unwrap_or_default();
        if !branches.iter().any(|branch| branch.branch_id == *branch_id) {
            return ready(Err(RpcError::not_found("branch", branch_id))).boxed();
        }
        let messages = self.messages.get(branch_id).cloned().unwrap_or_default();
        let left = from.map_or(messages.len(), |from| from.parse().unwrap());
        let rest = left.saturating_sub(limit);
        let messages = messages[rest..left].iter().rev().cloned().collect();
        ready(Ok(Chain { messages, next: (rest > 0).then(|| rest.to_string()) })).boxed()
    }
}

impl Writer for World {
    fn ask(&self, asked: Asked) -> BoxFuture<'_, Result<Value, RpcError>> {
        self.asked.lock().unwrap().push(asked.clone());
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or_else(|| Ok(json!({})));
        ready(answer).boxed()
    }
}

impl Windows for World {
    fn is_attended<'a>(&'a self, _: &'a ThreadId) -> BoxFuture<'a, bool> {
        ready(!self.unattended).boxed()
    }

    fn show(&self, what: &NavigateParams) -> u64 {
        if self.windows > 0 {
            self.shown.lock().unwrap().push(what.clone());
        }
        self.windows
    }
}

/// A stock client.
pub(super) struct Client {
    pub(super) running: RunningService<RoleClient, ()>,
    pub(super) world: Arc<World>,
}

impl Client {
    /// What a call brings, failed or not.
    pub(super) async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        let arguments = arguments.as_object().cloned().unwrap();
        let params = CallToolRequestParams::new(tool).with_arguments(arguments);
        soon(self.running.call_tool(params)).await.unwrap()
    }

    /// The page a read brings.
    pub(super) async fn page(&self, arguments: Value) -> Value {
        let result = self.call("app_read", arguments).await;
        assert_eq!(result.is_error, Some(false), "{result:?}");
        result.structured_content.expect("a read has structured content")
    }

    /// What a call that fails says.
    pub(super) async fn error(&self, tool: &'static str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{result:?}");
        assert_eq!(result.structured_content, None);
        serde_json::to_value(&result.content[0]).unwrap()["text"].as_str().unwrap().to_owned()
    }
}

/// The ids of a page's items.
pub(super) fn ids(page: &Value, name: &str) -> Vec<String> {
    page["items"].as_array().unwrap().iter().map(|item| item[name].as_str().unwrap().to_owned()).collect()
}
