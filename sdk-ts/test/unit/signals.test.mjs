// Signals of callers: they end waits, and nothing of a wait stays with them.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { after, test } from "node:test";
import { tool } from "../../dist/index.js";
import { client, completed, initialized, rejects, soon, until } from "./support.mjs";

const warnings = [];
process.on("warning", (warning) => warnings.push(warning));
after(() => assert.deepEqual(warnings, []));

const list = (request, wire) => wire.answer(request, { items: [] });
const listeners = (signal) => getEventListeners(signal, "abort").length;

test("x06 k45 one signal for 2,000 calls has no listener at the end, and no warning comes", async () => {
  const { rope } = await client({}, { "thread/list": list });
  const { signal } = new AbortController();
  for (let round = 0; round < 20; round += 1) {
    const calls = Array.from({ length: 100 }, () => rope.threads.list({}, { signal }));
    assert.ok(listeners(signal) <= 1);
    await soon(Promise.all(calls));
  }
  assert.equal(listeners(signal), 0);
  await soon(rope.close());
});

test("x06 a signal that has fired sends nothing, and one that fires later does nothing to what has ended", async () => {
  const { rope, wire } = await client({}, { "thread/list": list });
  const control = new AbortController();
  await soon(rope.threads.list({}, { signal: control.signal }));
  control.abort(new Error("enough"));
  const error = await rejects(rope.threads.list({}, { signal: control.signal }), "aborted");
  assert.equal(error.cause.message, "enough");
  assert.equal(wire().count("thread/list"), 1);
  await soon(rope.close());
});

test("a signal ends the wait for an answer, and a request that only waits", async () => {
  const { rope, wire } = await client();
  const control = new AbortController();
  const waited = rope.runs.wait({ runId: "run-1" }, { signal: control.signal });
  const { id } = await wire().next("run/wait");
  control.abort();
  await rejects(waited, "aborted");
  assert.deepEqual((await wire().next("$/cancelRequest")).params, { id });
  assert.equal(listeners(control.signal), 0);
  await soon(rope.close());
});

test("a signal ends a call that waits for the connection", async () => {
  let greetings = 0;
  const greet = (request, wire) => {
    greetings += 1;
    if (greetings === 1) wire.answer(request, initialized());
  };
  const { rope, wires } = await client({}, { initialize: greet });
  wires[0].cut();
  await until(() => rope.connection.state === "reconnecting");
  const control = new AbortController();
  const waiting = rope.threads.list({}, { signal: control.signal });
  control.abort();
  await rejects(waiting, "aborted");
  await soon(rope.close());
});

test("k05 a call has a deadline of its own, and a timeout that is given counts instead", async () => {
  const { rope } = await client({ callTimeoutMs: 20 });
  const error = await rejects(rope.threads.list(), "noAnswer");
  assert.match(error.message, /thread\/list was not answered within 20 ms/);
  assert.equal((await rejects(rope.threads.list({}, { timeoutMs: 10 }), "noAnswer")).data.afterMs, 10);
  await soon(rope.close());
});

const submit = (request, wire) =>
  wire.answer(request, { runId: "run-1", messageId: "m-1", branchId: "th-1", state: "running", replayed: false });

test("the signal of a run ends its waits and not the run", async () => {
  const { rope, wire } = await client({}, { "run/submit": submit });
  const thread = await soon(rope.threads.start());
  const control = new AbortController();
  const run = thread.run("hello", { signal: control.signal });
  const result = run.result();
  const reading = run[Symbol.asyncIterator]().next();
  await soon(run.submitted());
  control.abort("no more");
  assert.equal((await rejects(result, "aborted")).cause, "no more");
  await rejects(reading, "aborted");
  assert.equal(wire().count("run/stop"), 0);
  assert.equal(listeners(control.signal), 0);
  await soon(rope.close());
});

test("a run whose signal has fired is not submitted", async () => {
  const { rope, wire } = await client();
  const thread = await soon(rope.threads.start());
  await rejects(thread.run("hello", { signal: AbortSignal.abort() }), "aborted");
  assert.equal(wire().count("run/submit"), 0);
  await soon(rope.close());
});

test("one signal for many runs has no listener when they have ended", async () => {
  let seq = 3;
  const answer = (request, wire) => {
    const runId = `run-${(seq += 1)}`;
    wire.answer(request, { runId, messageId: "m", branchId: "th-1", state: "running", replayed: false });
    wire.notify("thread/event", completed(seq, runId));
  };
  const { rope } = await client({}, { "run/submit": answer });
  const thread = await soon(rope.threads.start());
  const { signal } = new AbortController();
  for (let run = 0; run < 100; run += 1) assert.equal((await soon(thread.run("x", { signal }))).isCompleted, true);
  assert.equal(listeners(signal), 0);
  await soon(rope.close());
});

test("signals reach attach, events and the watch of the connection", async () => {
  const { rope } = await client({}, { "thread/resume": () => undefined });
  const thread = await soon(rope.threads.start());
  const control = new AbortController();
  const { signal } = control;
  const waits = [
    thread.attach(tool({ name: "t", description: "T.", run: () => "x" }), { signal }),
    thread.events({ signal }).next(),
    rope.untilClosed({ signal }),
  ];
  const changes = rope.watchConnection({ signal });
  await soon(changes.next());
  waits.push(changes.next());
  await until(() => listeners(signal) === 1);
  control.abort();
  for (const wait of waits) await rejects(wait, "aborted");
  assert.equal(listeners(signal), 0);
  await soon(rope.close());
});
