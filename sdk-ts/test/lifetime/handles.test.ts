// X04 and X06 (K45): nothing is held for what is over: no listener, no timer, no stream.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { RopewalkError } from "../../src/index.js";
import { attached, connected } from "../support/clients.js";
import { completed, submitted } from "../support/shapes.js";
import { within } from "../support/waiting.js";

test("x04_a_run_is_over_at_its_last_event_and_a_thousand_of_them_hold_nothing", async (context) => {
  const { fake, thread } = await attached(context);
  let [runs, seq] = [0, 3];
  fake.reply("run/submit", () => {
    runs += 1;
    setImmediate(() => {
      seq += 1;
      fake.event("th-1", seq, completed(`run-${runs}`, { status: "completed", text: "hi" }));
    });
    return submitted(`run-${runs}`);
  });
  assert.equal((await thread.run("hello")).text, "hi");
  const before = process.getActiveResourcesInfo().length;
  for (let count = 0; count < 1_000; count += 1) assert.equal((await thread.run("hello")).text, "hi");
  assert.ok(process.getActiveResourcesInfo().length <= before, process.getActiveResourcesInfo().join());
});

test("x06_a_signal_has_no_listener_left_after_two_thousand_calls_and_no_warning_is_given", async (context) => {
  const { fake, rope } = await connected(context);
  fake.reply("thread/list", () => ({ items: [] }));
  const warnings: Error[] = [];
  const warn = (warning: Error): number => warnings.push(warning);
  process.on("warning", warn);
  context.after(() => process.off("warning", warn));
  const control = new AbortController();
  const { signal } = control;
  const listeners = (): number => getEventListeners(signal, "abort").length;
  for (let round = 0; round < 50; round += 1) {
    const calls = Array.from({ length: 40 }, () => rope.threads.list({}, { signal }));
    assert.ok(listeners() <= 1);
    await within("the answers", Promise.all(calls));
  }
  assert.equal(listeners(), 0);
  control.abort();
  assert.deepEqual(warnings, []);
});

test("x06_a_signal_that_has_fired_keeps_a_call_from_being_sent", async (context) => {
  const { fake, rope } = await connected(context);
  const call = rope.threads.list({}, { signal: AbortSignal.abort(new Error("enough")) });
  await assert.rejects(call, (error) => isAborted(error, "enough"));
  await fake.fence();
  assert.deepEqual(fake.asked("thread/list"), []);
});

test("x06_a_signal_that_fires_ends_the_wait_of_a_call_of_a_stream_and_of_a_run_and_nothing_else", async (context) => {
  const { fake, rope, thread } = await attached(context);
  const control = new AbortController();
  const { signal } = control;
  const waits = [
    rope.threads.list({}, { signal }),
    thread.events({ signal }).next(),
    thread.run("hello", { signal }).result(),
  ];
  await fake.next();
  control.abort(new Error("enough"));
  for (const end of await within("the ends", Promise.allSettled(waits))) {
    assert.ok(end.status === "rejected" && isAborted(end.reason, "enough"));
  }
  assert.equal(getEventListeners(signal, "abort").length, 0);
  await fake.fence();
  assert.deepEqual(fake.asked("run/stop"), []);
  assert.equal(rope.isConnected, true);
});

test("k45_closing_a_thread_ends_its_streams_and_forgets_its_handlers", async (context) => {
  const { fake, thread } = await attached(context);
  fake.reply("thread/unsubscribe", () => ({}));
  const next = thread.events().next();
  await thread.close();
  assert.equal((await within("the end", next)).done, true);
  assert.deepEqual(fake.asked("thread/unsubscribe"), [{ threadId: "th-1" }]);
});

test("k45_closing_fails_what_waits_ends_streams_and_may_be_done_twice", async (context) => {
  const { fake, rope, thread } = await attached(context);
  const next = thread.events().next();
  const waiting = assert.rejects(
    rope.daemon.status(),
    (error) => error instanceof RopewalkError && error.is("disconnected"),
  );
  await fake.next();
  await Promise.all([rope.close(), rope.close()]);
  await waiting;
  assert.equal((await next).done, true);
  await assert.rejects(rope.daemon.status(), (error) => error instanceof RopewalkError && error.is("disconnected"));
  await fake.closed;
});

test("x21_a_call_that_is_not_answered_ends_at_its_deadline_names_the_method_and_the_client_goes_on", async (context) => {
  const { fake, rope } = await connected(context, { callTimeoutMs: 200 });
  const silent = rope.daemon.status();
  await assert.rejects(
    silent,
    (error) => error instanceof RopewalkError && error.is("noAnswer") && error.message.includes("daemon/status"),
  );
  (await fake.next()).answer({});
  fake.reply("thread/list", () => ({ items: [] }));
  assert.deepEqual((await rope.threads.list()).items, []);
});

function isAborted(error: unknown, reason: string): boolean {
  assert.ok(error instanceof RopewalkError && error.is("aborted"), String(error));
  assert.equal((error.cause as Error).message, reason);
  return true;
}
