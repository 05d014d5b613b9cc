// DYN-30 to DYN-34 and DYN-39: what waits for somebody, how it ends, and who is told.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RopewalkError, type Thread } from "../../src/index.js";
import { attached, callsOf, connect, onDaemon, worker } from "../support/clients.js";
import { call } from "../support/shapes.js";
import { Inbox, latch, until, within } from "../support/waiting.js";

const ask = 'call ask_user {"questions":[{"id":"q","text":"Which?","options":[{"label":"A"},{"label":"B"}]}]}';
const everyone = { approval: "ask" } as const;

test("dyn_30_open_calls_approvals_and_questions_survive_a_kill_and_nobody_is_asked_twice", async (context) => {
  const go = latch();
  const counts = { work: 0, approval: 0, question: 0 };
  const { daemon, rope } = await onDaemon(context, {
    onApproval: async () => ((counts.approval += 1), await go.done, "accept" as const),
    onInput: async () => ((counts.question += 1), await go.done, "dismissed" as const),
  });
  const work = worker("work", async () => ((counts.work += 1), await go.done, "done"));
  const asks = worker("asks", () => "allowed", everyone);
  const prompts = ["call work {}", "call asks {}", ask].flatMap((prompt) => Array<string>(4).fill(prompt));
  const results = [];
  for (const prompt of prompts) {
    const thread = await rope.threads.start({ tools: [work, asks] });
    results.push(thread.run(prompt).then(({ outcome }) => outcome.status));
  }
  await until("everybody to be asked", () => counts.work + counts.approval + counts.question === prompts.length);
  await daemon.restart();
  const { items } = await rope.call("interaction/list", {});
  assert.equal(items.length, prompts.length);
  go.open();
  assert.deepEqual(new Set(await within("the results", Promise.all(results))), new Set(["completed"]));
  assert.deepEqual(counts, { work: 4, approval: 4, question: 4 });
});

test("dyn_31_the_endings_of_an_approval_differ_in_what_the_model_is_told_and_in_the_record", async (context) => {
  const { daemon, rope: owner } = await onDaemon(context);
  await owner.call("settings/update", { approvalMs: 1_000, approverGraceMs: 0 });
  const silent = (_: unknown, { signal }: { signal: AbortSignal }): Promise<undefined> =>
    until("the end", () => signal.aborted).then(() => undefined);
  const ways = { answered: () => "accept", declined: () => "decline", expired: silent, undeliverable: undefined };
  const told: Record<string, string> = {};
  for (const [way, onApproval] of Object.entries(ways)) {
    const options = { socket: daemon.socket, client: { name: way }, ...(onApproval ? { onApproval } : {}) };
    const rope = await connect(context, options as never);
    const thread = await rope.threads.start({ tools: [worker("work", () => "done", everyone)] });
    told[way] = (await thread.run("call work {}")).text;
    const outcomes = (await eventsOf(thread, rope)).filter(({ type }) => type === "interactionSettled");
    assert.equal(outcomes[0].outcome, way);
    const [item] = await callsOf(thread, rope);
    assert.equal(item.state, { answered: "completed", declined: "refused" }[way] ?? way);
    await rope.close();
  }
  assert.equal(new Set(Object.values(told)).size, 4, JSON.stringify(told));
});

test("dyn_32_of_two_answers_one_wins_and_the_other_is_told_who_and_when_and_what", async (context) => {
  const { daemon, rope } = await onDaemon(context, { onApproval: () => undefined, client: { name: "one" } });
  const other = await connect(context, { socket: daemon.socket, onApproval: () => undefined, client: { name: "two" } });
  const thread = await rope.threads.start({ tools: [worker("work", () => "done", everyone)] });
  for (let round = 0; round < 20; round += 1) {
    const running = thread.run("call work {}", { unattended: "wait" });
    const result = running.then(({ outcome }) => outcome.status);
    await until("the approval", async () => (await rope.interactions.list({ threadId: thread.id })).items.length === 1);
    const [open] = (await rope.interactions.list({ threadId: thread.id })).items;
    const interactionId = open?.interactionId ?? "";
    const answers = [rope, other].map((one, index) =>
      one.interactions.settle({ interactionId, answer: { decision: index === 0 ? "accept" : "decline" } }),
    );
    const ends = await Promise.allSettled(answers);
    const [lost, ...more] = ends.filter((end) => end.status === "rejected");
    assert.ok(lost && more.length === 0);
    assert.ok(lost.reason instanceof RopewalkError && lost.reason.is("alreadySettled"), String(lost.reason));
    const { by, at, outcome } = lost.reason.data;
    assert.ok(["one", "two"].includes(by.clientName ?? "") && at !== "" && ["answered", "declined"].includes(outcome));
    assert.equal(await within("the result", result), "completed");
  }
});

for (const [how, end] of Object.entries({
  a_stop: async (thread: Thread, rope: any) => rope.call("run/stop", { threadId: thread.id }),
  silence: async () => undefined,
})) {
  test(`dyn_33_${how}_reaches_the_handler_as_a_cancellation`, async (context) => {
    const [begun, ended] = [latch<AbortSignal>(), latch()];
    const work = worker(
      "work",
      async (_: unknown, { signal }: { signal: AbortSignal }) => {
        begun.open(signal);
        signal.addEventListener("abort", () => ended.open());
        await ended.done;
        return "too late";
      },
      { timeoutMs: 1_000 },
    );
    const { rope } = await onDaemon(context);
    const thread = await rope.threads.start({ tools: [work] });
    const result = thread.run("call work {}").then(({ outcome }) => outcome.status);
    assert.equal((await within("the handler", begun.done)).aborted, false);
    await end(thread, rope);
    await within("the signal", ended.done);
    assert.equal(await within("the result", result), how === "silence" ? "completed" : "stopped");
    const [item] = await callsOf(thread, rope);
    assert.equal(item.error.code, how === "silence" ? "timeout" : "cancelled");
  });
}

test("dyn_33_a_call_that_was_settled_is_not_answered_any_more", async (context) => {
  const begun = new Inbox<AbortSignal>();
  const work = worker("work", async (_: unknown, { signal }: { signal: AbortSignal }) => {
    begun.put(signal);
    await until("the signal", () => signal.aborted);
    return "too late";
  });
  const { fake } = await attached(context, [work]);
  const pending = fake.begin("tool/call", call("int-1", "work"));
  const signal = await begun.next("the handler");
  fake.settle("int-1", "cancelled");
  assert.ok((await pending).error, "it is no result");
  assert.equal(signal.aborted, true);
});

test("dyn_34_progress_is_told_and_bounded", async (context) => {
  const work = worker("work", (_: unknown, { progress }: { progress: (text: string, part?: number) => void }) => {
    progress("é".repeat(600), 1.5);
    progress("dropped, as it comes too soon");
    return "done";
  });
  const { fake } = await attached(context, [work]);
  await fake.ask("tool/call", call("int-1", "work"));
  const { method, params } = await fake.notice();
  assert.equal(method, "tool/progress");
  assert.deepEqual([params.interactionId, params.message.length, params.fraction], ["int-1", 500, 1]);
});

test("dyn_34_progress_resets_the_silence_and_a_silent_call_ends", async (context) => {
  const { rope } = await onDaemon(context);
  const silences = latch();
  const limits = { timeoutMs: 3_000 };
  const silent = worker("silent", (_: unknown, { signal }: any) => until("the end", () => signal.aborted), limits);
  const lively = worker("lively", (_: unknown, { progress }: any) => living(progress, silences.done), limits);
  const [one, other] = [await rope.threads.start({ tools: [silent] }), await rope.threads.start({ tools: [lively] })];
  const result = other.run("call lively {}").then(({ text }) => text);
  // Twice as long as anybody may be silent.
  await one.run("call silent {}\ncall silent {}");
  silences.open();
  assert.equal(await within("the lively one", result), "lively: alive");
  for (const item of await callsOf(one, rope)) assert.equal(item.error.code, "timeout");
});

for (const [phase, prompt] of Object.entries({
  text: "say a b c\nsleep 600000",
  handler: "call work {}",
  approval: "call asks {}",
  question: ask,
})) {
  test(`dyn_39_a_stop_leaves_nothing_open_${phase}`, async (context) => {
    const at = new Inbox<string>();
    const hold = (name: string, signal: AbortSignal): Promise<undefined> => {
      at.put(name);
      return until("the end", () => signal.aborted).then(() => undefined);
    };
    const { rope } = await onDaemon(context, {
      onApproval: (_, { signal }) => hold("approval", signal),
      onInput: (_, { signal }) => hold("question", signal),
    });
    const work = worker("work", (_: unknown, { signal }: any) => hold("handler", signal));
    const thread = await rope.threads.start({ tools: [work, worker("asks", () => "", everyone)] });
    const run = thread.run(prompt);
    for await (const event of run) {
      const reached = phase === "text" ? event.type === "text" : event.type === "interactionOpened";
      if (reached) break;
    }
    if (phase !== "text") assert.equal(await at.next("the phase"), phase);
    await run.stop();
    assert.equal((await within("the result", run)).outcome.status, "stopped");
    assert.deepEqual((await rope.interactions.list({})).items, []);
    const open = new Set<string>();
    for (const event of await eventsOf(thread, rope)) {
      if (event.type === "itemStarted") open.add(event.item.itemId);
      if (event.type === "itemCompleted") open.delete(event.item.itemId);
    }
    assert.equal(open.size, 0);
  });
}

async function eventsOf(thread: Thread, rope: any): Promise<any[]> {
  const { events } = await rope.call("thread/events", { threadId: thread.id, after: 0, limit: 1_000 });
  return events.map(({ event }: { event: unknown }) => event);
}

/** Shows life until it may end. */
async function living(progress: (text: string) => void, end: Promise<void>): Promise<string> {
  let ended = false;
  void end.then(() => (ended = true));
  await until("the end of the silence", () => {
    progress("still here");
    return ended;
  });
  return "alive";
}
