//! That everything of the SDK can be used on a multi-thread runtime: this compiles, or it does not.

use std::sync::{Arc, Mutex};

use ropewalk::{
    Approval, Client, Connect, Decision, Error, EventStream, Registration, Resumed, Run, RunRequest, RunStream,
    StartThread, Thread, Tool, ToolContext, Tools,
};

const fn shared<T: Clone + Send + Sync + 'static>() {}
const fn sent<T: Send + 'static>() {}
fn spawnable<F: Future + Send + 'static>(_: F) {}

#[test]
fn x13_every_type_may_cross_threads() {
    shared::<Client>();
    shared::<Thread>();
    shared::<Tool>();
    shared::<Tools>();
    shared::<ToolContext>();
    shared::<Approval>();
    sent::<Connect>();
    sent::<StartThread>();
    sent::<RunRequest>();
    sent::<RunStream>();
    sent::<Run>();
    sent::<EventStream>();
    sent::<Registration>();
    sent::<Resumed>();
    sent::<Error>();
}

/// Never called: it only has to compile.
#[expect(dead_code, reason = "the compiler is the test")]
fn x13_every_future_may_be_spawned(client: Arc<Client>, thread: Thread) {
    let seen = Arc::new(Mutex::new(0_u32));
    let count = Arc::clone(&seen);
    spawnable(
        ropewalk::Ropewalk::connect()
            .on_approval(move |_| {
                let count = Arc::clone(&count);
                async move {
                    *count.lock().unwrap() += 1;
                    Decision::Accept
                }
            })
            .into_future(),
    );
    let tool = Tool::new("count").description("Count.").handler(move |_, cx: ToolContext| {
        let seen = Arc::clone(&seen);
        async move {
            cx.cancelled().await;
            seen.lock().unwrap().to_string()
        }
    });
    spawnable(client.threads().start().tool(tool.clone()).into_future());
    spawnable(client.threads().resume("t").watch());
    spawnable(thread.run("x").into_future());
    spawnable(thread.run("x").submit());
    spawnable(thread.run("x").send());
    let borrowed = thread.clone();
    spawnable(async move { borrowed.attach(tool).await.map(Registration::keep) });
    let (mut run, mut events) = (thread.run("x").stream(), thread.events());
    spawnable(async move {
        run.next().await;
        events.next().await;
    });
    let submitted = thread.run("x").submit();
    spawnable(async move { submitted.await?.stop().await });
    spawnable(async move {
        client.daemon().status().await?;
        client.threads().list(Default::default()).await?;
        client.raw("x", serde_json::Value::Null).await?;
        client.close().await;
        thread.close().await
    });
}
