// The connection is cut, the daemon is killed or held still, in each phase of a run: the program gets the right result, its
// handlers were called once, and it ends by itself.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Daemon, environment, reaped } from "../support/daemon.js";
import { type Arrival, Gates } from "../support/gate.js";
import type { Message } from "../support/lines.js";
import { type Line, Proxy } from "../support/proxy.js";
import { within } from "../support/waiting.js";

const program = fileURLToPath(new URL("../programs/whole-run.js", import.meta.url));

/** Where a run is: at a line on the wire, which then comes through or not, or at a handler that works. */
type Phase = { line: (line: Line) => boolean; passes: boolean } | { gate: string };

const answers = (method: string) => (line: Line) => line.method === method && line.message.method === undefined;
const tells = (type: string) => (line: Line) => line.from === "daemon" && line.message.params?.event?.type === type;

const phases: Record<string, Phase> = {
  before_the_answer_of_the_submit: { line: answers("run/submit"), passes: false },
  behind_the_answer_of_the_submit: { line: answers("run/submit"), passes: true },
  in_the_text: { line: tells("itemDelta"), passes: true },
  while_a_handler_works: { gate: "look" },
  when_a_handler_has_answered: { line: answers("tool/call"), passes: false },
  when_the_answer_of_a_handler_has_arrived: { line: answers("tool/call"), passes: true },
  while_a_person_decides: { gate: "approval" },
  when_a_person_has_decided: { line: answers("approval/request"), passes: false },
  while_a_person_answers: { gate: "question" },
  at_the_end: { line: tells("runCompleted"), passes: false },
};

/** What is done at the moment at which a phase is reached. `go` lets what stands still there go on. */
type Fault = (bench: Bench, go: () => void, isAnswered: boolean) => Promise<void>;

const faults: Record<string, Fault> = {
  the_socket_is_cut: async ({ proxy }, go) => {
    proxy.cut();
    go();
  },
  the_daemon_is_killed_and_started_again: async ({ daemon }, go) => {
    await daemon.kill();
    go();
    await daemon.begin();
  },
  the_daemon_stands_still: async ({ daemon, proxy }, go, isAnswered) => {
    await daemon.suspend();
    const answer = isAnswered
      ? proxy.coming("an answer nobody reads", ({ from, message }) => isAnswer(from, message))
      : undefined;
    go();
    await answer;
    daemon.resume();
  },
};

function isAnswer(from: string, { method }: Message): boolean {
  return from === "client" && method === undefined;
}

interface Bench {
  readonly daemon: Daemon;
  readonly proxy: Proxy;
  readonly gates: Gates;
}

for (const [what, fault] of Object.entries(faults)) {
  for (const [when, phase] of Object.entries(phases)) {
    test(`dyn_20_${what}_${when}`, async (context) => {
      const daemon = await Daemon.start(context);
      const proxy = await Proxy.start(context, daemon.socket);
      const gates = await Gates.open(context);
      await play({ daemon, proxy, gates }, phase, fault, context);
    });
  }
}

async function play(bench: Bench, phase: Phase, fault: Fault, context: TestContext): Promise<void> {
  const { proxy, gates } = bench;
  let met = 0;
  if ("line" in phase) {
    const fate = phase.passes ? "passThenStall" : "stall";
    proxy.rule = (line) => (met === 0 && phase.line(line) ? ((met += 1), fate) : "pass");
  }
  const ending = finished(context, [proxy.socket, gates.socket]);
  const passing = passed(gates, ending, async ({ name, pass }) => {
    if (!("gate" in phase) || phase.gate !== name || met > 0) return pass();
    met += 1;
    await fault(bench, pass, true);
  });
  if ("line" in phase) {
    await proxy.struck.next("the phase to be reached");
    await fault(bench, () => proxy.release(), false);
  }
  const { code, signal, stdout, stderr } = await ending;
  await passing;
  assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: "" });
  const { status, text, seqs, broken } = JSON.parse(stdout);
  const right = { status: "completed", text: "all of it is done", broken: [], met: 1 };
  assert.deepEqual({ status, text, broken, met }, right);
  assert.deepEqual(
    seqs,
    seqs.map((_: number, index: number) => index + 1),
  );
  const counts = ["look", "write", "approval", "question"].map((name) => gates.count(name));
  assert.deepEqual(counts, [1, 1, 1, 1]);
}

interface Finished {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program until it ends by itself. */
async function finished(context: TestContext, words: string[]): Promise<Finished> {
  const child = reaped(
    spawn(process.execPath, [program, ...words], { env: environment(), stdio: ["ignore", "pipe", "pipe"] }),
  );
  context.after(() => child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const closed = new Promise<[number | null, string | null]>((resolve) => {
    child.once("close", (code, signal) => resolve([code, signal]));
  });
  const [code, signal] = await within("the program to end by itself", closed).catch((error: unknown) => {
    throw new Error(`${String(error)}; it said ${stdout}${stderr}`);
  });
  return { code, signal, stdout, stderr };
}

/** Takes whoever comes to a gate, until the program has ended. */
async function passed(
  gates: Gates,
  ending: Promise<unknown>,
  take: (arrival: Arrival) => Promise<void> | void,
): Promise<void> {
  const over = ending.then(
    () => undefined,
    () => undefined,
  );
  for (;;) {
    const arrival = await Promise.race([gates.arrived.take(), over]);
    if (arrival === undefined) return;
    await take(arrival);
  }
}
