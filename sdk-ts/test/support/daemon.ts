// A real daemon on a home of its own, which a test may kill, hold still and start again.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { latch, until, within } from "./waiting.js";

const children = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

/** Keeps hold of a child, so that none outlives the tests whatever becomes of them. */
export function reaped<Child extends ChildProcess>(child: Child): Child {
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** The daemon's program: the workspace's own, which `.ci/test` names. */
export function program(): string {
  const path = process.env.ROPEWALK_BIN;
  const remedy = "Build it with `cargo build`, and name it: ROPEWALK_BIN=$PWD/target/debug/ropewalk";
  assert.ok(
    path !== undefined && path !== "",
    `These tests run the real daemon, and ROPEWALK_BIN does not name it. ${remedy}`,
  );
  assert.ok(existsSync(path), `ROPEWALK_BIN names ${path}, which is not there. ${remedy}`);
  return path;
}

/** The environment without anything that names a home, a socket or the keyring of whoever runs the tests. */
export function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("ROPEWALK_") && !name.startsWith("NODE_TEST"),
  );
  return { ...Object.fromEntries(own), ROPEWALK_SECRET_STORE: "file", ...more };
}

/** A folder that goes with the test. */
export function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "ropewalk-"));
  context.after(() => {
    rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  });
  return path;
}

export class Daemon {
  readonly home: string;
  readonly socket: string;
  #child: ChildProcess | undefined;

  private constructor(home: string) {
    this.home = home;
    this.socket = join(home, "daemon.sock");
  }

  /** A daemon on a new home. It is killed and its home removed when the test is over. */
  static async start(context: TestContext): Promise<Daemon> {
    const daemon = new Daemon(join(folder(context), "home"));
    context.after(() => daemon.kill());
    await daemon.begin();
    return daemon;
  }

  /** Starts it, on what is in its home. */
  async begin(): Promise<void> {
    const child = reaped(
      spawn(program(), ["daemon", "--home", this.home], { env: environment(), stdio: ["ignore", "pipe", "pipe"] }),
    );
    this.#child = child;
    const ready = latch<string>();
    let complaint = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint = (complaint + text).slice(-10_000)));
    child.once("error", ready.fail);
    child.once("exit", (code, signal) => {
      ready.fail(new Error(`the daemon ended with ${String(code ?? signal)}: ${complaint}`));
    });
    createInterface({ input: child.stdout }).once("line", ready.open);
    const line = await within("the daemon to be ready", ready.done);
    assert.match(line, /^\{"ready":true,/);
  }

  /** Ends it as `kill -9` does. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await within("the daemon to be gone", gone);
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.begin();
  }

  get pid(): number {
    assert.ok(this.#child?.pid !== undefined, "the daemon runs");
    return this.#child.pid;
  }

  /** Holds it still; its connections stay, and nothing is answered. */
  async suspend(): Promise<void> {
    process.kill(this.pid, "SIGSTOP");
    await until("the daemon to stand still", () => stateOf(this.pid) === "T");
  }

  resume(): void {
    process.kill(this.pid, "SIGCONT");
  }
}

/** What the system says a process is doing, where it says so; elsewhere that a signal was delivered has to do. */
function stateOf(pid: number): string {
  if (process.platform !== "linux") return "T";
  const stat = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
}
