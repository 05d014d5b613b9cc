// Events for their readers: every durable one once and in order, bounded memory, and ends that come.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MAILBOX_EVENTS } from "../../dist/events/mailbox.js";
import { Thread } from "../../dist/thread/thread.js";
import { client, completed, event, inside, passing, rejects, soon, until } from "./support.mjs";

const plain = (seq) => event(seq, { type: "branchDeleted", branchId: `b-${seq}` });
const delta = (after, offset, text, itemId = "it-1") => passing(after, { type: "itemDelta", itemId, offset, text });
const started = (seq, itemId = "it-1") => event(seq, { type: "itemStarted", item: { itemId, runId: "run-1" } });

async function take(stream, count) {
  const events = [];
  while (events.length < count) events.push((await soon(stream.next(), "the next event")).value);
  return events;
}

test("durable events come once and in order, and what is missing is read from the log", async () => {
  const { core, wire } = await inside();
  const stream = new Thread(core, "th-1", 0).events({ after: 3 });
  for (const seq of [4, 4, 2, 7, 5, 7, 8]) wire.notify("thread/event", plain(seq));
  const reading = take(stream, 5);
  const pull = await wire.next("thread/events");
  assert.deepEqual(pull.params, { threadId: "th-1", after: 4 });
  wire.answer(pull, { events: [plain(5), plain(6), plain(7), plain(8)], nextAfter: 8 });
  assert.deepEqual(
    (await reading).map(({ seq }) => seq),
    [4, 5, 6, 7, 8],
  );
  assert.equal(stream.lastSeq, 8);
  await core.link.end({ why: "closed" })?.close(1_000);
});

test("a reader that sleeps costs a bounded amount, and catches up from the log", async () => {
  const { core, wire } = await inside();
  const stream = new Thread(core, "th-1", 0).events({ after: 0 });
  const total = 4 * MAILBOX_EVENTS;
  for (let seq = 1; seq <= total; seq += 1) wire.notify("thread/event", plain(seq));
  await until(() => core.hub.newest("th-1") === total);
  const reading = take(stream, total);
  for (let after = MAILBOX_EVENTS; after < total;) {
    const pull = await wire.next("thread/events");
    assert.equal(pull.params.after, after);
    const events = Array.from({ length: 256 }, (_, index) => plain(after + 1 + index));
    after += 256;
    wire.answer(pull, { events, nextAfter: after });
  }
  assert.deepEqual(
    (await reading).map(({ seq }) => seq),
    Array.from({ length: total }, (_, index) => index + 1),
  );
  await core.link.end({ why: "closed" })?.close(1_000);
});

test("k36 a thread that is followed no more ends its streams with why, behind the last event", async () => {
  const { core, wire } = await inside();
  const streams = [new Thread(core, "th-1", 0).events({ after: 0 }), new Thread(core, "th-1", 0).events({ after: 0 })];
  wire.notify("thread/event", plain(1));
  const error = {
    code: -32005,
    message: "There is no thread th-1.",
    data: { kind: "notFound", noun: "thread", id: "th-1" },
  };
  wire.notify("thread/unsubscribed", { threadId: "th-1", after: 1, error });
  for (const stream of streams) {
    assert.equal((await take(stream, 1))[0].seq, 1);
    const said = await rejects(stream.next(), "notFound");
    assert.equal(said.message, error.message);
  }
  assert.deepEqual(core.attachments.all(), []);
  await core.link.end({ why: "closed" })?.close(1_000);
});

test("deltas of a reader that is behind are merged", async () => {
  const { core, wire } = await inside();
  const stream = new Thread(core, "th-1", 0).events({ after: 3 });
  wire.notify("thread/event", started(4));
  for (let at = 0; at < 1_000; at += 1) wire.notify("thread/event", delta(4, at, "x"));
  wire.notify("thread/event", plain(5));
  await until(() => core.hub.newest("th-1") === 5);
  const [, text, last] = await take(stream, 3);
  assert.equal(text.event.text, "x".repeat(1_000));
  assert.equal(last.seq, 5);
  await core.link.end({ why: "closed" })?.close(1_000);
});

test("the text of an open item comes once, also when it is sent anew from its beginning", async () => {
  const { core, wire } = await inside();
  const stream = new Thread(core, "th-1", 0).events({ after: 3 });
  wire.notify("thread/event", started(4));
  wire.notify("thread/event", delta(4, 0, "日本"));
  await take(stream, 2);
  wire.notify("thread/event", delta(4, 0, "日"));
  wire.notify("thread/event", plain(5));
  wire.notify("thread/event", delta(4, 0, "日本語"));
  wire.notify("thread/event", delta(4, 0, "other", "it-9"));
  wire.notify("thread/event", plain(6));
  const rest = await take(stream, 3);
  assert.deepEqual(
    rest.map(({ event: it }) => [it.offset, it.text]),
    [
      [undefined, undefined],
      [6, "語"],
      [undefined, undefined],
    ],
  );
  await core.link.end({ why: "closed" })?.close(1_000);
});

test("a log that is not what it says is an error, and no endless loop", async () => {
  const { core, wire } = await inside();
  for (const page of [{ events: [] }, { events: [plain(9)] }, { events: ["x"] }, {}]) {
    const stream = new Thread(core, "th-1", 0).events({ after: 3 });
    wire.notify("thread/event", plain(7));
    const next = stream.next();
    wire.answer(await wire.next("thread/events"), page);
    await rejects(next, "unreadable");
    assert.equal((await stream.next()).done, true);
  }
  await core.link.end({ why: "closed" })?.close(1_000);
});

const submit = (request, wire) =>
  wire.answer(request, { runId: "run-1", messageId: "m-1", branchId: "th-1", state: "running", replayed: false });

test("x04 k45 the loop of a run ends at its end, although the connection stays and others run", async () => {
  let seq = 3;
  const answer = (request, wire) => {
    const runId = `run-${(seq += 2)}`;
    wire.answer(request, { runId, messageId: "m", branchId: "th-1", state: "running", replayed: false });
    wire.notify("thread/event", event(seq - 1, { type: "runStarted", run: { runId: "another" } }));
    wire.notify("thread/event", completed(seq, runId));
  };
  const { core } = await inside({ "run/submit": answer });
  core.hub.advance("th-1", 3);
  const thread = new Thread(core, "th-1", 3);
  for (let run = 0; run < 1_000; run += 1) {
    const types = [];
    for await (const { type } of thread.run("x")) types.push(type);
    assert.deepEqual(types, ["completed"]);
  }
  const left = () => core.hub.readers + core.link.phase.listeners + core.link.shown.listeners + core.anchor.holds;
  await until(() => left() === 0, "nothing is held");
  await core.link.end({ why: "closed" })?.close(1_000);
});

test("a run that nobody looks at holds nothing", async () => {
  const { core, wire } = await inside({ "run/submit": submit });
  const thread = new Thread(core, "th-1", 3);
  await soon(thread.run("x").submitted());
  await soon(thread.run("y").submitted());
  assert.equal(core.hub.readers, 0);
  await until(() => core.anchor.holds === 0);
  wire.cut();
});

test("leaving the loop does not stop the run, and its result can still be had", async () => {
  const log = [event(4, { type: "runStarted", run: { runId: "run-1" } }), completed(5, "run-1")];
  const read = (request, wire) => {
    const events = log.filter(({ seq }) => seq > request.params.after);
    wire.answer(request, { events, nextAfter: 5 });
  };
  const { rope, wire } = await client({}, { "run/submit": submit, "thread/events": read });
  const thread = await soon(rope.threads.start());
  const run = thread.run("x");
  await soon(run.submitted());
  for (const durable of log) wire().notify("thread/event", durable);
  for await (const { type } of run) {
    assert.equal(type, "started");
    break;
  }
  const [one, two] = await soon(Promise.all([run, run.result()]));
  assert.equal(one, two);
  assert.equal(one.text, "done");
  assert.equal(wire().count("run/stop"), 0);
  await soon(rope.close());
});

test("two readers and an await of one run each have all of it", async () => {
  const { rope, wire } = await client({}, { "run/submit": submit });
  const thread = await soon(rope.threads.start());
  const run = thread.run("x");
  const read = async () => {
    const types = [];
    for await (const { type } of run) types.push(type);
    return types;
  };
  const all = Promise.all([read(), read(), run.then(({ status }) => status)]);
  await soon(run.submitted());
  wire().notify("thread/event", event(4, { type: "runStarted", run: { runId: "run-1" } }));
  wire().notify("thread/event", started(5));
  wire().notify("thread/event", delta(5, 0, "hello"));
  wire().notify("thread/event", passing(5, { type: "ofTomorrow", runId: "run-1" }));
  wire().notify("thread/event", event(6, { type: "alsoOfTomorrow", runId: "run-1", more: 1 }));
  wire().notify("thread/event", event(7, { type: "alsoOfTomorrow", runId: "another" }));
  wire().notify("thread/event", completed(8, "run-1"));
  const types = ["started", "itemStarted", "text", "unknown", "unknown", "completed"];
  assert.deepEqual(await soon(all), [types, types, "completed"]);
  await soon(rope.close());
});

test("a result that is not completed is a result, and an exception for who wants one", async () => {
  const outcome = { status: "failed", error: { kind: "rateLimited", message: "Too fast.", retryable: true } };
  const answer = (request, wire) => {
    submit(request, wire);
    wire.notify("thread/event", completed(4, "run-1", outcome));
  };
  const { rope } = await client({}, { "run/submit": answer });
  const thread = await soon(rope.threads.start());
  const result = await soon(thread.run("x"));
  assert.equal(result.isCompleted, false);
  assert.throws(
    () => result.orThrow(),
    (error) => error.is("runNotCompleted") && error.data.result === result && /Too fast/.test(error.message),
  );
  assert.throws(() => result.output, { kind: "runNotCompleted" });
  await soon(rope.close());
});

test("an answer as data is checked by the schema that asked for it", async () => {
  let number = "7";
  const answer = (request, wire) => {
    submit(request, wire);
    wire.notify("thread/event", completed(4, "run-1", { status: "completed", text: "{}", structured: { number } }));
  };
  const validate = ({ number: given }) =>
    given === "7" ? { value: { number: 7 } } : { issues: [{ message: "no number", path: ["number"] }] };
  const schema = {
    "~standard": {
      version: 1,
      vendor: "v",
      validate,
      jsonSchema: { input: () => ({ type: "object", properties: {} }) },
    },
  };
  const one = await client({}, { "run/submit": answer });
  const run = (await soon(one.rope.threads.start())).run("x", { outputSchema: schema });
  assert.deepEqual((await soon(run)).output, { number: 7 });
  const { params } = one.wire().heard.find(({ method }) => method === "run/submit");
  assert.deepEqual(params.outputSchema, { type: "object", properties: {}, additionalProperties: false });
  await soon(one.rope.close());
  number = "x";
  const two = await client({}, { "run/submit": answer });
  const other = await soon((await soon(two.rope.threads.start())).run("x", { outputSchema: schema }));
  assert.throws(() => other.output, /\/number: no number/);
  await soon(two.rope.close());
});

test("how input enters a branch is one word of the wire, and contradictions are refused", async () => {
  const { rope, wire } = await client();
  const thread = await soon(rope.threads.start());
  for (const [options, expected] of [
    [
      { fork: "m-1", title: "T" },
      { mode: "fork", fromMessageId: "m-1", title: "T" },
    ],
    [{ fork: true }, { mode: "fork" }],
    [
      { replace: "m-2", branchId: "b" },
      { mode: "replace", fromMessageId: "m-2", branchId: "b" },
    ],
    [{ steer: "run-9" }, { mode: "steer", expectedRunId: "run-9" }],
    [
      { mode: "aside", unattended: "wait", endpointId: "e" },
      { mode: "aside", unattended: "wait", endpointId: "e" },
    ],
  ]) {
    thread.run([{ type: "text", text: "x" }], { ...options, operationId: "op" }).catch(() => undefined);
    const { params } = await wire().next("run/submit");
    assert.deepEqual(params, {
      threadId: "th-1",
      input: [{ type: "text", text: "x" }],
      operationId: "op",
      ...expected,
    });
  }
  assert.throws(() => thread.run("x", { fork: true, steer: "run-1" }), { kind: "invalidOption" });
  assert.throws(() => thread.run("x", { outputSchema: 5 }), { kind: "invalidOption" });
  await soon(rope.close());
});

test("an aside that was just recorded has no run, and a queued input that was removed never begins", async () => {
  const recorded = (request, wire) =>
    wire.answer(request, { messageId: "m-1", branchId: "th-1", state: "recorded", replayed: false });
  const aside = await client({}, { "run/submit": recorded });
  const thread = await soon(aside.rope.threads.start());
  assert.equal((await rejects(thread.run("x", { mode: "aside" }), "noRun")).data.messageId, "m-1");
  assert.equal((await soon(thread.send("x", { mode: "aside" }))).state, "recorded");
  await soon(aside.rope.close());
  const queued = await client({}, { "run/submit": submit });
  const run = (await soon(queued.rope.threads.start())).run("x");
  const result = run.result();
  await soon(run.submitted());
  const removed = {
    type: "queueChanged",
    branchId: "th-1",
    held: false,
    length: 0,
    change: "removed",
    messageId: "m-1",
  };
  queued.wire().notify("thread/event", event(4, removed));
  await rejects(result, "runRemoved");
  await soon(queued.rope.close());
});

test("k45 closing a thread ends its readers, and closing the client those of all", async () => {
  const { rope, wire } = await client({}, { "run/submit": submit });
  const thread = await soon(rope.threads.start());
  const reading = thread.events().next();
  await soon(thread.close());
  assert.equal((await soon(reading)).done, true);
  assert.equal(wire().count("thread/unsubscribe"), 1);
  assert.throws(() => thread.events(), { kind: "threadClosed" });
  await rejects(thread.run("x"), "threadClosed");
  const again = await soon(rope.threads.resume("th-1"));
  const first = thread.run("x").result();
  await until(() => wire().count("run/submit") === 1);
  await soon(thread.close());
  await rejects(first, "threadClosed");
  await soon(rope.threads.resume("th-1"));
  const run = again.run("x");
  const result = run.result();
  const all = again.events().next();
  await soon(run.submitted());
  await soon(rope.close());
  assert.equal((await soon(all)).done, true);
  await rejects(result, "disconnected");
  await soon(thread.close());
  await rejects(thread.read(), "disconnected");
});

test("x10 k46 whatever waits when the daemon dies rejects alike, and what nobody awaits is no unhandled rejection", async () => {
  const unhandled = [];
  const listen = (error) => unhandled.push(error);
  process.on("unhandledRejection", listen);
  const { rope, wire } = await client({ reconnectForMs: 0 });
  const thread = await soon(rope.threads.start());
  const calls = Array.from({ length: 5 }, () => rope.threads.list());
  const streams = [thread.events().next(), thread.events().next()];
  thread.run("nobody waits for this one");
  await until(() => wire().count("run/submit") === 1);
  wire().cut();
  for (const waiting of [...calls, ...streams]) await rejects(waiting, "reconnectFailed");
  await soon(rope.close());
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", listen);
  assert.deepEqual(unhandled, []);
});
