// What the conformance runner starts for each scenario: `node driver.mjs URL`, with the program in `ROPEWALK_BIN`. It starts a
// daemon on a home of its own, adds the server at that address by way of the bridge, reviews and approves it, and has a run
// call each of its tools, all by the ordinary methods of the wire.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const url = process.argv[2];
const place = await mkdtemp(join(tmpdir(), "ropewalk-mcp-"));
const env = { ...process.env, ROPEWALK_HOME: join(place, "home"), ROPEWALK_SOCKET: join(place, "s") };
const words = ["daemon", "--secret-store", "file", "--log", "error"];
const daemon = spawn(process.env.ROPEWALK_BIN, words, { env, stdio: ["ignore", "pipe", "inherit"] });
const gone = once(daemon, "exit");
try {
  await once(createInterface(daemon.stdout), "line");
  const socket = connect(env.ROPEWALK_SOCKET);
  await useServer(callerOver(socket));
  socket.end();
} finally {
  daemon.kill("SIGTERM");
  await gone;
  await rm(place, { recursive: true, force: true });
}

async function useServer(call) {
  await call("initialize", { protocol: { min: 1, max: 1 }, client: { name: "driver", version: "1" } });
  const args = [fileURLToPath(new URL("bridge.mjs", import.meta.url)), url];
  const { server } = await call("mcp/server/add", { name: "peer", command: process.execPath, args });
  const { serverId } = server;
  const { review } = await call("mcp/review/read", { serverId });
  const tools = review.tools.filter((tool) => tool.state !== "unusable").map((tool) => tool.name);
  await call("mcp/review/submit", { serverId, digest: review.digest, tools, trusted: true });
  await call("policy/set", { level: "global", source: serverId, decision: "allow" });
  const { thread } = await call("thread/start", { subscribe: false });
  const { items } = await call("thread/tools", { threadId: thread.threadId, schemas: true });
  const ours = items.filter((tool) => tool.source === serverId);
  // One after another, in the order in which the server lists them.
  for (const tool of tools.map((name) => ours.find((tool) => tool.name === name))) {
    const text = `call ${tool.flatName} ${JSON.stringify(argumentsOf(tool, ours))}`;
    const submit = { threadId: thread.threadId, input: [{ type: "text", text }], wait: true };
    const { run } = await call("run/submit", submit);
    console.log(text, "→", run.outcome.text);
  }
  const { server: after } = await call("mcp/server/read", { serverId });
  console.log(JSON.stringify(after));
}

// What a model would make of a schema: something of the right type for each property.
function argumentsOf(tool, tools) {
  // This one asks for the schema of the other as it came here.
  if (tool.name === "json_schema_echo") return { schema: tools.find((other) => other !== tool).inputSchema };
  const samples = { number: 1.5, integer: 7, boolean: true, object: {}, array: [], null: null, string: "hemp" };
  const properties = Object.entries(tool.inputSchema.properties ?? {});
  return Object.fromEntries(properties.map(([name, schema]) => [name, schema.enum?.[0] ?? samples[schema.type]]));
}

// Calls methods one after another; a refusal ends the driver, and with it the scenario.
function callerOver(socket) {
  let id = 0;
  const waiting = new Map();
  createInterface(socket).on("line", (line) => {
    const message = JSON.parse(line);
    if (!message.method) waiting.get(message.id)?.(message);
  });
  return async (method, params) => {
    const answered = new Promise((resolve) => waiting.set(++id, resolve));
    socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const answer = await answered;
    if (answer.error) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  };
}
