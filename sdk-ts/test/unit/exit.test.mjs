// A program that is done ends by itself, whatever its client was doing; one that waits for something does not.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { obliging, soon, toolCall, Wire } from "./support.mjs";

const sdk = new URL("../../dist/index.js", import.meta.url).href;
const wires = [];
const answering = {
  ...obliging,
  "cut/me": (_request, wire) => wire.cut(),
  "daemon/status": (request, wire) => wire.answer(request, { version: "0" }),
  "run/submit": (request, wire) =>
    wire.answer(request, { runId: "run-1", messageId: "m-1", branchId: "th-1", state: "running", replayed: false }),
};
let directory;
let server;
let socket;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), "ropewalk-exit-"));
  socket = join(directory, "d.sock");
  server = createServer((stream) => wires.push(new Wire(stream, answering))).listen(socket);
});

after(async () => {
  server.close();
  for (const wire of wires) wire.cut();
  await rm(directory, { recursive: true });
});

/** Runs a program that has a client `rope`; what it prints, and how it ended. */
async function run(body, options = "") {
  const text = `
    import { Ropewalk, tool } from ${JSON.stringify(sdk)};
    const rope = await Ropewalk.connect({ socket: ${JSON.stringify(socket)}, start: false, ${options} });
    ${body}`;
  const argv = ["--unhandled-rejections=strict", "--input-type=module", "-e", text];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (piece) => (printed += piece));
  child.stderr.setEncoding("utf8").on("data", (piece) => (printed += piece));
  const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal, printed })));
  return { child, ended: () => soon(ended, `the end of the program (${printed})`) };
}

async function ends(body, options) {
  const program = await run(body, options);
  const end = await program.ended().finally(() => program.child.kill());
  assert.deepEqual([end.code, end.signal], [0, null], end.printed);
  return end.printed;
}

test("k45 a program that has nothing to do any more ends, with its client connected", async () => {
  await ends("await rope.daemon.status();");
  await ends("");
  await ends('await rope.threads.start({ tools: [tool({ name: "t", description: "T.", run: () => "x" })] });');
  await ends("rope.watchConnection();");
  await ends('const thread = await rope.threads.start(); thread.run("nobody waits"); thread.events();');
});

test("x02 k45 a closed client lets the program end, twice and in whatever it was doing", async () => {
  await ends("await rope.close(); await rope.close();");
  await ends('rope.raw("never/answered").catch(() => undefined); await rope.close();');
  await ends("const thread = await rope.threads.start(); thread.events().next(); await rope.close();");
  await ends(`
    const cut = rope.raw("cut/me").catch(() => undefined);
    for await (const { state } of rope.watchConnection()) if (state === "reconnecting") break;
    await rope.close();
    await cut;`);
});

test("a program stays while it waits for a run, and ends when that has ended", async () => {
  const { length } = wires;
  const program = await run('console.log((await (await rope.threads.start()).run("x")).text);');
  const wire = await connected(length);
  // Far longer than a program needs to end that has nothing to wait for.
  await soon(waitFor(() => wire.count("run/submit") === 1));
  assert.equal(program.child.exitCode, null);
  const outcome = { status: "completed", text: "the end" };
  const usage = { inputTokens: 1, outputTokens: 1, requests: 1, estimated: true };
  const end = { type: "runCompleted", runId: "run-1", branchId: "th-1", outcome, usage };
  wire.notify("thread/event", { threadId: "th-1", seq: 4, at: "2026-11-30T10:00:00Z", event: end });
  const { code, printed } = await program.ended();
  assert.deepEqual([code, printed], [0, "the end\n"]);
});

test("a handler at work keeps its program, and its answer is written before the end", async () => {
  const body = `
    const slow = () => new Promise((resolve) => setTimeout(resolve, 50, "slow but sure").unref());
    await rope.threads.start({ tools: [tool({ name: "work", description: "W.", run: slow })] });
    await rope.raw("ready/now");`;
  const { length } = wires;
  const program = await run(body);
  const wire = await connected(length);
  const request = await wire.next("ready/now");
  const answer = wire.ask("tool/call", toolCall("i-1"));
  wire.answer(request, {});
  assert.equal((await answer).result.contentItems[0].text, "slow but sure");
  assert.equal((await program.ended()).code, 0);
});

test("a program that only serves waits with untilClosed, until it is cut off for good", async () => {
  const { length } = wires;
  const program = await run("await rope.untilClosed().catch((error) => console.log(error.kind));", "reconnectForMs: 0");
  const wire = await connected(length);
  await soon(waitFor(() => wire.heard.length > 0));
  assert.equal(program.child.exitCode, null);
  wire.cut();
  const { code, printed } = await program.ended();
  assert.deepEqual([code, printed], [0, "reconnectFailed\n"]);
});

async function waitFor(condition) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The connection that comes next. */
async function connected(before) {
  await soon(waitFor(() => wires.length > before));
  return wires[before];
}
