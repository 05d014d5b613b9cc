// What becomes of a client whose connection is lost: every rule, with a daemon that the test plays.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Ropewalk, tool } from "../../dist/index.js";
import {
  client,
  completed,
  event,
  initialized,
  obliging,
  pipe,
  rejects,
  soon,
  toolCall,
  until,
  Wire,
} from "./support.mjs";

const work = (run) => tool({ name: "work", description: "Works.", run });

test("dyn_20 a change that was under way is asked again under the same operation id", async () => {
  const { rope, wires } = await client();
  const created = rope.projects.create({ name: "P" });
  const first = await wires[0].next("project/create");
  assert.match(first.params.operationId, /^[\w-]{36}$/);
  wires[0].cut();
  await until(() => wires.length === 2);
  const again = await wires[1].next("project/create");
  assert.deepEqual(again.params, first.params);
  wires[1].answer(again, { project: { projectId: "pr-1" }, replayed: true });
  assert.equal((await soon(created)).project.projectId, "pr-1");
  await soon(rope.close());
});

test("an operation id that the caller gave is kept, and null is none", async () => {
  const { rope, wire } = await client();
  void rope.projects.create({ name: "P", operationId: "mine" }).catch(() => undefined);
  assert.equal((await wire().next("project/create")).params.operationId, "mine");
  void rope.raw("project/create", { name: "P", operationId: null }).catch(() => undefined);
  assert.match((await wire().next("project/create")).params.operationId, /^[\w-]{36}$/);
  await soon(rope.close());
});

test("a method this version does not know is not repeated without an operation id", async () => {
  const { rope, wires } = await client();
  const unknown = rope.raw("future/thing", { a: 1 });
  const named = rope.raw("future/thing", { a: 2, operationId: "op-1" });
  await wires[0].next("future/thing");
  await wires[0].next("future/thing");
  wires[0].cut();
  const error = await rejects(unknown, "effectUnknown");
  assert.match(error.message, /future\/thing/);
  await until(() => wires.length === 2);
  const again = await wires[1].next("future/thing");
  wires[1].answer(again, "done");
  assert.equal(await soon(named), "done");
  await soon(rope.close());
});

test("dyn_20 open threads are resumed behind the last event that was seen, without naming tools", async () => {
  const resume = (request, wire) => {
    const tools = [{ flatName: "work", name: "work", owner: { clientName: "t", instanceId: rope.instanceId } }];
    wire.answer(request, { thread: {}, seq: 5, tools, replayed: false });
  };
  const { rope, wires } = await client({}, { "thread/resume": resume });
  await soon(rope.threads.start({ tools: [work(() => "done")] }));
  wires[0].notify("thread/event", event(4, { type: "branchDeleted", branchId: "b" }));
  wires[0].notify("thread/event", event(5, { type: "branchDeleted", branchId: "b" }));
  // An answer behind the events: they have been taken in.
  void rope.threads.list();
  wires[0].answer(await wires[0].next("thread/list"), { items: [] });
  wires[0].cut();
  await until(() => rope.connection.state === "connected" && rope.connection.reconnects === 1);
  const { params } = wires[1].heard.find(({ method }) => method === "thread/resume");
  assert.deepEqual(params, { threadId: "th-1", after: 5 });
  await soon(rope.close());
});

test("dyn_20 tools the daemon does not know any more are declared again", async () => {
  const resumes = [];
  const resume = (request, wire) => {
    resumes.push(request.params);
    wire.answer(request, { thread: {}, seq: 3, tools: [], replayed: false });
  };
  const { rope, wires } = await client({}, { "thread/resume": resume });
  await soon(rope.threads.start({ tools: [work(() => "done")] }));
  wires[0].cut();
  await until(() => resumes.length === 2);
  assert.equal(resumes[0].tools, undefined);
  assert.deepEqual(
    resumes[1].tools.map(({ name }) => name),
    ["work"],
  );
  await soon(rope.close());
});

test("dyn_36 tools that another process took meanwhile stay with it, and are told of", async () => {
  const tools = [{ flatName: "work", name: "work", owner: { clientName: "t", instanceId: "somebody" } }];
  const resume = (request, wire) => wire.answer(request, { thread: {}, seq: 3, tools, replayed: false });
  const { rope, wires, warnings } = await client({}, { "thread/resume": resume });
  const thread = await soon(rope.threads.start({ tools: [work(() => "done")] }));
  assert.deepEqual(thread.takenTools, []);
  wires[0].cut();
  await until(() => rope.connection.reconnects === 1);
  assert.deepEqual(thread.takenTools, ["work"]);
  assert.equal(wires[1].count("thread/resume"), 1);
  assert.ok(warnings[0].message.includes("work"), warnings[0].message);
  await soon(rope.close());
});

test("dyn_20 a call that was under way runs once, and its answer goes to the connection that asks again", async () => {
  let runs = 0;
  let finish;
  const { rope, wires } = await client(
    {},
    { "interaction/list": (r, w) => w.answer(r, { items: [{ interactionId: "i-1" }] }) },
  );
  const handler = () => {
    runs += 1;
    return new Promise((resolve) => (finish = resolve));
  };
  await soon(rope.threads.start({ tools: [work(handler)] }));
  wires[0].say({ id: 1, method: "tool/call", params: toolCall("i-1") });
  await until(() => finish !== undefined);
  wires[0].cut();
  await until(() => rope.connection.reconnects === 1);
  const waiting = wires[1].ask("tool/call", toolCall("i-1", "work", {}, 2));
  finish("the result");
  assert.equal((await waiting).result.contentItems[0].text, "the result");
  // It is not settled yet: a third offer gets the kept answer.
  assert.equal((await wires[1].ask("tool/call", toolCall("i-1", "work", {}, 3))).result.success, true);
  assert.equal(runs, 1);
  wires[1].notify("interaction/settled", { interactionId: "i-1", outcome: "answered" });
  wires[1].say({ id: "late", method: "tool/call", params: toolCall("i-1") });
  await until(() => runs === 2);
  await soon(rope.close());
});

test("dyn_33 what was settled while the connection was away is cancelled when it is back", async () => {
  let signal;
  const { rope, wires } = await client();
  const handler = (_args, context) => {
    signal = context.signal;
    return new Promise(() => undefined);
  };
  await soon(rope.threads.start({ tools: [work(handler)] }));
  wires[0].say({ id: 1, method: "tool/call", params: toolCall("i-1") });
  await until(() => signal !== undefined);
  wires[0].cut();
  await until(() => signal.aborted);
  assert.equal(wires[1].heard.find(({ method }) => method === "interaction/list").params.threadId, "th-1");
  await soon(rope.close());
});

test("a run is followed over a lost connection to the end it has", async () => {
  const submit = (request, wire) =>
    wire.answer(request, { runId: "run-1", messageId: "m-1", branchId: "th-1", state: "running", replayed: false });
  const { rope, wires } = await client({}, { "run/submit": submit });
  const thread = await soon(rope.threads.start());
  const run = thread.run("hello");
  const result = run.result();
  await soon(run.submitted());
  wires[0].cut();
  await until(() => rope.connection.reconnects === 1);
  wires[1].notify("thread/event", completed(4, "run-1"));
  assert.equal((await soon(result)).text, "done");
  await soon(rope.close());
});

test("a submission whose answer was lost is replayed, and its events are behind where reading began", async () => {
  const { rope, wires } = await client();
  const thread = await soon(rope.threads.start());
  const run = thread.run("hello");
  const first = await wires[0].next("run/submit");
  wires[0].notify("thread/event", event(4, { type: "runStarted", run: { runId: "run-1" } }));
  wires[0].cut();
  await until(() => wires.length === 2);
  const again = await wires[1].next("run/submit");
  assert.deepEqual(again.params, first.params);
  wires[1].answer(again, { runId: "run-1", messageId: "m", branchId: "th-1", state: "running", replayed: true });
  const pull = wires[1].next("thread/events").then((request) => {
    assert.equal(request.params.after, 3);
    const events = [event(4, { type: "runStarted", run: { runId: "run-1" } }), completed(5, "run-1")];
    wires[1].answer(request, { events, nextAfter: 5 });
  });
  assert.equal((await soon(run)).status, "completed");
  await soon(pull);
  await soon(rope.close());
});

test("a wait that is asked again waits for what is left of it", async () => {
  const { rope, wires } = await client();
  const waited = rope.runs.wait({ runId: "run-1", timeoutMs: 600_000 });
  await wires[0].next("run/wait");
  await new Promise((resolve) => setTimeout(resolve, 5));
  wires[0].cut();
  await until(() => wires.length === 2);
  const again = await wires[1].next("run/wait");
  assert.ok(again.params.timeoutMs < 600_000 && again.params.timeoutMs > 500_000, String(again.params.timeoutMs));
  wires[1].answer(again, { run: { runId: "run-1" }, timedOut: false, seq: 1 });
  assert.equal((await soon(waited)).timedOut, false);
  await soon(rope.close());
});

test("a daemon that is starting, or busy with the same operation, is asked again", async () => {
  const { rope, wire } = await client();
  const listed = rope.threads.list();
  wire().refuse(await wire().next("thread/list"), "unavailable", { reason: "starting", retryable: true });
  wire().refuse(await wire().next("thread/list"), "unavailable", { reason: "operation_in_progress", retryable: true });
  wire().answer(await wire().next("thread/list"), { items: [] });
  assert.deepEqual((await soon(listed)).items, []);
  const full = rope.threads.list();
  wire().refuse(await wire().next("thread/list"), "unavailable", { reason: "storage_full" });
  await rejects(full, "unavailable");
  await soon(rope.close());
});

test("what an ending daemon refuses is asked of the next one", async () => {
  const { rope, wires } = await client();
  const listed = rope.threads.list();
  wires[0].refuse(await wires[0].next("thread/list"), "shuttingDown", { graceMs: 1, retryable: true });
  wires[0].cut();
  await until(() => wires.length === 2);
  wires[1].answer(await wires[1].next("thread/list"), { items: [] });
  await soon(listed);
  await soon(rope.close());
});

test("a thread that is gone ends its own streams, with the reason", async () => {
  const resume = (request, wire) => wire.refuse(request, "notFound", { noun: "thread", id: "th-1" }, -32005);
  const { rope, wires } = await client({}, { "thread/resume": resume });
  const thread = await soon(rope.threads.start());
  const waiting = thread.events().next();
  wires[0].cut();
  assert.match((await rejects(waiting, "notFound")).message, /notFound/);
  await rejects(thread.events().next(), "notFound");
  assert.equal(rope.isConnected, true);
  await soon(rope.close());
});

test("a log that ends before what was seen is named", async () => {
  const resume = (request, wire) => wire.refuse(request, "invalidParams", { path: "/after", reason: "after_the_end" });
  const { rope, wires } = await client({}, { "thread/resume": resume });
  const thread = await soon(rope.threads.start());
  const waiting = thread.events().next();
  wires[0].cut();
  assert.equal((await rejects(waiting, "logShortened")).data.seen, 3);
  await soon(rope.close());
});

test("a daemon that refuses the client ends it at once, for all that wait", async () => {
  let greetings = 0;
  const greet = (request, wire) => {
    greetings += 1;
    if (greetings === 1) return wire.answer(request, initialized());
    return wire.refuse(
      request,
      "unsupportedProtocol",
      { supported: { min: 2, max: 2 }, daemon: { version: "9" } },
      -32004,
    );
  };
  const { rope, wires } = await client({}, { initialize: greet });
  const calls = [rope.threads.list(), rope.daemon.status()];
  await wires[0].next("daemon/status");
  const end = rope.untilClosed();
  wires[0].cut();
  for (const waiting of [...calls, end]) await rejects(waiting, "unsupportedProtocol");
  assert.equal(rope.connection.state, "closed");
  assert.equal(rope.connection.error.kind, "unsupportedProtocol");
  await rejects(rope.threads.list(), "unsupportedProtocol");
});

test("a connection that cannot be made again is given up, and says how often it was tried", async () => {
  let dials = 0;
  let wire;
  const lost = await Ropewalk.through(
    () => {
      dials += 1;
      if (dials > 1) throw new Error("the tunnel is down");
      const [ours, theirs] = pipe();
      wire = new Wire(theirs, obliging);
      return ours;
    },
    { reconnectForMs: 120 },
  );
  const listed = lost.threads.list();
  const states = [];
  const watching = (async () => {
    for await (const { state } of lost.watchConnection()) states.push(state);
  })();
  await wire.next("thread/list");
  wire.cut();
  const error = await rejects(listed, "reconnectFailed");
  assert.equal(error.data.attempts, dials - 1);
  assert.match(error.message, /the tunnel is down/);
  await soon(watching);
  assert.equal(states[0], "connected");
  assert.equal(states.at(-1), "closed");
});

test("a client that had the daemon stopped does not come back to it", async () => {
  const { rope, wires } = await client();
  const stopped = rope.daemon.shutdown();
  wires[0].answer(await wires[0].next("daemon/shutdown"), {});
  await soon(stopped);
  wires[0].cut();
  await rejects(rope.untilClosed(), "disconnected");
  assert.equal(wires.length, 1);
});

test("changes that may have been missed are told as changes of everything", async () => {
  const changes = [];
  const { rope, wires } = await client({ onChange: (change) => changes.push(change) });
  wires[0].notify("data/changed", { seq: 1, kinds: ["run"], ids: ["run-1"] });
  await until(() => changes.length === 1);
  wires[0].cut();
  await until(() => changes.length === 2);
  assert.equal(changes[1].seq, 0);
  assert.ok(changes[1].kinds.length >= 17 && changes[1].ids === undefined);
  await soon(rope.close());
});
