// Becoming a client: what is said first, and what is known to be wrong before anything is said.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Ropewalk, RopewalkError } from "../../dist/index.js";
import { version } from "../../dist/version.js";
import { client, initialized, rejects, soon } from "./support.mjs";

const neverDialled = () => assert.fail("nothing is sent");

test("dyn_24 capabilities are claimed exactly where there is a handler", async () => {
  for (const [options, capabilities] of [
    [{}, { approvals: false, input: false }],
    [{ onApproval: () => "accept" }, { approvals: true, input: false }],
    [{ onInput: () => "dismissed" }, { approvals: false, input: true }],
  ]) {
    const { rope, wire } = await client(options);
    const { params } = wire().heard[0];
    assert.deepEqual(params.capabilities, capabilities);
    assert.deepEqual(params.protocol, { min: 1, max: 1 });
    await soon(rope.close());
  }
});

test("dyn_25 dyn_28 a required capability without a handler fails before anything is sent", async () => {
  const approvals = await rejects(Ropewalk.through(neverDialled, { requireApprovals: true }), "missingHandler");
  assert.match(approvals.message, /onApproval/);
  const input = await rejects(Ropewalk.through(neverDialled, { requireInput: true }), "missingHandler");
  assert.equal(input.data.option, "onInput");
});

test("options that cannot be are named before anything is sent", async () => {
  for (const [options, option] of [
    [{ client: { name: "my bot" } }, "client.name"],
    [{ callTimeoutMs: -1 }, "callTimeoutMs"],
    [{ reconnectForMs: "long" }, "reconnectForMs"],
    [{ onApproval: "accept" }, "onApproval"],
    [{ workspace: "" }, "workspace"],
  ]) {
    const error = await rejects(Ropewalk.through(neverDialled, options), "invalidOption");
    assert.equal(error.data.option, option);
  }
});

test("who the client is goes with the handshake, and data/changed is asked for by who listens", async () => {
  const named = { name: "my-bot", version: "2.0", instanceId: "in-7" };
  const quiet = await client({ client: named, optOut: ["itemDelta"] });
  assert.deepEqual(quiet.wire().heard[0].params.client, named);
  assert.deepEqual(quiet.wire().heard[0].params.optOut, ["itemDelta", "data/changed"]);
  assert.equal(quiet.rope.name, "my-bot");
  const listening = await client({ onChange: () => undefined });
  assert.deepEqual(listening.wire().heard[0].params.optOut, []);
  assert.equal(listening.rope.daemonInfo.instanceId, "daemon-1");
  await soon(Promise.all([quiet.rope.close(), listening.rope.close()]));
});

test("a refused handshake is the error of connecting, and the connection is closed", async () => {
  const refuse = (request, wire) =>
    wire.refuse(request, "unsupportedProtocol", { supported: { min: 2, max: 3 }, daemon: { version: "9" } }, -32004);
  const wires = [];
  const refused = client({}, { initialize: (request, wire) => (wires.push(wire), refuse(request, wire)) });
  const error = await rejects(refused, "unsupportedProtocol");
  assert.equal(error.code, -32004);
  assert.deepEqual(error.data.supported, { min: 2, max: 3 });
  await soon(wires[0].closed);
});

test("k05 a daemon that does not greet is waited for until the deadline", async () => {
  const error = await rejects(client({ initializeTimeoutMs: 20 }, { initialize: () => undefined }), "noAnswer");
  assert.match(error.message, /initialize .* 20 ms/);
});

test("a workspace is a project, and threads start in it", async () => {
  const ensure = (request, wire) =>
    wire.answer(request, { project: { projectId: "pr-1" }, created: true, replayed: false });
  const { rope, wire } = await client({ workspace: "." }, { "project/ensure": ensure });
  assert.equal(rope.workspace.projectId, "pr-1");
  assert.equal(wire().heard.find(({ method }) => method === "project/ensure").params.path, process.cwd());
  await soon(rope.threads.start());
  assert.equal(wire().heard.find(({ method }) => method === "thread/start").params.projectId, "pr-1");
  await soon(rope.close());
});

test("an error of the daemon keeps its kind, code and data, also of a kind that is not listed", async () => {
  const { rope, wire } = await client();
  const known = rope.threads.read("th-9");
  wire().refuse(
    await wire().next("thread/read"),
    "overloaded",
    { retryable: true, retryAfterMs: 100, limit: 64 },
    -32001,
  );
  const overloaded = await rejects(known, "overloaded");
  assert.ok(overloaded instanceof RopewalkError && overloaded.retryable);
  assert.equal(overloaded.retryAfterMs, 100);
  const newer = rope.threads.read("th-9");
  wire().refuse(await wire().next("thread/read"), "ofTomorrow", { more: 1 }, -32099);
  assert.equal((await rejects(newer, "ofTomorrow")).data.more, 1);
  const foreign = rope.threads.read("th-9");
  const { id } = await wire().next("thread/read");
  wire().say({ id, error: { code: -32601, message: "no" } });
  await rejects(foreign, "methodNotFound");
  await soon(rope.close());
});

test("limits are those the daemon says, and a request over them is not sent", async () => {
  const greet = (request, wire) => wire.answer(request, initialized({ maxMessageBytes: 10_000 }));
  const { rope, wire } = await client({}, { initialize: greet });
  assert.equal(rope.limits.maxMessageBytes, 10_000);
  const error = await rejects(rope.raw("thread/list", { cursor: "x".repeat(6_000) }), "requestTooLarge");
  assert.equal(error.data.limit, 10_000 - 4_096);
  assert.equal(wire().count("thread/list"), 0);
  await soon(rope.close());
});

test("the version a client says of itself is that of the package", async () => {
  const file = new URL("../../package.json", import.meta.url);
  assert.equal(JSON.parse(await readFile(file, "utf8")).version, version);
});
