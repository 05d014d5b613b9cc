//! What each command does with the SDK.

use std::{sync::Arc, time::Duration};

use ropewalk::{Approval, Client, Connect, EventStream, Questions, Ropewalk, Thread, Tools};
use serde_json::{Value, json};

use super::{
    super::commands::{Command, ConnectArgs, ToolSpec, Verb},
    Driver, events, failures, handlers,
    runs::{Followed, Wish},
    tools,
};

type Outcome = Result<Value, Value>;

impl Driver {
    /// Does what a command says and reports how that ended.
    pub(super) async fn obey(self: Arc<Self>, command: Command) {
        let Command { id, verb } = command;
        if let Some(outcome) = self.perform(&id, verb).await {
            self.reports.outcome(&id, outcome);
        }
    }

    /// How a command ended; none when a run's task reports it.
    async fn perform(self: &Arc<Self>, id: &str, verb: Verb) -> Option<Outcome> {
        Some(match verb {
            Verb::Connect(args) => self.connect(*args).await,
            Verb::Start { thread, title, tools } => self.start(thread, title, &tools).await,
            Verb::Resume { thread, thread_id, tools, after, takeover } => {
                self.resume(thread, thread_id, tools, after, takeover).await
            }
            Verb::Attach { thread, attached, tool } => self.attach(&thread, attached, &tool).await,
            Verb::Detach { attached } => match self.held().attached.remove(&attached) {
                Some(_) => Ok(json!({})),
                None => Err(unknown("attached tool", &attached)),
            },
            Verb::Run { thread, input } => self.run(&thread, input).await,
            Verb::Submit { thread, input, run } => self.submit(&thread, input, run).await,
            Verb::Result { run } => return self.ask(&run, Wish::Result(id.to_owned())),
            Verb::Iterate { run, break_after } => return self.ask(&run, Wish::Iterate(id.to_owned(), break_after)),
            Verb::Stop { run } => return self.ask(&run, Wish::Stop(id.to_owned())),
            Verb::Watch { thread, after, break_after } => self.watch(id, &thread, after, break_after).await,
            Verb::Call { method, params } => self.call(&method, params).await,
            Verb::Release { gate } => {
                self.gates.open(&gate);
                Ok(json!({}))
            }
            Verb::CloseThread { thread } => self.close_thread(&thread).await,
            Verb::Close {} => unreachable!("the loop that reads commands takes this one"),
        })
    }

    async fn connect(self: &Arc<Self>, args: ConnectArgs) -> Outcome {
        let mut connect = match self.fault {
            Some(fault) => fault.through(&args.socket),
            None => Ropewalk::connect().socket(&args.socket).start_on_demand(false),
        };
        connect = told(connect, &args);
        if let Some(acts) = args.approvals {
            let driver = Arc::clone(self);
            connect = connect
                .on_approval(move |approval: Approval| handlers::approve(Arc::clone(&driver), acts.clone(), approval));
        }
        if let Some(acts) = args.input {
            let driver = Arc::clone(self);
            connect = connect
                .on_input(move |questions: Questions| handlers::reply(Arc::clone(&driver), acts.clone(), questions));
        }
        if args.changes {
            let driver = Arc::clone(self);
            connect = connect.on_change(move |change| {
                driver.reports.send(&json!({"changed": {"kinds": change.kinds}}));
            });
        }
        let client = connect.await.map_err(|error| failures::failure(&error))?;
        self.held().client = Some(client);
        Ok(json!({}))
    }

    async fn start(self: &Arc<Self>, name: String, title: Option<String>, specs: &[ToolSpec]) -> Outcome {
        let mut start = self.client()?.threads().start().tools(self.tools(specs).iter().cloned());
        if let Some(title) = title {
            start = start.title(title);
        }
        self.keep(name, start.await)
    }

    async fn resume(
        self: &Arc<Self>,
        name: String,
        id: String,
        specs: Option<Vec<ToolSpec>>,
        after: Option<u64>,
        takeover: bool,
    ) -> Outcome {
        let mut resume = self.client()?.threads().resume(id);
        if let Some(specs) = specs {
            resume = resume.tools(self.tools(&specs).iter().cloned());
        }
        if let Some(after) = after {
            resume = resume.after(after);
        }
        if takeover {
            resume = resume.takeover();
        }
        self.keep(name, resume.await)
    }

    fn keep(&self, name: String, thread: Result<Thread, ropewalk::Error>) -> Outcome {
        let thread = thread.map_err(|error| failures::failure(&error))?;
        let id = thread.id().clone();
        self.held().threads.insert(name, thread);
        Ok(json!({"threadId": id}))
    }

    async fn attach(self: &Arc<Self>, thread: &str, name: String, spec: &ToolSpec) -> Outcome {
        let registration = self.thread(thread)?.attach(tools::tool(self, spec)).await;
        let registration = registration.map_err(|error| failures::failure(&error))?;
        self.held().attached.insert(name, registration);
        Ok(json!({}))
    }

    async fn run(&self, thread: &str, input: String) -> Outcome {
        let result = self.thread(thread)?.run(input).await;
        result.map(|result| events::of_result(&result)).map_err(|error| failures::failure(&error))
    }

    async fn submit(self: &Arc<Self>, thread: &str, input: String, name: String) -> Outcome {
        let run = self.thread(thread)?.run(input).submit().await.map_err(|error| failures::failure(&error))?;
        let id = run.id().clone();
        let followed = Followed::new(self, run);
        self.held().runs.insert(name, followed);
        Ok(json!({"runId": id}))
    }

    fn ask(&self, run: &str, wish: Wish) -> Option<Outcome> {
        let followed = self.held().runs.get(run).cloned();
        match followed {
            Some(followed) => {
                followed.ask(wish);
                None
            }
            None => Some(Err(unknown("run", run))),
        }
    }

    async fn watch(&self, id: &str, thread: &str, after: Option<u64>, break_after: Option<u64>) -> Outcome {
        let mut events: EventStream = {
            let thread = self.thread(thread)?;
            after.map_or_else(|| thread.events(), |seq| thread.events_after(seq))
        };
        self.reports.send(&json!({"id": id, "watching": {}}));
        let mut left = break_after;
        while left != Some(0) {
            match events.next().await {
                None => break,
                Some(Err(error)) => return Err(failures::failure(&error)),
                Some(Ok(event)) => self.reports.event(id, events::of_thread(&event)),
            }
            left = left.map(|left| left - 1);
        }
        Ok(json!({}))
    }

    async fn call(&self, method: &str, params: Value) -> Outcome {
        let result = self.client()?.raw(method, params).await;
        result.map(|result| json!({"result": result})).map_err(|error| failures::failure(&error))
    }

    async fn close_thread(&self, name: &str) -> Outcome {
        let thread = self.held().threads.remove(name).ok_or_else(|| unknown("thread", name))?;
        thread.close().await.map(|()| json!({})).map_err(|error| failures::failure(&error))
    }

    fn tools(self: &Arc<Self>, specs: &[ToolSpec]) -> Tools {
        specs.iter().map(|spec| tools::tool(self, spec)).collect()
    }

    fn client(&self) -> Result<Client, Value> {
        self.held().client.clone().ok_or_else(|| unknown("client", "connected"))
    }

    fn thread(&self, name: &str) -> Result<Thread, Value> {
        self.held().threads.get(name).cloned().ok_or_else(|| unknown("thread", name))
    }
}

/// The options of a client that are no handlers.
fn told(mut connect: Connect, args: &ConnectArgs) -> Connect {
    if let Some(name) = &args.name {
        connect = connect.name(name);
    }
    if let Some(instance) = &args.instance_id {
        connect = connect.instance_id(instance.as_str());
    }
    if args.require_approvals {
        connect = connect.require_approvals();
    }
    if args.require_input {
        connect = connect.require_input();
    }
    if let Some(ms) = args.call_timeout_ms {
        connect = connect.call_timeout(Duration::from_millis(ms));
    }
    if let Some(ms) = args.initialize_timeout_ms {
        connect = connect.initialize_timeout(Duration::from_millis(ms));
    }
    if let Some(ms) = args.reconnect_for_ms {
        connect = connect.reconnect_for(Duration::from_millis(ms));
    }
    connect
}

fn unknown(noun: &str, name: &str) -> Value {
    failures::of_driver(&format!("There is no {noun} `{name}`."))
}
