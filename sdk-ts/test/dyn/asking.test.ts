// DYN-21 to DYN-28: approvals and questions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RopewalkError } from "../../src/index.js";
import { attached, callsOf, connect, connected, onDaemon, worker } from "../support/clients.js";
import { Fakes } from "../support/fake.js";
import { approval, questions } from "../support/shapes.js";
import { Inbox, until } from "../support/waiting.js";

const decisions = ["accept", "acceptForSession", "acceptAlways", "decline", "cancel"] as const;

test("dyn_21_the_handler_is_called_once_for_each_approval", async (context) => {
  const asked: unknown[] = [];
  const { rope } = await onDaemon(context, { onApproval: (request) => (asked.push(request.arguments), "accept") });
  const thread = await rope.threads.start({ tools: [worker("work", () => "done", { approval: "ask" })] });
  const result = await thread.run("call work {}\ncall work {}");
  assert.equal(result.text, "work: done\nwork: done");
  assert.deepEqual(asked, [{}, {}]);
});

test("dyn_21_a_second_offer_of_an_approval_joins_the_first", async (context) => {
  let calls = 0;
  const { fake } = await attached(context, [], { onApproval: () => ((calls += 1), "accept") });
  for (const id of ["int-1", "int-2", "int-1"]) {
    assert.deepEqual(await fake.ask("approval/request", approval(id)), { decision: "accept" });
  }
  assert.equal(calls, 2);
});

for (const decision of decisions) {
  test(`dyn_22_${decision}_has_its_effect`, async (context) => {
    let [asked, calls] = [0, 0];
    const { rope } = await onDaemon(context, { onApproval: () => ((asked += 1), decision) });
    const thread = await rope.threads.start({
      tools: [worker("work", () => ((calls += 1), "done"), { approval: "ask" })],
    });
    const first = await thread.run("call work {}\nthen say on");
    const second = await thread.run("call work {}\nthen say on");
    const other = await rope.threads.start({
      tools: [worker("work", () => ((calls += 1), "done"), { approval: "ask" })],
    });
    await other.run("call work {}\nthen say on");
    const expected = {
      accept: [3, 3],
      acceptForSession: [2, 3],
      acceptAlways: [1, 3],
      decline: [3, 0],
      cancel: [3, 0],
    };
    assert.deepEqual([asked, calls], expected[decision]);
    for (const result of [first, second]) {
      assert.equal(result.outcome.status, decision === "cancel" ? "stopped" : "completed");
    }
  });
}

test("dyn_22_an_answer_with_scope_and_note_crosses_the_wire_as_it_is", async (context) => {
  const answer = { decision: "decline", scope: "global", note: "Issue 9 is private." } as const;
  const { fake } = await attached(context, [], { onApproval: () => Promise.resolve(answer) });
  assert.deepEqual(await fake.ask("approval/request", approval("int-1")), answer);
});

test("dyn_23_the_signal_fires_when_somebody_else_answered_first", async (context) => {
  const told = new Inbox<boolean>();
  const { daemon, rope } = await onDaemon(context, { onApproval: (_, { signal }) => heard(signal, told) });
  const thread = await rope.threads.start({ tools: [worker("work", () => "done", { approval: "ask" })] });
  const running = thread.run("call work {}");
  const result = running.then((it) => it.text);
  assert.equal(await told.next("the question"), false);
  const desk = await connect(context, { socket: daemon.socket, client: { name: "desk" }, onApproval: () => undefined });
  const [open] = (await desk.call("interaction/list", { kind: "approval" })).items;
  await desk.call("interaction/settle", { interactionId: open?.interactionId ?? "", answer: { decision: "accept" } });
  assert.equal(await told.next("the signal"), true);
  assert.equal(await result, "work: done");
});

test("dyn_23_the_signal_fires_when_the_run_is_stopped", async (context) => {
  const told = new Inbox<boolean>();
  const { rope } = await onDaemon(context, { onApproval: (_, { signal }) => heard(signal, told) });
  const thread = await rope.threads.start({ tools: [worker("work", () => "done", { approval: "ask" })] });
  const running = thread.run("call work {}");
  const result = running.then((it) => it.outcome.status);
  assert.equal(await told.next("the question"), false);
  await rope.call("run/stop", { threadId: thread.id });
  assert.equal(await told.next("the signal"), true);
  assert.equal(await result, "stopped");
});

test("dyn_24_approvals_are_claimed_if_and_only_if_there_is_a_handler", async (context) => {
  const without = await connected(context);
  assert.deepEqual(claimed(without.fake.asked("initialize")), []);
  const fake = without.fakes.next();
  await connect(context, { socket: without.fakes.socket, onApproval: () => "accept" });
  assert.deepEqual(claimed(fake.asked("initialize")), ["approvals"]);
});

test("dyn_25_required_approvals_without_a_handler_fail_before_anything_is_sent", async (context) => {
  const fakes = await Fakes.listen(context);
  const fake = fakes.next();
  const connecting = connect(context, { socket: fakes.socket, requireApprovals: true });
  await assert.rejects(connecting, (error) => isMissing(error, "onApproval"));
  assert.equal(fake.requests, 0);
});

test("dyn_25_a_handler_that_throws_or_has_no_answer_decides_nothing", async (context) => {
  const replies: Record<string, () => unknown> = {
    throws: () => {
      throw new Error("boom");
    },
    rejects: () => Promise.reject(new Error("boom")),
    nothing: () => undefined,
    odd: () => "perhaps",
    number: () => 7,
  };
  const onApproval = ({ summary }: { summary: string }): never => replies[summary]?.() as never;
  const { fake } = await attached(context, [], { onApproval });
  for (const [index, summary] of Object.keys(replies).entries()) {
    const answer = await fake.begin("approval/request", approval(`int-${index}`, { summary }));
    assert.equal(answer.result, undefined);
    assert.ok(answer.error, summary);
  }
});

test("dyn_25_a_client_without_handlers_says_that_it_does_not_know_the_request", async (context) => {
  const { fake } = await attached(context);
  assert.equal((await fake.begin("approval/request", approval("int-1"))).error?.code, -32601);
  assert.equal((await fake.begin("input/request", questions("int-2"))).error?.code, -32601);
});

test("dyn_27_questions_are_answered_by_the_input_handler", async (context) => {
  const asked: string[] = [];
  const { rope } = await onDaemon(context, {
    onInput: ({ questions: [first] }) => {
      asked.push(first?.text ?? "");
      return { answers: { env: { selected: [1] }, when: { selected: [], other: "after 18:00" } } };
    },
  });
  const thread = await rope.threads.start();
  const ask = {
    questions: [
      { id: "env", text: "Where to?", options: [{ label: "staging" }, { label: "production" }] },
      { id: "when", text: "When?" },
    ],
  };
  const { text } = await thread.run(`call ask_user ${JSON.stringify(ask)}`);
  assert.deepEqual(asked, ["Where to?"]);
  assert.match(text, /production/);
  assert.match(text, /after 18:00/);
});

test("dyn_27_dismissed_and_declined_are_answers_too", async (context) => {
  const replies = { dismissed: "dismissed", declined: "declined", object: { dismissed: true } } as const;
  for (const [name, reply] of Object.entries(replies)) {
    const { fake } = await attached(context, [], { onInput: async () => reply });
    const expected = name === "declined" ? { declined: true } : { dismissed: true };
    assert.deepEqual(await fake.ask("input/request", questions("int-1")), expected);
  }
});

test("dyn_27_a_refused_answer_is_asked_for_anew", async (context) => {
  let calls = 0;
  const { fake } = await attached(context, [], {
    onInput: () => ((calls += 1), calls === 1 ? { answers: {} } : "dismissed"),
  });
  await fake.ask("input/request", questions("int-1"));
  fake.tell("interaction/invalidAnswer", { interactionId: "int-1", path: "/answers/q9", reason: "unknown_question" });
  assert.deepEqual(await fake.ask("input/request", questions("int-1")), { dismissed: true });
});

test("dyn_28_questions_follow_the_same_rule", async (context) => {
  const { fakes, fake } = await connected(context, { onInput: () => "dismissed" });
  assert.deepEqual(claimed(fake.asked("initialize")), ["input"]);
  const other = fakes.next();
  const connecting = connect(context, {
    socket: fakes.socket,
    onApproval: () => "accept",
    requireInput: true,
  } as never);
  await assert.rejects(connecting, (error) => isMissing(error, "onInput"));
  assert.equal(other.requests, 0);
});

test("a_person_who_declines_is_told_apart_in_the_record", async (context) => {
  const { rope } = await onDaemon(context, { onApproval: () => ({ decision: "decline", note: "It is private." }) });
  const thread = await rope.threads.start({ tools: [worker("work", () => "done", { approval: "ask" })] });
  assert.match((await thread.run("call work {}")).text, /It is private\./);
  const [item] = await callsOf(thread, rope);
  assert.deepEqual([item.state, item.decision.via, item.decision.decision], ["refused", "person", "decline"]);
});

/** Waits for the signal, and tells whether it had fired, before and after. */
async function heard(signal: AbortSignal, told: Inbox<boolean>): Promise<undefined> {
  told.put(signal.aborted);
  await until("the signal", () => signal.aborted);
  told.put(signal.aborted);
}

function claimed([first]: any[]): string[] {
  return Object.entries(first.capabilities)
    .filter(([, value]) => value === true)
    .map(([name]) => name);
}

function isMissing(error: unknown, option: string): true {
  assert.ok(error instanceof RopewalkError, String(error));
  assert.equal(error.kind, "missingHandler");
  assert.ok(error.message.includes(option), error.message);
  return true;
}
