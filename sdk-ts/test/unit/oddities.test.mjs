// Values nobody expects, from handlers, callers and daemons: each is an error of its own place, and none ends the process.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Ropewalk, tool, ToolError } from "../../dist/index.js";
import { client, pipe, rejects, soon, toolCall, Wire, obliging } from "./support.mjs";

const unhandled = [];
process.on("unhandledRejection", (error) => unhandled.push(error));
after(() => assert.deepEqual(unhandled, []));

const said = (message) => Object.assign(new Error("x"), { message });

/** What the calls come to whose handlers throw or return these. */
async function outcomes(handlers) {
  const { rope, wire } = await client();
  const tools = handlers.map((run, at) => tool({ name: `t${at}`, description: "T.", run }));
  await soon(rope.threads.start({ tools }));
  const calls = handlers.map((_run, at) => wire().ask("tool/call", { ...toolCall(`i-${at}`), tool: `t${at}` }));
  const answers = await Promise.all(calls);
  await soon(rope.close());
  return answers.map(({ result }) => result);
}

test("dyn_14 whatever an error says of itself, the failure is text that the daemon takes", async () => {
  const thrown = [
    [said({ a: 1 }), '{"a":1}'],
    [said(5), "5"],
    [said(Symbol("s")), "Symbol(s)"],
    [new Error("cut \ud83d"), "cut \ufffd"],
    [new AggregateError([new Error("no IPv6"), new Error("no IPv4")]), "no IPv6; no IPv4"],
    [new ToolError("long", "c".repeat(129)), "long"],
    [new ToolError("half", "\ud83d"), "half"],
  ];
  const results = await outcomes(
    thrown.map(([error]) => () => {
      throw error;
    }),
  );
  const expected = thrown.map(([, errorMessage]) => ({
    success: false,
    errorCode: "AdapterToolCallFailed",
    errorMessage,
  }));
  assert.deepEqual(results, expected);
});

test("a result that is no JSON is not called too large", async () => {
  const [result] = await outcomes([() => ({ content: [{ type: "text", text: 5n }] })]);
  assert.equal(result.errorCode, "AdapterToolCallFailed");
  assert.match(result.errorMessage, /cannot be written as JSON/);
});

test("dyn_34 progress holds no half of a character", async () => {
  const { rope, wire } = await client();
  const run = (_args, { progress }) => {
    progress("cut \ud83d");
    return "done";
  };
  await soon(rope.threads.start({ tools: [tool({ name: "work", description: "W.", run })] }));
  await wire().ask("tool/call", toolCall("i-1"));
  assert.equal((await wire().next("tool/progress")).params.message, "cut \ufffd");
  await soon(rope.close());
});

test("dyn_25 an answer that cannot even be named is no decision", async () => {
  const unnamed = new Proxy(
    {},
    {
      getPrototypeOf: () => {
        throw new Error("in a proxy");
      },
    },
  );
  const { rope, wire, warnings } = await client({ onApproval: () => unnamed });
  const { error } = await wire().ask("approval/request", { interactionId: "i-1", threadId: "th-1" });
  assert.equal(error.data.reason, "no_answer");
  assert.equal(warnings.length, 1);
  await soon(rope.close());
});

test("requests and notifications with values of other types are refused or passed over", async () => {
  const odd = { toString: 1, valueOf: 1 };
  const { rope, wire } = await client();
  await soon(rope.threads.start({ tools: [tool({ name: "work", description: "W.", run: () => "done" })] }));
  for (const params of [{ tool: odd }, { namespace: odd }, { deadlineAt: odd }]) {
    const { error } = await wire().ask("tool/call", { ...toolCall("i-1"), ...params });
    assert.equal(error.data.kind, "invalidParams");
  }
  wire().notify("interaction/invalidAnswer", { interactionId: "i-1", path: odd, reason: odd });
  assert.equal((await wire().ask("tool/call", toolCall("i-2"))).result.success, true);
  await soon(rope.close());
});

test("answers without what they are asked for cannot be read", async () => {
  for (const result of [null, 5, [], {}, { thread: null }, { thread: { threadId: "th-1" }, seq: 1, tools: 5 }]) {
    const answer = (request, wire) => wire.answer(request, result);
    const { rope } = await client({}, { "thread/start": answer, "thread/resume": answer });
    await rejects(rope.threads.start(), "unreadable");
    await rejects(rope.threads.resume("th-1"), "unreadable");
    await soon(rope.close());
  }
});

test("parameters that are no JSON are refused before anything is sent", async () => {
  const { rope } = await client();
  for (const params of [() => 1, Symbol("s"), 5n, { a: 5n }]) await rejects(rope.raw("x/y", params), "unreadable");
  await soon(rope.close());
});

test("what a dial gives is looked at, and a stream whose encoding was set is one", async () => {
  for (const given of [undefined, null, 5, {}])
    await rejects(
      Ropewalk.through(() => given),
      "dialFailed",
    );
  const [ours, theirs] = pipe();
  new Wire(theirs, obliging);
  const rope = await soon(Ropewalk.over(ours.setEncoding("utf8")));
  assert.equal(rope.isConnected, true);
  await soon(rope.close());
});
