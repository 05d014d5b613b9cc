// DYN-18 to DYN-20: a connection that is lost, and what is taken up over the next one.
import assert from "node:assert/strict";
import { connect as open } from "node:net";
import { test } from "node:test";
import { type Ropewalk, RopewalkError, type Thread, protocol } from "../../src/index.js";
import { attached, connected, onDaemon, textOf, worker } from "../support/clients.js";
import type { Fake, Fakes } from "../support/fake.js";
import { Refusal } from "../support/fake.js";
import { type Message, eachLine } from "../support/lines.js";
import {
  assistant,
  call,
  completed,
  effective,
  open as openCall,
  resumed,
  run,
  started,
  submitted,
} from "../support/shapes.js";
import { Inbox, until, within } from "../support/waiting.js";

/** A daemon to come, where `th-1` has come to event `seq`. */
function next(fakes: Fakes, seq: number): Fake {
  const fake = fakes.next();
  fake.reply("thread/resume", ({ threadId }) => resumed(threadId, seq));
  fake.reply("interaction/list", () => ({ items: [] }));
  return fake;
}

/** Cuts the connection and waits until everything was taken up at the next daemon. */
async function cut(rope: Ropewalk, fake: Fake): Promise<void> {
  const before = reconnects(rope);
  fake.close();
  await until("everything to be taken up", () => reconnects(rope) > before);
}

function reconnects({ connection }: Ropewalk): number {
  return connection.state === "connected" ? connection.reconnects : -1;
}

function deleted(branch: number): object {
  return { type: "branchDeleted", branchId: `b-${branch}` };
}

async function seqs(events: ReturnType<Thread["events"]>, count: number): Promise<unknown[]> {
  const found = [];
  while (found.length < count) found.push((await within("an event", events.next())).value?.seq);
  return found;
}

test("dyn_18_resuming_with_the_same_tools_changes_nothing_for_the_model", async (context) => {
  const { rope } = await onDaemon(context);
  const tools = [worker("a", () => "from a"), worker("b", () => "from b")];
  const thread = await rope.threads.start({ tools });
  const before = await thread.tools({ schemas: true });
  const again = await rope.threads.resume(thread.id, { tools });
  assert.deepEqual(await again.tools({ schemas: true }), before);
  const { events } = await rope.call("thread/events", { threadId: thread.id, after: thread.attachedAt });
  assert.deepEqual(
    events.filter(({ event }) => event.type === "toolsChanged"),
    [],
  );
  assert.equal((await again.run("call b {}")).text, "b: from b");
});

test("dyn_18_tools_are_bound_again_over_a_new_connection_and_nothing_is_declared_anew", async (context) => {
  const { fakes, fake, rope } = await attached(context, [worker("a", () => "from a")]);
  const second = next(fakes, 3);
  second.reply("thread/resume", () => resumed("th-1", 3, [effective("a", "in-A")]));
  await cut(rope, fake);
  assert.deepEqual(second.asked("thread/resume"), [{ threadId: "th-1", after: 3 }]);
  assert.equal(textOf(await second.ask("tool/call", call("int-1", "a"))), "from a");
});

test("dyn_19_a_bare_connection_gets_no_event_until_it_resumes", async (context) => {
  const { daemon, rope } = await onDaemon(context);
  const thread = await rope.threads.start();
  const socket = open(daemon.socket);
  context.after(() => socket.destroy());
  const heard = new Inbox<Message>();
  eachLine(socket, (line) => heard.put(JSON.parse(line)));
  const say = (id: number, method: string, params: object): boolean =>
    socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  const client = { name: "raw", version: "1", instanceId: "in-R" };
  say(1, "initialize", { protocol: { min: 1, max: 1 }, client, optOut: ["data/changed"] });
  const handshake = await heard.next("the handshake");
  assert.deepEqual([handshake.id, handshake.result.schemaHash], [1, protocol.schemaHash], "the types are the daemon's");
  await thread.run("say hello");
  say(2, "daemon/status", {});
  assert.equal((await heard.next("an answer")).id, 2, "no event came before it");
  say(3, "thread/resume", { threadId: thread.id, after: 0 });
  assert.equal((await heard.next("the answer")).id, 3);
  assert.equal((await heard.next("an event")).params.seq, 1);
});

test("dyn_20_threads_are_resumed_behind_the_last_seen_event_and_streams_go_on_without_gap_or_repeat", async (context) => {
  const { fakes, fake, rope, thread } = await attached(context);
  const events = thread.events();
  for (const seq of [4, 5, 6]) fake.event("th-1", seq, deleted(seq));
  await fake.fence();
  const second = next(fakes, 8);
  await cut(rope, fake);
  assert.deepEqual(second.asked("thread/resume"), [{ threadId: "th-1", after: 6 }]);
  for (const seq of [6, 7, 8]) second.event("th-1", seq, deleted(seq));
  assert.deepEqual(await seqs(events, 5), [4, 5, 6, 7, 8]);
  const third = next(fakes, 9);
  await cut(rope, second);
  assert.equal(third.asked("thread/resume")[0].after, 8, "twice in a row");
  third.event("th-1", 9, deleted(9));
  assert.deepEqual(await seqs(events, 1), [9]);
});

test("dyn_20_the_text_of_an_open_item_has_no_hole_and_no_repeat_across_a_cut", async (context) => {
  const { fakes, fake, rope, thread } = await attached(context);
  const events = thread.events();
  const delta = (offset: number, text: string): object => ({ type: "itemDelta", itemId: "it-1", offset, text });
  fake.event("th-1", 4, { type: "itemStarted", item: assistant("run-1", "it-1", "open", "") });
  fake.ephemeral("th-1", 4, delta(0, "Eins "));
  await fake.fence();
  const second = next(fakes, 4);
  await cut(rope, fake);
  second.ephemeral("th-1", 4, delta(0, "Eins zwei "));
  second.ephemeral("th-1", 4, delta(10, "fünf"));
  assert.deepEqual(await seqs(events, 1), [4]);
  let text = "";
  while (Buffer.byteLength(text) < 15) {
    const { value } = await within("text", events.next());
    assert.ok(value?.event.type === "itemDelta");
    assert.equal(value.event.offset, Buffer.byteLength(text));
    text += value.event.text;
  }
  assert.equal(text, "Eins zwei fünf");
});

test("dyn_20_what_was_under_way_is_asked_again_and_a_change_under_the_same_operation", async (context) => {
  const { fakes, fake, rope } = await connected(context);
  const reading = rope.call("thread/list", {});
  await fake.next();
  const changing = rope.call("project/create", { name: "work" });
  const { params: first } = await fake.next();
  const second = fakes.next();
  fake.close();
  for (let asked = 0; asked < 2; asked += 1) {
    const { method, params, answer } = await second.next();
    if (method === "project/create") assert.deepEqual(params, first, "the same operation");
    answer({ answers: method });
  }
  assert.equal(typeof first.operationId, "string");
  assert.equal(((await reading) as any).answers, "thread/list");
  assert.equal(((await changing) as any).answers, "project/create");
  const said = (one: Fake): unknown => one.asked("initialize")[0].client;
  assert.deepEqual(said(second), said(fake), "the same process");
});

test("dyn_20_what_cannot_be_repeated_says_that_its_effect_is_unknown_and_the_client_goes_on", async (context) => {
  const { fakes, fake, rope } = await connected(context);
  const unknown = rope.raw("of/tomorrow", {});
  const failing = assert.rejects(unknown, (error) => isKind(error, "effectUnknown"));
  await fake.next();
  const second = fakes.next();
  second.reply("of/tomorrow", () => ({}));
  fake.close();
  await failing;
  assert.equal(second.asked("of/tomorrow").length, 0);
  await rope.raw("of/tomorrow", {});
});

test("dyn_20_a_wait_is_asked_again_with_what_is_left_of_its_time", async (context) => {
  const { fakes, fake, rope } = await connected(context);
  const waiting = rope.call("run/wait", { runId: "run-1", timeoutMs: 500_000 });
  await fake.next();
  const second = fakes.next();
  fake.close();
  const { params, answer } = await second.next();
  assert.ok(params.timeoutMs < 500_000 && params.timeoutMs > 300_000, String(params.timeoutMs));
  answer({ run: run("run-1", "running"), timedOut: true, seq: 3 });
  assert.equal((await waiting).timedOut, true);
});

test("dyn_20_a_run_whose_submission_is_repeated_is_followed_to_its_end", async (context) => {
  const { fakes, fake, rope, thread } = await attached(context);
  fake.hold("run/submit");
  const running = thread.run("hello");
  const result = running.then((it) => it.text);
  const { params: first } = await fake.next();
  const second = next(fakes, 3);
  second.reply("run/submit", (params) => {
    assert.deepEqual(params, first);
    return { ...(submitted("run-1") as object), replayed: true };
  });
  await cut(rope, fake);
  await until("the submission", () => second.asked("run/submit").length === 1);
  second.event("th-1", 4, completed("run-1", { status: "completed", text: "hi" }));
  assert.equal(await within("the result", result), "hi");
});

test("dyn_20_tools_that_were_taken_over_meanwhile_stay_with_whoever_took_them", async (context) => {
  const { fakes, fake, rope, thread } = await attached(context, [worker("a", () => ""), worker("b", () => "")]);
  const second = next(fakes, 5);
  second.reply("thread/resume", () => resumed("th-1", 5, [effective("a", "in-B"), effective("b", "in-A")]));
  await cut(rope, fake);
  assert.deepEqual(thread.takenTools, ["a"]);
  assert.deepEqual(second.asked("thread/resume"), [{ threadId: "th-1", after: 3 }]);
});

test("dyn_20_a_thread_that_is_gone_or_shortened_ends_alone", async (context) => {
  const { fakes, fake, rope, thread: kept } = await attached(context);
  const others = [];
  for (const id of ["th-gone", "th-short"]) {
    fake.reply("thread/start", () => started(id, 9));
    others.push(await rope.threads.start());
  }
  const [gone, short] = others.map((thread) => thread.events());
  assert.ok(gone && short);
  const goesOn = kept.events();
  const second = next(fakes, 3);
  second.reply("thread/resume", ({ threadId }) => {
    const data = { kind: "invalidParams", retryable: false, path: "/after", reason: "after_the_end" };
    if (threadId === "th-gone")
      throw new Refusal(-32005, "There is none.", { kind: "notFound", retryable: false, noun: "thread", id: threadId });
    if (threadId === "th-short") throw new Refusal(-32602, "after is 9, but the last event is 4.", data);
    return resumed(threadId, 3);
  });
  await cut(rope, fake);
  await assert.rejects(within("the end", gone.next()), (error) => isKind(error, "notFound"));
  await assert.rejects(within("the end", short.next()), (error) => isKind(error, "logShortened"));
  second.event("th-1", 4, deleted(4));
  assert.deepEqual(await seqs(goesOn, 1), [4]);
});

test("dyn_20_a_handler_that_works_goes_on_and_its_answer_goes_through_the_new_connection", async (context) => {
  let [calls, go] = [0, (): void => undefined];
  const gate = new Promise<void>((resolve) => (go = resolve));
  const begun = new Inbox<true>();
  const work = worker("work", async () => {
    calls += 1;
    begun.put(true);
    await gate;
    return "done";
  });
  const { fakes, fake, rope } = await attached(context, [work]);
  const lost = fake.begin("tool/call", call("int-1", "work"));
  lost.catch(() => undefined);
  await begun.next("the handler to begin");
  const second = next(fakes, 3);
  second.reply("interaction/list", () => openCall("int-1"));
  await cut(rope, fake);
  const offered = second.ask("tool/call", call("int-1", "work", {}, { attempt: 2 }));
  await second.fence();
  go();
  assert.equal(textOf(await offered), "done");
  assert.equal(calls, 1);
});

test("dyn_20_an_answer_is_kept_over_a_cut_and_given_again_until_the_daemon_lists_it_no_more", async (context) => {
  let calls = 0;
  const { fakes, fake, rope } = await attached(context, [worker("work", () => ((calls += 1), "done"))]);
  await fake.ask("tool/call", call("int-1", "work"));
  const second = next(fakes, 3);
  second.reply("interaction/list", () => openCall("int-1"));
  await cut(rope, fake);
  assert.equal(textOf(await second.ask("tool/call", call("int-1", "work", {}, { attempt: 2 }))), "done");
  assert.equal(calls, 1);
});

test("dyn_20_a_daemon_that_does_not_come_back_is_given_up_and_all_who_wait_are_told_the_same", async (context) => {
  const { fake, rope, thread } = await attached(context, [], { reconnectForMs: 300 });
  const events = thread.events();
  fake.close();
  const waiting = [rope.call("daemon/status", {}), rope.call("thread/list", {}), events.next()];
  const ends = await within("the end", Promise.allSettled(waiting));
  for (const end of ends) assert.ok(end.status === "rejected" && isKind(end.reason, "reconnectFailed"));
  await assert.rejects(rope.call("daemon/status", {}), (error) => isKind(error, "reconnectFailed"));
});

test("dyn_20_a_thread_that_was_started_over_a_lost_connection_is_attached_to", async (context) => {
  const { fakes, fake, rope } = await connected(context);
  const starting = rope.threads.start({ tools: [worker("a", () => "from a")] });
  const { params: first } = await fake.next();
  const second = next(fakes, 3);
  second.reply("thread/start", (params) => {
    assert.deepEqual(params, first);
    return { ...(started("th-1", 3) as object), replayed: true };
  });
  second.reply("thread/resume", () => resumed("th-1", 3, [effective("a", "in-A")]));
  fake.close();
  assert.equal((await within("the thread", starting)).id, "th-1");
  assert.deepEqual(second.asked("thread/resume"), [{ threadId: "th-1", after: 3 }]);
});

function isKind(error: unknown, kind: string): true {
  assert.ok(error instanceof RopewalkError, String(error));
  assert.equal(error.kind, kind);
  return true;
}
