// One end of a connection: what it answers to wrong lines, and what becomes of its own requests.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Anchor } from "../../dist/base/anchor.js";
import { ConnectionLost, Peer } from "../../dist/peer/peer.js";
import { pipe, soon, until, Wire } from "./support.mjs";

function peer(request = () => undefined) {
  const [ours, theirs] = pipe();
  const heard = { notifications: [], closed: 0 };
  const service = {
    request,
    notification: (method, params) => heard.notifications.push([method, params]),
    closed: () => (heard.closed += 1),
  };
  const anchor = new Anchor();
  return { peer: new Peer(ours, service, anchor), wire: new Wire(theirs), heard, anchor };
}

test("wrong lines are answered and the connection goes on", async () => {
  const { peer: end, wire, heard } = peer();
  wire.send("no json\n");
  wire.send(Buffer.from([0x7b, 0xff, 0x7d, 0x0a]));
  wire.send('[]\n{"id":3,"method":"x"}\n{"jsonrpc":"2.0","id":4}\n{"jsonrpc":"2.0","id":1.5,"method":"x"}\n');
  wire.notify("still/here", { a: 1 });
  await until(() => heard.notifications.length === 1);
  await until(() => wire.heard.length === 6);
  const kinds = wire.heard.map(({ id, error }) => [id, error.data.kind]);
  const invalid = "invalidRequest";
  assert.deepEqual(kinds, [
    [null, "parse"],
    [null, "parse"],
    [null, invalid],
    [3, invalid],
    [4, invalid],
    [null, invalid],
  ]);
  assert.equal(end.isClosed, false);
});

test("ids are echoed as they came: strings, null, and integers that no JavaScript number holds", async () => {
  const [ours, theirs] = pipe();
  const service = { request: (_method, _params, responder) => responder.ok("1"), notification() {}, closed() {} };
  const end = new Peer(ours, service, new Anchor());
  let text = "";
  theirs.setEncoding("utf8").on("data", (piece) => (text += piece));
  const ids = ['"a"', "null", "-3", "9007199254740993", "-9223372036854775808"];
  for (const id of ids) theirs.write(`{"jsonrpc":"2.0","method":"x","id":${id}}\n`);
  await until(() => text.split("\n").length === ids.length + 1);
  assert.equal(text, ids.map((id) => `{"jsonrpc":"2.0","id":${id},"result":1}\n`).join(""));
  await end.close(1_000);
});

test("a batch is answered in one line when all of its requests have their answers", async () => {
  const responders = [];
  const { wire } = peer((_method, _params, responder) => responders.push(responder));
  const one = (id) => ({ jsonrpc: "2.0", id, method: "x" });
  wire.send(`${JSON.stringify([one(1), { jsonrpc: "2.0", method: "n" }, one(2), 7])}\n`);
  await until(() => responders.length === 2);
  responders[1].ok('"second"');
  responders[0].ok('"first"');
  responders[0].ok('"again"');
  await until(() => wire.heard.length === 1);
  assert.deepEqual(
    wire.heard[0].map(({ id, result, error }) => [id, result ?? error.data.kind]),
    [
      [null, "invalidRequest"],
      [2, "second"],
      [1, "first"],
    ],
  );
});

test("what is nested too deep is refused, or fails the call it answers", async () => {
  const { peer: end, wire, heard } = peer(() => assert.fail("it is handed on"));
  const deep = (levels) => "[".repeat(levels) + "]".repeat(levels);
  wire.send(`{"jsonrpc":"2.0","id":1,"method":"x","params":${deep(100)}}\n`);
  wire.send(`{"jsonrpc":"2.0","method":"n","params":${deep(100)}}\n`);
  await until(() => wire.heard.length === 1);
  assert.equal(wire.heard[0].error.data.kind, "tooLarge");
  const call = end.start("a", "{}");
  const { id } = await wire.next("a");
  wire.send(`{"jsonrpc":"2.0","id":${id},"result":${deep(100)}}\n`);
  await assert.rejects(soon(call.answer), { kind: "tooLarge" });
  assert.deepEqual(heard.notifications, []);
});

test("an answer that is too long fails its call alone", async () => {
  const { peer: end, wire } = peer();
  const [first, second] = [end.start("a", "{}"), end.start("b", "{}")];
  const { id } = await wire.next("a");
  wire.send(`{"jsonrpc":"2.0","id":${id},"result":"${"x".repeat(16_777_216)}"}\n`);
  await assert.rejects(soon(first.answer), { kind: "tooLarge" });
  wire.answer(await wire.next("b"), 5);
  assert.equal(await soon(second.answer), 5);
});

test("an answer that nobody waits for is counted and ignored", async () => {
  const { peer: end, wire, heard } = peer();
  const call = end.start("a", "{}");
  call.forget();
  wire.answer(await wire.next("a"), 1);
  wire.say({ id: "strange", result: 1 });
  wire.notify("after", {});
  await until(() => heard.notifications.length === 1);
  assert.equal(end.ignoredAnswers, 2);
});

test("k45 calls fail when the connection ends, once and for all, and nothing holds the process", async () => {
  const { peer: end, wire, heard, anchor } = peer();
  const call = end.start("a", "{}");
  wire.cut();
  await assert.rejects(soon(call.answer), ConnectionLost);
  await assert.rejects(soon(end.start("b", "{}").answer), ConnectionLost);
  assert.equal(heard.closed, 1);
  assert.equal(anchor.holds, 0);
});

test("closing writes what was answered before", async () => {
  const { peer: end, wire } = peer((_method, _params, responder) => responder.ok(JSON.stringify("x".repeat(100_000))));
  const answer = wire.ask("x", {});
  await until(() => end.outbox.waiting.value > 0 || wire.heard.length > 0);
  await soon(end.close(30_000));
  assert.equal((await answer).result.length, 100_000);
});
