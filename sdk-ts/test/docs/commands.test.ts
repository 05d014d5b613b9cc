// The other commands of the documentation, for those who have a clone: what they name is there.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, test } from "node:test";
import { type Block, at, blocks, root } from "../support/blocks.js";
import { program } from "../support/daemon.js";
import { commandsOf, ended, isOurs } from "../support/shell.js";

/** Packages of the workspace, and what each builds: `test it`, `bin conformance`. */
const targets = new Map<string, Set<string>>();

before(async () => {
  const words = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
  const { code, stdout, stderr } = await ended("cargo", words, { cwd: root });
  assert.equal(code, 0, stderr);
  for (const { name, targets: built } of JSON.parse(stdout).packages) {
    targets.set(
      name,
      new Set(built.map((target: { kind: string[]; name: string }) => `${target.kind[0]} ${target.name}`)),
    );
  }
});

test("commands_for_those_who_have_a_clone_name_what_there_is", async () => {
  const shown = blocks().filter(({ language }) => language === "sh");
  const commands = shown.flatMap((block) => commandsOf(block).map((line) => ({ block, line })));
  const others = commands.filter(({ line }) => !isOurs(line));
  assert.ok(others.length >= 15, `only ${others.length} commands`);
  for (const { block, line } of others) await check(block, line);
});

async function check(block: Block, line: string): Promise<void> {
  const words = line.split(/ +/).filter((word) => !/^[A-Z_]+=/.test(word) && word !== "sudo");
  const [command = "", ...rest] = words;
  const story = `${at(block)}: ${line}`;
  if (command === "cargo") await cargo(rest, story);
  else if (command === "npm") npm(rest, block, story);
  else if (command === "conformance" || command.endsWith("/conformance"))
    await understood(beside("conformance"), rest, story);
  else if (command === "sh" || command === "node") assert.ok(existsSync(join(root, rest[0] ?? "")), story);
  else assert.fail(`${story}: nothing checks this command`);
}

async function cargo([verb = "", ...words]: string[], story: string): Promise<void> {
  assert.ok(["build", "run", "test"].includes(verb), story);
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  const [own, passed] = [words.slice(0, end), words.slice(end + 1)];
  const named = (flag: string): string[] => own.filter((_, index) => own[index - 1] === flag);
  const packages = named("-p");
  for (const name of packages) assert.ok(targets.has(name), `${story}: no package ${name}`);
  for (const kind of ["test", "bin", "example"]) {
    for (const name of named(`--${kind}`)) {
      assert.ok(
        packages.some((one) => targets.get(one)?.has(`${kind} ${name}`)),
        `${story}: no ${kind} ${name}`,
      );
    }
  }
  // The workspace's default is the daemon.
  if (verb === "run" && named("--example").length === 0)
    await understood(beside(named("--bin")[0] ?? "ropewalk"), passed, story);
}

function npm(words: string[], block: Block, story: string): void {
  const prefix = words[0] === "--prefix" ? join(root, words[1] ?? "") : join(root, dirname(block.page));
  const [verb = "", script = verb] = words[0] === "--prefix" ? words.slice(2) : words;
  const { scripts } = JSON.parse(readFileSync(join(prefix, "package.json"), "utf8"));
  if (verb === "ci") assert.ok(existsSync(join(prefix, "package-lock.json")), story);
  else assert.ok(script in scripts, `${story}: no script ${script}`);
}

/** A program that is built beside the daemon. */
function beside(name: string): string {
  return name === "ropewalk" ? program() : join(dirname(program()), name);
}

/** A program knows its subcommands and flags. */
async function understood(path: string, words: string[], story: string): Promise<void> {
  const flags = words.filter((word) => word.startsWith("--"));
  const first = words.findIndex((word) => word.startsWith("-"));
  const subcommands = words.slice(0, first === -1 ? words.length : first).filter((word) => /^[a-z]+$/.test(word));
  const { code, stdout, stderr } = await ended(path, [...subcommands, "--help"]);
  assert.equal(code, 0, `${story}: ${stderr}`);
  for (const flag of flags) assert.ok(stdout.includes(flag), `${story}: ${flag} is no flag of it`);
}
