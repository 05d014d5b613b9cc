// Whatever code of the application does, it ends as the answer to one request: no unhandled rejection, no neighbour harmed.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { tool, ToolError } from "../../dist/index.js";
import { client, soon, toolCall, until } from "./support.mjs";

const unhandled = [];
process.on("unhandledRejection", (error) => unhandled.push(error));
after(() => assert.deepEqual(unhandled, []));

/** What a call comes to whose handler does that. */
async function outcome(run, warnings = []) {
  const { rope, wire } = await client({ onWarning: (warning) => warnings.push(warning) });
  await soon(rope.threads.start({ tools: [tool({ name: "work", description: "W.", run })] }));
  const { result } = await wire().ask("tool/call", toolCall("i-1"));
  await soon(rope.close());
  return result;
}

const text = (result) => result.contentItems.map((part) => part.text);

test("x09 k46 what a handler returns becomes a result by one rule", async () => {
  for (const [returned, content, structured] of [
    ["words", ["words"], undefined],
    ["", [""], undefined],
    [0, ["0"], 0],
    [false, ["false"], false],
    [null, ["null"], undefined],
    [{ a: 1 }, ['{"a":1}'], { a: 1 }],
    [[1, "b"], ['[1,"b"]'], [1, "b"]],
    [new Date(0), ["1970-01-01T00:00:00.000Z"], undefined],
    [{ content: "told", structured: { b: 2 } }, ["told"], { b: 2 }],
    [{ content: [], structured: 5 }, ["Done."], 5],
    [{ structured: { b: 2 } }, ["Done."], { b: 2 }],
    [{ content: [{ type: "text", text: "part" }] }, ["part"], undefined],
    [{ content: "told", more: 1 }, ['{"content":"told","more":1}'], { content: "told", more: 1 }],
    [{ then: 5 }, ['{"then":5}'], { then: 5 }],
  ]) {
    const result = await outcome(() => returned);
    assert.equal(result.success, true, JSON.stringify(returned));
    assert.deepEqual(text(result), content);
    assert.deepEqual(result.structuredContent, structured);
  }
});

test("x09 k46 what is no result is an error that names the tool and what was returned", async () => {
  const cyclic = {};
  cyclic.self = cyclic;
  for (const [returned, pattern] of [
    [undefined, /handler of work returned undefined\. Return a string, JSON, or \{content, structured\}/],
    [NaN, /the number NaN/],
    [{ deep: [Infinity] }, /the number Infinity/],
    [new Map([[1, 2]]), /a Map/],
    [{ set: new Set() }, /a Set/],
    [() => 1, /a function/],
    [Symbol("s"), /a symbol/],
    [10n, /a bigint/],
    [cyclic, /circular/],
    [{ content: "x", structured: new Map() }, /a Map/],
  ]) {
    const result = await outcome(() => returned);
    assert.equal(result.success, false);
    assert.equal(result.errorCode, "AdapterToolCallFailed");
    assert.match(result.errorMessage, pattern);
  }
});

test("dyn_12 dyn_14 whatever is thrown or rejected is that call's failure", async () => {
  const hostile = new Error("x");
  Object.defineProperty(hostile, "message", {
    get: () => {
      throw new Error("in a getter");
    },
  });
  const thenable = {
    then: () => {
      throw new Error("in then");
    },
  };
  for (const [run, code, pattern] of [
    [
      () => {
        throw new Error("plain");
      },
      "AdapterToolCallFailed",
      /^plain$/,
    ],
    [
      async () => {
        throw new Error("outer", { cause: new Error("inner") });
      },
      "AdapterToolCallFailed",
      /^outer: inner$/,
    ],
    [() => Promise.reject("a string"), "AdapterToolCallFailed", /^a string$/],
    [() => Promise.reject(undefined), "AdapterToolCallFailed", /^undefined$/],
    [
      () => {
        throw null;
      },
      "AdapterToolCallFailed",
      /^null$/,
    ],
    [
      () => {
        throw { code: 5 };
      },
      "AdapterToolCallFailed",
      /\{"code":5\}/,
    ],
    [
      () => {
        throw Symbol("s");
      },
      "AdapterToolCallFailed",
      /Symbol\(s\)/,
    ],
    [
      () => {
        throw hostile;
      },
      "AdapterToolCallFailed",
      /cannot be described/,
    ],
    [() => thenable, "AdapterToolCallFailed", /in then/],
    [
      () => ({
        get a() {
          throw new Error("in toJSON");
        },
      }),
      "AdapterToolCallFailed",
      /in toJSON/,
    ],
    [
      () => {
        throw new ToolError("There is no issue 7.", "not_found");
      },
      "not_found",
      /^There is no issue 7\.$/,
    ],
    [
      () => {
        throw new ToolError("", "");
      },
      "AdapterToolCallFailed",
      /ToolError/,
    ],
    [
      () => {
        throw new Error("");
      },
      "AdapterToolCallFailed",
      /Error/,
    ],
  ]) {
    const result = await outcome(run);
    assert.equal(result.success, false);
    assert.equal(result.errorCode, code);
    assert.match(result.errorMessage, pattern);
  }
});

test("a result that no message can carry becomes a failure that says so", async () => {
  const result = await outcome(() => "x".repeat(16_777_216));
  assert.equal(result.errorCode, "result_too_large");
  assert.match(result.errorMessage, /16777/);
});

test("k46 one handler that fails leaves the others alone, and one that never settles too", async () => {
  const { rope, wire } = await client();
  const signals = [];
  const handlers = {
    throws: () => {
      throw new Error("no");
    },
    hangs: (_args, { signal }) => (signals.push(signal), new Promise(() => undefined)),
    works: () => "fine",
  };
  const tools = Object.entries(handlers).map(([name, run]) => tool({ name, description: "T.", run }));
  await soon(rope.threads.start({ tools }));
  wire().say({ id: 90, method: "tool/call", params: toolCall("i-1", "hangs") });
  assert.equal((await wire().ask("tool/call", toolCall("i-2", "throws"))).result.success, false);
  assert.equal((await wire().ask("tool/call", toolCall("i-3", "works"))).result.success, true);
  assert.equal(signals[0].aborted, false);
  wire().notify("interaction/settled", { interactionId: "i-1", outcome: "expired" });
  await until(() => signals[0].aborted);
  await until(() => wire().heard.some(({ id, error }) => id === 90 && error));
  await soon(rope.close());
});

test("dyn_33 handlers under way see the end of the client", async () => {
  const { rope, wire } = await client({
    onApproval: (_request, { signal }) => (signals.push(signal), new Promise(() => undefined)),
  });
  const signals = [];
  const hangs = (_args, { signal }) => (signals.push(signal), new Promise(() => undefined));
  await soon(rope.threads.start({ tools: [tool({ name: "work", description: "W.", run: hangs })] }));
  wire().say({ id: 91, method: "tool/call", params: toolCall("i-1") });
  wire().say({ id: 92, method: "approval/request", params: { interactionId: "i-2", threadId: "th-1" } });
  await until(() => signals.length === 2);
  await soon(rope.close());
  assert.ok(signals.every((signal) => signal.aborted));
  assert.equal(wire().heard.filter(({ id, method }) => id >= 90 && !method).length, 0);
});

const asked = { interactionId: "i-1", threadId: "th-1", runId: "run-1", callId: "c-1", attempt: 1 };

test("dyn_21 dyn_22 a decision is passed on as it is, and anything else is no decision", async () => {
  for (const [reply, result] of [
    ["accept", { decision: "accept" }],
    ["cancel", { decision: "cancel" }],
    [
      { decision: "decline", note: "not today" },
      { decision: "decline", note: "not today" },
    ],
    [undefined, undefined],
    [null, undefined],
    [true, undefined],
    ["yes", undefined],
    [{ decision: "sure" }, undefined],
  ]) {
    let calls = 0;
    const { rope, wire } = await client({ onApproval: () => ((calls += 1), reply) });
    const answer = await wire().ask("approval/request", asked);
    assert.deepEqual(answer.result, result);
    if (result === undefined) assert.equal(answer.error.data.kind, "cancelled");
    assert.equal(calls, 1);
    await soon(rope.close());
  }
});

test("dyn_25 a handler that throws has decided nothing, and the application is told", async () => {
  const { rope, wire, warnings } = await client({
    onApproval: () => {
      throw new Error("no terminal");
    },
    onInput: () => Promise.reject(new Error("no window")),
  });
  const approval = await wire().ask("approval/request", asked);
  const input = await wire().ask("input/request", { ...asked, interactionId: "i-2", questions: [] });
  for (const { error } of [approval, input]) assert.equal(error.data.reason, "no_answer");
  await until(() => warnings.length === 2);
  assert.deepEqual(
    warnings.map(({ what }) => what),
    ["onApproval", "onInput"],
  );
  assert.match(warnings[0].message, /no terminal/);
  await soon(rope.close());
});

test("dyn_27 answers to questions are passed on", async () => {
  for (const [reply, result] of [
    [{ answers: { env: { selected: [0] } } }, { answers: { env: { selected: [0] } } }],
    ["dismissed", { dismissed: true }],
    ["declined", { declined: true }],
    ["whatever", undefined],
  ]) {
    const { rope, wire } = await client({ onInput: () => reply });
    assert.deepEqual((await wire().ask("input/request", { ...asked, questions: [] })).result, result);
    await soon(rope.close());
  }
});

test("a client without a handler says that it is not the one to ask", async () => {
  const { rope, wire } = await client();
  assert.equal((await wire().ask("approval/request", asked)).error.data.kind, "methodNotFound");
  assert.equal((await wire().ask("input/request", asked)).error.data.kind, "methodNotFound");
  assert.equal((await wire().ask("future/request", {})).error.data.kind, "methodNotFound");
  await soon(rope.close());
});

test("a refused answer is asked for once more, by calling the handler again", async () => {
  let calls = 0;
  const { rope, wire, warnings } = await client({ onInput: () => ({ answers: { [`q${(calls += 1)}`]: {} } }) });
  await wire().ask("input/request", { ...asked, questions: [] });
  wire().notify("interaction/invalidAnswer", { interactionId: "i-1", path: "/answers/q1", reason: "unknown_question" });
  const { result } = await wire().ask("input/request", { ...asked, attempt: 2, questions: [] });
  assert.deepEqual(result, { answers: { q2: {} } });
  assert.match(warnings[0].message, /unknown_question/);
  await soon(rope.close());
});

test("x07 listeners that throw, warnings too, change nothing", async () => {
  const seen = [];
  const { rope, wire } = await client({
    onChange: () => {
      throw new Error("in onChange");
    },
    onWarning: (warning) => {
      seen.push(warning.message);
      throw new Error("in onWarning");
    },
  });
  wire().notify("data/changed", { seq: 1, kinds: ["run"] });
  wire().notify("data/changed", { kinds: 1 });
  wire().notify("thread/event", { threadId: 5 });
  wire().notify("of/tomorrow", { a: 1 });
  await until(() => seen.length === 3);
  assert.ok(seen.some((message) => message.includes("in onChange")));
  assert.equal(rope.isConnected, true);
  await soon(rope.close());
});

test("dyn_34 progress is cut to what the wire takes, and dropped when it comes too fast", async () => {
  const { rope, wire } = await client();
  let context;
  const run = (_args, it) => {
    context = it;
    for (let at = 0; at < 1_000; at += 1) it.progress("x".repeat(600), 7);
    it.progress(undefined, NaN);
    return "done";
  };
  await soon(rope.threads.start({ tools: [tool({ name: "work", description: "W.", run })] }));
  await wire().ask("tool/call", toolCall("i-1"));
  const sent = wire().heard.filter(({ method }) => method === "tool/progress");
  assert.ok(sent.length >= 1 && sent.length < 100);
  assert.deepEqual(sent[0].params, { interactionId: "i-1", message: "x".repeat(500), fraction: 1 });
  await soon(rope.close());
  context.progress("too late");
});
