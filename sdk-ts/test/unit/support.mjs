// The other end of a client, played by a test: a pipe in memory, and a daemon that does what the test says.
import assert from "node:assert/strict";
import { Duplex } from "node:stream";
import { connect } from "../../dist/recovery/recovery.js";
import { Core } from "../../dist/core.js";
import { Ropewalk } from "../../dist/index.js";

/** Far more than anything takes, and still an end. */
export const DEADLINE_MS = 30_000;

/** Two ends of a pipe: what is written to one is read from the other. */
export function pipe() {
  const ends = [];
  for (const side of [0, 1]) {
    ends.push(
      new Duplex({
        allowHalfOpen: false,
        read() {},
        write(chunk, _encoding, done) {
          ends[1 - side].push(chunk);
          done();
        },
        final(done) {
          ends[1 - side].push(null);
          done();
        },
        destroy(error, done) {
          if (!ends[1 - side].destroyed) ends[1 - side].push(null);
          done(error);
        },
      }),
    );
    ends[side].on("error", () => undefined);
  }
  return ends;
}

/** Waits for a promise, at most for the deadline. */
export async function soon(promise, what = "what the test waits for") {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come in ${DEADLINE_MS} ms`)), DEADLINE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for a condition. */
export async function until(condition, what = "a condition") {
  const end = Date.now() + DEADLINE_MS;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`${what} did not become true in ${DEADLINE_MS} ms`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A daemon's end of one connection. */
export class Wire {
  /** Every message that came, in order. */
  heard = [];
  #stream;
  #rest = "";
  #taken = new Set();
  #answers = new Map();
  #nextId = 1;
  #answering;

  constructor(stream, answering = {}) {
    this.#stream = stream;
    this.#answering = answering;
    stream.setEncoding("utf8").on("data", (text) => this.#read(text));
    this.closed = new Promise((resolve) => stream.on("close", resolve).on("end", resolve));
  }

  /** Sends text as it is. */
  send(text) {
    if (!this.#stream.destroyed) this.#stream.write(text);
  }

  say(message) {
    this.send(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** Answers a request. */
  answer({ id }, result) {
    this.say({ id, result });
  }

  refuse({ id }, kind, data = {}, code = -32000) {
    this.say({ id, error: { code, message: `The test says ${kind}.`, data: { kind, retryable: false, ...data } } });
  }

  notify(method, params) {
    this.say({ method, params });
  }

  /** Asks the client; resolves to its whole answer. */
  ask(method, params) {
    const id = this.#nextId++;
    const answer = new Promise((resolve) => this.#answers.set(id, resolve));
    this.say({ id, method, params });
    return soon(answer, `the answer to ${method}`);
  }

  /** The next request or notification of a method that no test has taken yet. */
  async next(method) {
    const find = () => this.heard.find((message) => message.method === method && !this.#taken.has(message));
    await until(find, `a ${method}`);
    const found = find();
    this.#taken.add(found);
    return found;
  }

  count(method) {
    return this.heard.filter((message) => message.method === method).length;
  }

  cut() {
    this.#stream.destroy();
  }

  #read(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    for (const line of lines.filter(Boolean)) this.#take(JSON.parse(line));
  }

  #take(message) {
    this.heard.push(message);
    if (message.method === undefined) return this.#answers.get(message.id)?.(message);
    const answer = this.#answering[message.method];
    if (answer) {
      this.#taken.add(message);
      answer(message, this);
    }
  }
}

export const daemonInfo = {
  name: "ropewalk",
  version: "0",
  pid: 1,
  instanceId: "daemon-1",
  startedAt: "2026-11-30T10:00:00Z",
};

/** What a daemon answers to the handshake. */
export function initialized(limits = {}) {
  return {
    protocol: 1,
    daemon: daemonInfo,
    limits: { maxMessageBytes: 16_777_216, ...limits },
    schemaHash: "",
  };
}

export const thread = (seq = 1) => ({ threadId: "th-1", seq });

/** What a daemon that knows one thread answers by itself. */
export const obliging = {
  initialize: (request, wire) => wire.answer(request, initialized()),
  "thread/start": (request, wire) => wire.answer(request, { thread: thread(), seq: 3, tools: [], replayed: false }),
  "thread/resume": (request, wire) =>
    wire.answer(request, { thread: thread(), seq: request.params.after ?? 3, tools: [], replayed: false }),
  "thread/unsubscribe": (request, wire) => wire.answer(request, {}),
  "interaction/list": (request, wire) => wire.answer(request, { items: [] }),
};

/** A client and the daemons it meets, one for each of its connections. */
export async function client(options = {}, answering = {}) {
  const wires = [];
  const warnings = [];
  const dial = () => {
    const [ours, theirs] = pipe();
    wires.push(new Wire(theirs, { ...obliging, ...answering }));
    return ours;
  };
  const rope = await Ropewalk.through(dial, { onWarning: (warning) => warnings.push(warning), ...options });
  return { rope, wires, warnings, wire: (n = wires.length) => wires[n - 1] };
}

/** The inside of a client over one pipe, for what the outside does not show. */
export async function inside(answering = {}) {
  const [ours, theirs] = pipe();
  const wire = new Wire(theirs, { ...obliging, ...answering });
  const core = new Core({
    dial: { open: async () => ours, isLasting: false },
    greeting: { protocol: { min: 1, max: 1 }, client: { name: "test", version: "0" } },
    instance: "in-1",
    handlers: { warnings: () => undefined },
    callTimeoutMs: DEADLINE_MS,
    initializeTimeoutMs: DEADLINE_MS,
    reconnectForMs: DEADLINE_MS,
  });
  await soon(connect(core));
  core.attachments.add("th-1");
  return { core, wire };
}

/** Checks that a promise rejects with an error of a kind, and gives the error. */
export async function rejects(promise, kind) {
  const outcome = await soon(
    Promise.resolve(promise).then(
      () => assert.fail(`it resolved where ${kind} was expected`),
      (error) => error,
    ),
    `the refusal ${kind}`,
  );
  assert.equal(outcome.name, "RopewalkError", String(outcome.stack));
  assert.equal(outcome.kind, kind, outcome.message);
  return outcome;
}

/** A durable event of the thread. */
export function event(seq, body, threadId = "th-1") {
  return { threadId, seq, at: "2026-11-30T10:00:00Z", event: body };
}

/** An ephemeral event of the thread. */
export function passing(after, body, threadId = "th-1") {
  return { threadId, after, at: "2026-11-30T10:00:00Z", event: body };
}

export const usage = { inputTokens: 1, outputTokens: 1, requests: 1, estimated: true };

/** The end of a run. */
export function completed(seq, runId, outcome = { status: "completed", text: "done" }) {
  return event(seq, { type: "runCompleted", runId, branchId: "th-1", outcome, usage });
}

/** A request of the daemon for a tool call. */
export function toolCall(interactionId, tool = "work", args = {}, attempt = 1) {
  const ids = { interactionId, threadId: "th-1", runId: "run-1", callId: `call-${interactionId}` };
  return { ...ids, attempt, tool, arguments: args, silenceMs: 120_000 };
}
