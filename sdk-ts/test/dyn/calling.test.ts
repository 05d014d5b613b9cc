// DYN-10 to DYN-17: calls of tools, from the model to the handler and back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ToolError, tool } from "../../src/index.js";
import { attached, callsOf, onDaemon, textOf, worker } from "../support/clients.js";
import { Model } from "../support/model.js";
import { call } from "../support/shapes.js";

test("dyn_10_success_has_at_least_one_content_item_and_the_model_sees_it", async (context) => {
  const { rope } = await onDaemon(context);
  const tools = [
    worker("some", () => ({ content: "here", structured: { a: 1 } })),
    worker("none", () => ({ content: [] })),
  ];
  const thread = await rope.threads.start({ tools });
  assert.equal((await thread.run("call some {}")).text, "some: here");
  assert.equal((await thread.run("call none {}")).text, "none: Done.");
  for (const item of await callsOf(thread, rope)) assert.equal(item.state, "completed");
});

test("dyn_10_a_content_the_wire_does_not_know_fails_the_call_as_an_invalid_result", async (context) => {
  const { rope } = await onDaemon(context);
  const odd = worker("odd", () => ({ content: [{ type: "video", data: "" }] as never }));
  const thread = await rope.threads.start({ tools: [odd] });
  await thread.run("call odd {}");
  const [item] = await callsOf(thread, rope);
  assert.deepEqual([item.state, item.error.code], ["failed", "invalid_result"]);
});

test("dyn_11_structured_content_reaches_clients_and_never_the_model", async (context) => {
  const { rope } = await onDaemon(context);
  const model = await Model.start(context, [{ call: "look", args: {} }]);
  await rope.call("endpoint/set", model.endpoint);
  const marker = "planted-4711";
  const look = worker("look", () => ({ content: "seen", structured: { marker } }));
  const thread = await rope.threads.start({ tools: [look] });
  await thread.run("look");
  const [item] = await callsOf(thread, rope);
  assert.deepEqual(item.structuredContent, { marker });
  assert.equal(model.requests.length, 2);
  assert.ok(JSON.stringify(model.requests[1]).includes("seen"));
  assert.ok(!JSON.stringify(model.requests).includes(marker));
});

test("dyn_12_a_failure_has_a_code_and_a_message_whatever_was_thrown", async (context) => {
  const thrown: unknown[] = [new Error(""), undefined, null, 7, { code: "x" }, new ToolError("", "")];
  const failing = tool({
    name: "failing",
    description: "Fail.",
    input: { type: "object", properties: { nth: { type: "integer" } }, required: ["nth"] },
    run: ({ nth }) => {
      throw thrown[nth];
    },
  });
  const { fake } = await attached(context, [failing]);
  for (const nth of thrown.keys()) {
    const answer = await fake.ask("tool/call", call(`int-${nth}`, "failing", { nth }));
    assert.equal(answer.success, false);
    assert.equal(answer.errorCode, "AdapterToolCallFailed");
    assert.ok(answer.errorMessage.length > 0, JSON.stringify(answer));
  }
});

test("dyn_13_a_tool_without_handler_is_unsupported", async (context) => {
  const { fake } = await attached(context, [worker("a", () => "")]);
  for (const params of [
    call("int-1", "other"),
    call("int-2", "a", {}, { namespace: "tracker" }),
    call("int-3", "a", {}, { threadId: "th-9" }),
  ]) {
    const answer = await fake.ask("tool/call", params);
    assert.deepEqual([answer.success, answer.errorCode], [false, "UnsupportedTool"]);
  }
});

for (const [how, run] of [
  [
    "throws",
    () => {
      throw new Error("boom");
    },
  ],
  ["rejects", () => Promise.reject(new Error("boom"))],
  [
    "rejects_later",
    () =>
      new Promise((_, reject) =>
        setImmediate(() => {
          reject(new Error("boom"));
        }),
      ),
  ],
] as const) {
  test(`dyn_14_a_handler_that_${how}_fails_one_call_and_the_process_goes_on`, async (context) => {
    const { rope } = await onDaemon(context);
    const thread = await rope.threads.start({ tools: [worker("bad", run), worker("good", () => "fine")] });
    await thread.run("call bad {}");
    const [item] = await callsOf(thread, rope);
    assert.deepEqual([item.state, item.error.code], ["failed", "AdapterToolCallFailed"]);
    assert.match(item.error.message, /boom/);
    assert.equal((await thread.run("call good {}")).text, "good: fine");
  });
}

test("dyn_14_an_error_is_told_with_its_causes_and_may_have_a_code", async (context) => {
  const { fake } = await attached(context, [
    worker("caused", () => {
      throw new Error("The tracker is away", { cause: new Error("connection refused") });
    }),
    worker("coded", () => {
      throw new ToolError("There is no issue 9.", "not_found");
    }),
  ]);
  const caused = await fake.ask("tool/call", call("int-1", "caused"));
  assert.equal(caused.errorMessage, "The tracker is away: connection refused");
  const coded = await fake.ask("tool/call", call("int-2", "coded"));
  assert.deepEqual(coded, { success: false, errorCode: "not_found", errorMessage: "There is no issue 9." });
});

test("dyn_16_a_handler_knows_its_call", async (context) => {
  const { rope } = await onDaemon(context);
  const seen: any[] = [];
  const work = tool({
    namespace: "my",
    name: "work",
    description: "Work.",
    input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
    run: (args, cx) => (seen.push({ args, cx }), "done"),
  });
  const thread = await rope.threads.start({ tools: [work] });
  const result = await thread.run('call my__work {"id":"7"}');
  const [item] = await callsOf(thread, rope);
  const [{ args, cx }] = seen;
  assert.deepEqual(args, { id: "7" });
  assert.deepEqual([cx.threadId, cx.runId, cx.callId], [thread.id, result.runId, item.callId]);
  assert.deepEqual([cx.namespace, cx.tool, cx.interactionId], ["my", "work", item.interactionId]);
});

test("dyn_17_bad_arguments_never_reach_the_handler_and_the_model_is_told_property_and_reason", async (context) => {
  const { rope } = await onDaemon(context);
  let calls = 0;
  const work = tool({
    name: "work",
    description: "Work.",
    input: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
    run: () => ((calls += 1), "done"),
  });
  const thread = await rope.threads.start({ tools: [work] });
  const result = await thread.run('call work {"count":"many"}');
  assert.equal(calls, 0);
  assert.match(result.text, /count/);
  const [item] = await callsOf(thread, rope);
  assert.equal(item.error.code, "invalid_arguments");
});

test("a_result_no_message_can_carry_is_refused_here_with_its_size", async (context) => {
  const { fake } = await attached(context, [worker("big", () => "x".repeat(17_000_000))]);
  const answer = await fake.ask("tool/call", call("int-1", "big"));
  assert.equal(answer.errorCode, "result_too_large");
  assert.match(answer.errorMessage, /17000/);
});

test("k17_a_second_offer_joins_the_work_and_a_third_repeats_its_result", async (context) => {
  let [calls, go] = [0, (): void => undefined];
  const gate = new Promise<void>((resolve) => (go = resolve));
  const { fake } = await attached(context, [worker("work", async () => ((calls += 1), await gate, `run ${calls}`))]);
  const first = fake.ask("tool/call", call("int-1", "work"));
  const second = fake.ask("tool/call", call("int-1", "work", {}, { attempt: 2 }));
  await fake.fence();
  go();
  assert.deepEqual([textOf(await first), textOf(await second)], ["run 1", "run 1"]);
  assert.equal(textOf(await fake.ask("tool/call", call("int-1", "work", {}, { attempt: 3 }))), "run 1");
  assert.equal(calls, 1);
});
