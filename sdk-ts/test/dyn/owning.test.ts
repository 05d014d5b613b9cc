// DYN-35 to DYN-38: what a declaration may wish for, and who owns a tool.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConnectOptions, Ropewalk, RopewalkError, tool } from "../../src/index.js";
import { callsOf, connect, onDaemon, worker } from "../support/clients.js";
import type { Daemon } from "../support/daemon.js";
import { Proxy } from "../support/proxy.js";
import { Inbox, latch, until, within } from "../support/waiting.js";

test("dyn_35_annotations_schemas_timeout_and_title_are_shown_and_an_approval_wish_asks", async (context) => {
  let asked = 0;
  const { rope } = await onDaemon(context, { onApproval: () => ((asked += 1), "accept") });
  const wish = tool({
    name: "wish",
    description: "Work.",
    title: "A wish",
    outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    readOnly: true,
    destructive: false,
    idempotent: true,
    openWorld: false,
    timeoutMs: 5_000,
    approval: "ask",
    run: () => ({ content: "one", structured: { n: 1 } }),
  });
  const thread = await rope.threads.start({ tools: [wish] });
  assert.equal((await thread.run("call wish {}")).text, "wish: one");
  assert.equal(asked, 1);
  const shown: any = (await thread.tools({ schemas: true })).find(({ name }) => name === "wish");
  const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  assert.deepEqual(shown.annotations, annotations);
  assert.deepEqual([shown.title, shown.policy.timeoutMs], ["A wish", 5_000]);
});

test("dyn_35_structured_content_off_the_output_schema_fails_the_call", async (context) => {
  const { rope } = await onDaemon(context);
  const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const wrong = tool({
    name: "wrong",
    description: "Work.",
    outputSchema,
    run: () => ({ content: "x", structured: { n: "1" } }),
  });
  const thread = await rope.threads.start({ tools: [wrong] });
  await thread.run("call wrong {}");
  const [item] = await callsOf(thread, rope);
  assert.deepEqual([item.state, item.error.code], ["failed", "invalid_result"]);
});

test("dyn_36_each_of_two_clients_is_called_for_its_own_tools", async (context) => {
  const { daemon, rope } = await onDaemon(context);
  const thread = await rope.threads.start({ tools: [worker("mine", () => "from the first")] });
  const other = await connect(context, { socket: daemon.socket, client: { name: "desk" } });
  await other.threads.resume(thread.id, { tools: [worker("theirs", () => "from the second")] });
  assert.equal(
    (await thread.run("call mine {}\ncall theirs {}")).text,
    "mine: from the first\ntheirs: from the second",
  );
});

test("dyn_36_a_name_that_another_process_holds_needs_a_takeover_which_tells_the_loser", async (context) => {
  const warned = new Inbox<string>();
  const { daemon, rope } = await onDaemon(context, { onWarning: ({ message }) => warned.put(message) });
  const thread = await rope.threads.start({ tools: [worker("a", () => "from the first")] });
  const other = await connect(context, { socket: daemon.socket });
  const tools = [worker("a", () => "from the second")];
  const refused = other.threads.resume(thread.id, { tools });
  await assert.rejects(refused, (error) => error instanceof RopewalkError && error.is("conflict"));
  const taken = await other.threads.resume(thread.id, { tools, takeover: true });
  assert.equal((await taken.run("call a {}")).text, "a: from the second");
  const changes = [];
  for await (const { event } of thread.events({ after: 0 })) {
    if (event.type === "toolsChanged") changes.push(event.cause);
    if (event.type === "runCompleted") break;
  }
  assert.ok(changes.includes("takeover"), changes.join());
});

test("dyn_37_a_set_that_changes_between_two_steps_holds_from_the_next_one_on_with_its_revision", async (context) => {
  const { rope } = await onDaemon(context);
  const thread = await rope.threads.start();
  await thread.attach(
    worker("first", async () => {
      await thread.attach(worker("second", () => "came later"));
      return "attached";
    }),
  );
  const revisions = [];
  const run = thread.run("call first {}\nthen call second {}");
  const watching = thread.events({ after: 0 });
  assert.equal((await run).text, "first: attached\nsecond: came later");
  for await (const { event } of watching) {
    if (event.type === "toolsChanged") revisions.push(event.revision);
    if (event.type === "runCompleted") break;
  }
  assert.ok(revisions.length >= 2);
  assert.deepEqual(
    revisions,
    [...revisions].sort((one, other) => one - other),
  );
});

test("dyn_38_a_call_is_offered_again_to_the_instance_that_comes_back_within_the_grace", async (context) => {
  const bench = await interrupted(context, {});
  await bench.lose();
  const state = await bench.comesBack({ client: { name: "bot", instanceId: "in-A" } });
  assert.equal(state, "completed");
  assert.equal(bench.calls.length, 2);
});

test("dyn_38_a_call_that_may_be_repeated_goes_on_with_the_next_process_of_the_program", async (context) => {
  const bench = await interrupted(context, { idempotent: true });
  await bench.lose();
  const state = await bench.comesBack({ client: { name: "bot", instanceId: "in-B" } });
  assert.equal(state, "completed");
  assert.equal(bench.calls.length, 2);
});

test("dyn_38_a_call_with_an_effect_ends_as_outcome_unknown_when_its_owner_stays_away", async (context) => {
  const bench = await interrupted(context, {}, 0);
  await bench.lose();
  await until("the end of the run", async () => (await bench.item()).state !== "open");
  const { state, error } = await bench.item();
  assert.deepEqual([state, error.code], ["outcomeUnknown", "outcome_unknown"]);
  assert.equal(bench.calls.length, 1);
});

interface Interrupted {
  readonly calls: string[];
  /** The process that had the call is gone. */
  lose(): Promise<void>;
  /** Another one comes, and gives the state in which the call ends. */
  comesBack(options: ConnectOptions): Promise<string>;
  item(): Promise<any>;
}

/** A run whose call is open in a client that can be lost, seen by another client. */
async function interrupted(
  context: Parameters<typeof onDaemon>[0],
  more: object,
  ownerGraceMs?: number,
): Promise<Interrupted> {
  const { daemon, rope: desk } = await onDaemon(context, { client: { name: "desk" } });
  if (ownerGraceMs !== undefined) await desk.call("settings/update", { ownerGraceMs });
  const calls: string[] = [];
  const begun = latch();
  const bot = { name: "bot", instanceId: "in-A" };
  const { rope, cut } = await losable(context, daemon, { client: bot, reconnectForMs: 0 });
  const first = worker(
    "work",
    (_: unknown, { signal }: any) => (calls.push("first"), begun.open(), until("the end", () => signal.aborted)),
    more,
  );
  const { id } = await rope.threads.start({ tools: [first] });
  const seen = await desk.threads.resume(id);
  const run = seen.run("call work {}");
  const ended = run.then(({ outcome }) => outcome.status);
  await within("the call", begun.done);
  const comesBack = async (options: ConnectOptions): Promise<string> => {
    const next = await connect(context, { socket: daemon.socket, ...options });
    const second = worker("work", () => (calls.push("second"), "done"), more);
    await next.threads.resume(id, { tools: [second], takeover: true });
    return within(
      "the end of the run",
      ended.then(async () => (await item()).state),
    );
  };
  const item = async (): Promise<any> => (await openOrEnded(id, desk)).at(-1);
  return { calls, lose: cut, comesBack, item };
}

async function losable(
  context: Parameters<typeof onDaemon>[0],
  daemon: Daemon,
  options: ConnectOptions,
): Promise<{ rope: Ropewalk; cut: () => Promise<void> }> {
  const proxy = await Proxy.start(context, daemon.socket);
  const rope = await connect(context, { socket: proxy.socket, ...options });
  const cut = async (): Promise<void> => {
    proxy.cut();
    await until("the client to end", () => rope.connection.state === "closed");
  };
  return { rope, cut };
}

/** The calls of a thread as their newest events show them. */
async function openOrEnded(threadId: string, rope: Ropewalk): Promise<any[]> {
  const { events } = await rope.call("thread/events", { threadId, after: 0, limit: 1_000 });
  const items = new Map<string, unknown>();
  for (const { event } of events) {
    if ((event.type === "itemStarted" || event.type === "itemCompleted") && event.item.kind === "toolCall") {
      items.set(event.item.itemId, event.item);
    }
  }
  return [...items.values()];
}
