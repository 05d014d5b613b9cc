// The commands of the documentation that call `ropewalk` are run, line by line, on a home that each page has for itself.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { type Block, at, blocks, root } from "../support/blocks.js";
import { program, reaped } from "../support/daemon.js";
import { Shell, commandsOf, isOurs } from "../support/shell.js";
import { within } from "../support/waiting.js";

/** What a reader puts something of their own in for, and what the test puts in. */
const placeholders: [RegExp, string][] = [
  [/\bNAME\b/g, "mine"],
  [/\bPROVIDER\b/g, "ollama"],
  [/\bMODEL\b/g, "qwen3"],
  [/\/path\/to\/notes-server\.mjs/g, join(root, "docs", "examples", "notes-server.mjs")],
];

/** What a line needs that is not there on a new home, so that it may end by saying so: an id, a project, a provider. */
const needsMore = /0193e0c4-|\bMoss\b|endpoint test/;

/** The exit code of a command line that was not understood. */
const misunderstood = 2;

test("commands_of_ropewalk_in_the_documentation_are_understood_and_work", async (context) => {
  const shown = blocks().filter(({ language }) => language === "sh");
  const commands = shown.flatMap((block) => commandsOf(block).map((line) => ({ block, line })));
  const ours = commands.filter(({ line }) => isOurs(line));
  assert.ok(ours.length >= 20, `only ${ours.length} commands`);
  const pages = new Map<string, Page>();
  for (const { block, line } of ours) {
    const page = pages.get(block.page) ?? (await open(context, block.page, commands));
    pages.set(block.page, page);
    const filled = page.fill(line);
    const { code, stdout, stderr } = await page.shell.run(filled);
    const story = `${at(block)}: ${filled}: ${code}: ${stdout}${stderr}`;
    assert.notEqual(code, misunderstood, story);
    assert.ok(code === 0 || (needsMore.test(line) && stdout + stderr !== ""), story);
  }
});

/** What the commands of a page run in. */
interface Page {
  readonly shell: Shell;
  /** The command with what a reader would have put in. */
  fill(line: string): string;
}

async function open(
  context: TestContext,
  page: string,
  commands: readonly { block: Block; line: string }[],
): Promise<Page> {
  const shell = await Shell.start(context);
  const served = commands.find(({ block, line }) => block.page === page && line.includes("conformance -- serve"));
  const address = served && (await serve(context, served.line.replace(/^.* serve /, "")));
  const fill = (line: string): string => {
    const filled = placeholders.reduce((text, [what, by]) => text.replace(what, by), line);
    const reached = address === undefined ? filled : filled.replace(/http:\/\/127\.0\.0\.1:\d+\/v1/, address);
    return reached.includes("--key-stdin") && !reached.includes("|") ? `echo a-key | ${reached}` : reached;
  };
  return { shell, fill };
}

/** Starts what the page has its reader start in another terminal, on a port that is free. */
async function serve(context: TestContext, words: string): Promise<string> {
  const path = join(dirname(program()), "conformance");
  const free = words.replace(/--port \d+/, "--port 0").split(" ");
  const child = reaped(spawn(path, ["serve", ...free], { stdio: ["ignore", "pipe", "ignore"] }));
  context.after(() => child.kill("SIGKILL"));
  const first = new Promise<string>((resolve) => createInterface({ input: child.stdout }).once("line", resolve));
  return within("the address of the model", first);
}
