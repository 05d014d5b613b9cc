// Commands, run as a reader runs them: with `ropewalk` in the path and a daemon on a home of its own.
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { TestContext } from "node:test";
import type { Block } from "./blocks.js";
import { Daemon, environment, folder, program, reaped } from "./daemon.js";
import { patienceMs, within } from "./waiting.js";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
export async function ended(
  command: string,
  words: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  const child = reaped(spawn(command, words, { env: environment(), ...options, stdio: ["ignore", "pipe", "pipe"] }));
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const end = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
  // Compilers and package managers take their time where everything else wants the processor too.
  const code = await within(`the end of ${command} ${words.join(" ")}`, end, 5 * patienceMs);
  return { code, stdout, stderr };
}

export class Shell {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(path: string, home: string) {
    this.#folder = path;
    const bin = join(path, "bin");
    mkdirSync(bin);
    symlinkSync(program(), join(bin, "ropewalk"));
    this.#env = environment({ PATH: [bin, process.env.PATH].join(delimiter), ROPEWALK_HOME: home });
  }

  static async start(context: TestContext): Promise<Shell> {
    const daemon = await Daemon.start(context);
    return new Shell(folder(context), daemon.home);
  }

  run(line: string): Promise<Ended> {
    return ended("sh", ["-c", line], { cwd: this.#folder, env: this.#env });
  }
}

/** The commands of a block: lines that go on are one, and comments are none. */
export function commandsOf({ text }: Block): string[] {
  const lines = text.replace(/\\\n/g, " ").split("\n");
  return lines.map((line) => line.replace(/(^|\s)#.*$/, "").trim()).filter((line) => line !== "");
}

/** Whether a command calls `ropewalk`. */
export function isOurs(line: string): boolean {
  return /(^|\| *)ropewalk /.test(line);
}
