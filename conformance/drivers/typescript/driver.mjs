// The driver of the TypeScript SDK: does what `conformance client` says, with nothing but the public words of the package, and
// reports what comes of it. ../../DRIVERS.md says how to write one for another SDK. `ROPEWALK_SDK` names another build of it.

import { createInterface } from "node:readline";
import { performActs } from "./acts.mjs";
import { brief, failure, resultOf, runEvent, shows } from "./words.mjs";

const sdk = process.env.ROPEWALK_SDK ?? new URL("../../../sdk-ts/dist/index.js", import.meta.url).href;
const { Ropewalk, tool, ToolError } = await import(sdk);
const { version } = await import(new URL("version.js", sdk).href).catch(() => ({ version: "unknown" }));

const report = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const gates = new Map();
const held = { client: undefined, threads: new Map(), runs: new Map(), attached: new Map() };

/** A gate of handlers: a promise, and what opens it. */
function gate(name) {
  if (!gates.has(name)) gates.set(name, Promise.withResolvers?.() ?? resolvers());
  return gates.get(name);
}

function resolvers() {
  let resolve;
  const promise = new Promise((yes) => (resolve = yes));
  return { promise, resolve };
}

const context = { report, gate, ToolError };

/** The one type of arguments that every driver has, as a schema library would give it. */
const typed = {
  "~standard": {
    version: 1,
    vendor: "driver",
    validate(value) {
      const strange = Object.keys(value).filter((key) => key !== "id");
      const issues = strange.map((key) => ({ message: "the tool declares no such property", path: [key] }));
      if (typeof value.id !== "string") issues.push({ message: "it is a string", path: ["id"] });
      return issues.length > 0 ? { issues } : { value };
    },
    jsonSchema: { input: typedSchema, output: typedSchema },
  },
};

function typedSchema() {
  const id = { type: "string", description: "The number, without #." };
  return { type: "object", properties: { id }, required: ["id"], additionalProperties: false };
}

function toolOf({ does = [], typed: isTyped, annotations = {}, inputSchema, ...declared }) {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  return tool({
    ...declared,
    ...(isTyped ? { input: typed } : inputSchema === undefined ? {} : { inputSchema }),
    readOnly: readOnlyHint,
    destructive: destructiveHint,
    idempotent: idempotentHint,
    openWorld: openWorldHint,
    run(args, call) {
      const { interactionId, threadId, runId, callId, namespace, tool: name } = call;
      const beside = { threadId, runId, callId, namespace, tool: name, arguments: args };
      report({ handler: "called", of: "tool", interactionId, ...beside });
      return performActs(context, does, { of: "tool", interactionId, signal: call.signal, progress: call.progress });
    },
  });
}

function onApproval(does) {
  return (request, { signal }) => {
    const { interactionId, threadId, runId, callId, arguments: args, summary, choices } = request;
    const beside = { threadId, runId, callId, tool: request.tool.name, arguments: args, summary, choices };
    report({ handler: "called", of: "approval", interactionId, ...beside });
    return performActs(context, does, { of: "approval", interactionId, signal });
  };
}

function onInput(does) {
  return ({ interactionId, threadId, runId, callId, questions }, { signal }) => {
    report({ handler: "called", of: "input", interactionId, threadId, runId, callId, questions });
    return performActs(context, does, { of: "input", interactionId, signal });
  };
}

const taken = (kind, name) => {
  const found = held[kind].get(name);
  if (!found) throw new Error(`There is no ${name} among ${kind}.`);
  return found;
};

const verbs = {
  async connect({ socket, name, instanceId, approvals, input, changes, ...command }) {
    const { requireApprovals, requireInput, callTimeoutMs, initializeTimeoutMs, reconnectForMs } = command;
    held.client = await Ropewalk.connect({
      ...{ requireApprovals, requireInput, callTimeoutMs, initializeTimeoutMs, reconnectForMs },
      socket,
      start: false,
      client: { name, instanceId },
      onApproval: approvals && onApproval(approvals),
      onInput: input && onInput(input),
      onChange: changes ? ({ kinds }) => report({ changed: { kinds } }) : undefined,
    });
    return {};
  },
  async start({ thread, title, tools = [] }) {
    const started = await held.client.threads.start({ title, tools: tools.map(toolOf) });
    held.threads.set(thread, started);
    return { threadId: started.id };
  },
  async resume({ thread, threadId, tools, after, takeover }) {
    const options = { tools: tools?.map(toolOf), after, takeover };
    const resumed = await held.client.threads.resume(threadId, options);
    held.threads.set(thread, resumed);
    return { threadId: resumed.id };
  },
  async attach({ thread, attached, tool: spec }) {
    held.attached.set(attached, await taken("threads", thread).attach(toolOf(spec)));
    return {};
  },
  detach({ attached }) {
    taken("attached", attached).detach();
    return {};
  },
  async run({ thread, input }) {
    return resultOf(await taken("threads", thread).run(input));
  },
  async submit({ thread, input, run }) {
    const submitted = taken("threads", thread).run(input);
    const { runId } = await submitted.submitted();
    held.runs.set(run, submitted);
    return { runId };
  },
  async result({ run }) {
    return resultOf(await taken("runs", run));
  },
  async iterate({ id, run, breakAfter }) {
    return loop(id, taken("runs", run), runEvent, breakAfter);
  },
  async watch({ id, thread, after, breakAfter }) {
    const events = taken("threads", thread).events({ after });
    report({ id, watching: {} });
    return loop(id, events, ({ event, seq }) => ({ ...brief(event), seq }), breakAfter);
  },
  async stop({ run }) {
    const { seq } = await taken("runs", run).stop();
    return { seq };
  },
  async call({ method, params = {} }) {
    return { result: await held.client.raw(method, params) };
  },
  release({ gate: name }) {
    gate(name).resolve();
    return {};
  },
  async closeThread({ thread }) {
    const closed = taken("threads", thread);
    held.threads.delete(thread);
    await closed.close();
    return {};
  },
};

/** Reports every event, and leaves the loop after so many. */
async function loop(id, events, words, breakAfter = Infinity) {
  let left = breakAfter;
  for await (const event of events) {
    const said = words(event);
    if (!shows(said)) continue;
    report({ id, event: said });
    left -= 1;
    if (left === 0) break;
  }
  return {};
}

const pending = new Set();
const lines = createInterface({ input: process.stdin });
let isOver = false;

/** Closes the client and lets every command say how that ended it. Nothing then keeps the process but the SDK. */
async function close(id) {
  if (isOver) return;
  isOver = true;
  lines.close();
  process.stdin.destroy();
  await held.client?.close();
  await Promise.allSettled(pending);
  if (id !== undefined) report({ id, done: {} });
}

lines.on("line", (line) => {
  if (isOver) return;
  const { cmd, ...given } = JSON.parse(line);
  // What is null is absent; arguments and answers of vectors are deeper than the members of a command.
  const command = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  if (cmd === "close") return void close(command.id);
  const done = (async () => verbs[cmd](command))().then(
    (what) => report({ id: command.id, done: what }),
    (error) => report({ id: command.id, failed: failure(error) }),
  );
  pending.add(done);
  void done.finally(() => pending.delete(done));
});
lines.on("close", () => void close());

report({ ready: { sdk: "@ropewalk/sdk", version } });
