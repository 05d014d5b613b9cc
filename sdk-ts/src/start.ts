// Starting a daemon because somebody wants to connect to one.

import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { isObject } from "./base/json.js";
import { at, now } from "./base/time.js";
import type { Places } from "./environment.js";
import { localError, type RopewalkError } from "./errors.js";

/** A daemon started on demand ends after so long without work and connections. */
const IDLE_EXIT_MS = 900_000;
/** A ready line is far shorter; what is longer is something else. */
const READY_LINE_BYTES = 65_536;
const BY_HAND = "Run `ropewalk daemon` by hand to see its log.";

/** Starts the first of the programs that there is and waits until it is ready. Gives the socket it listens on. */
export async function startDaemon(programs: readonly string[], places: Places, timeoutMs: number): Promise<string> {
  const tried: string[] = [];
  for (const program of programs) {
    tried.push(program);
    const outcome = await run(program, places, timeoutMs);
    if (outcome.kind === "ready") return outcome.socket;
    if (outcome.kind === "failed") throw failed(tried, outcome.reason);
  }
  throw failed(tried, "there is no `ropewalk` program. Install it, or name it in ROPEWALK_BIN.");
}

type Outcome =
  | { readonly kind: "ready"; readonly socket: string }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "absent" };

function run(program: string, places: Places, timeoutMs: number): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = launch(program, places);
    let line = "";
    const cancel = at(now() + timeoutMs, () => fail(`it was not ready within ${timeoutMs} ms.`));
    const done = (outcome: Outcome): void => {
      cancel();
      child.stdout?.destroy();
      resolve(outcome);
    };
    const fail = (reason: string): void => done({ kind: "failed", reason });
    child.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") done({ kind: "absent" });
      else fail(`${program} cannot be run: ${error.message}.`);
    });
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      line += text;
      const end = line.indexOf("\n");
      if (end >= 0) done(readReadyLine(line.slice(0, end)));
      else if (line.length > READY_LINE_BYTES) done(readReadyLine(line));
    });
    child.stdout?.once("end", () => done(readReadyLine(line)));
  });
}

function launch(program: string, places: Places): ChildProcess {
  const options = ["daemon", "--socket", places.socket, "--idle-exit-ms", String(IDLE_EXIT_MS)];
  if (places.home !== undefined) options.push("--home", places.home);
  // Its log would otherwise end up in the terminal of a program that only wanted to connect. Detached, so that Ctrl-C in that
  // terminal does not reach the daemon others use too.
  const child = spawn(program, options, { stdio: ["ignore", "pipe", "ignore"], detached: true, windowsHide: true });
  // It lives on without us: nothing of it keeps this process.
  child.unref();
  if (child.stdout instanceof Socket) child.stdout.unref();
  return child;
}

/** What becomes of the one line a started daemon prints. */
export function readReadyLine(line: string): Outcome {
  const failure = (reason: string): Outcome => ({ kind: "failed", reason });
  if (line === "") return failure(`it ended before it was ready. ${BY_HAND}`);
  let ready: unknown;
  try {
    ready = JSON.parse(line);
  } catch {
    ready = undefined;
  }
  if (isObject(ready)) {
    if (ready.ready === true && typeof ready.socket === "string") return { kind: "ready", socket: ready.socket };
    const { error } = ready;
    if (ready.ready === false && isObject(error) && typeof error.message === "string") return failure(error.message);
  }
  return failure(`what it printed is no ready line. ${BY_HAND}`);
}

function failed(tried: string[], reason: string): RopewalkError {
  const message = `No daemon could be started: ${reason} Tried: ${tried.join(", ")}.`;
  return localError("startFailed", { tried, reason }, message);
}
