// No code block of the documentation is left out: each is of a kind that something runs or checks, or says why not.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Block, at, blocks, blocksOf, root } from "../support/blocks.js";

/** How many blocks may say that they are not run. */
const excuses = 0;

/** What checks the blocks of each language, given that they are there. */
const checks: Record<string, (block: Block) => void> = {
  // Documentation tests compile them, where the page is part of a crate's.
  rust: ({ page, ...block }) => assert.ok(isIncluded(page), `${at({ page, ...block })}: no crate includes this page`),
  toml: dependencies,
  ts: () => undefined,
  js: () => undefined,
  sh: () => undefined,
  json: () => undefined,
  text: () => undefined,
};

test("every_block_of_the_documentation_is_run_or_checked_or_says_why_not", () => {
  const all = blocks();
  assert.ok(all.length >= 60, `only ${all.length} blocks`);
  for (const block of all.filter(({ excuse }) => excuse === undefined)) {
    const check = checks[block.language];
    assert.ok(check, `${at(block)}: nothing checks blocks of ${JSON.stringify(block.language)}`);
    check(block);
  }
  const excused = all
    .filter(({ excuse }) => excuse !== undefined)
    .map((block) => `${at(block)}: ${block.excuse ?? ""}`);
  assert.equal(excused.length, excuses, excused.join("\n"));
});

test("blocks_are_found_with_their_language_their_line_and_their_excuse", () => {
  const page = [
    "# A",
    "```sh",
    "a",
    "",
    "```",
    "<!-- not run: it needs a moon -->",
    "",
    "  ```rust,no_run",
    "  b",
    "  ```",
  ];
  const [first, second] = blocksOf("a.md", page.join("\n"));
  assert.deepEqual(first, { page: "a.md", line: 2, language: "sh", text: "a\n", excuse: undefined });
  assert.deepEqual(second, { page: "a.md", line: 8, language: "rust", text: "b", excuse: "it needs a moon" });
  assert.throws(() => blocksOf("a.md", "```sh\na"), /a\.md:1/);
});

/** What a program of the reader's depends on: crates of this repository by their folders, others as it uses them itself. */
function dependencies(block: Block): void {
  const lines = block.text.split("\n").filter((line) => line.includes("="));
  const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
  for (const line of lines) {
    const name = /^[a-z-]+/.exec(line)?.[0] ?? "";
    const folder = /path = "\.\.\/ropewalk\/([^"]+)"/.exec(line)?.[1];
    const version = /"(\d+)"/.exec(line)?.[1];
    if (folder === undefined)
      assert.match(lock, new RegExp(`name = "${name}"\nversion = "${version ?? "?"}\\.`), `${at(block)}: ${line}`);
    else assert.ok(existsSync(join(root, folder, "Cargo.toml")), `${at(block)}: ${line}`);
  }
}

function isIncluded(page: string): boolean {
  const crates = ["daemon", "sdk-rust", "protocol", "conformance"].map((name) => join(root, name, "src/lib.rs"));
  return crates.filter(existsSync).some((lib) => readFileSync(lib, "utf8").includes(`include_str!("../../${page}")`));
}
