// The JSON of the documentation is JSON, and what is of the wire fits the wire.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Block, at, blocks, root } from "../support/blocks.js";
import { problems } from "../support/schema.js";

/** What a block shows, by a field that nothing else has. */
const definitions: Record<string, string> = {
  inputSchema: "ToolDeclaration",
  success: "ToolCallAnswer",
  answers: "InputAnswer",
  decision: "ApprovalAnswer",
};

test("json_of_the_documentation_fits_what_it_shows", () => {
  const shown = blocks().filter(({ language }) => language === "json");
  assert.ok(shown.length >= 7, `only ${shown.length} blocks`);
  for (const block of shown) check(block, JSON.parse(block.text));
});

function check(block: Block, value: Record<string, unknown>): void {
  const field = Object.keys(definitions).find((name) => name in value);
  if (field !== undefined) assert.deepEqual(problems(definitions[field] ?? "", value), [], at(block));
  else if ("ready" in value) assert.deepEqual(Object.keys(value), ["ready", "socket", "pid", "version"], at(block));
  else if ("steps" in value) isVector(value, at(block));
  // What a log looks like inside is no contract: the page about it shows one record, and the text of the page explains it.
  else assert.ok(block.page.startsWith("docs/decisions/"), `${at(block)}: nothing says what this is to fit`);
}

interface Vector {
  name: string;
  steps: Record<string, unknown>[];
}

/** A page may shorten a vector, but shows one that there is, with the words that steps are made of. */
function isVector({ name, steps }: Record<string, unknown>, where: string): void {
  const folders = ["client", "daemon"].map((side) => join(root, "conformance/vectors", side));
  const files = folders.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)));
  const lines = files
    .filter((file) => file.endsWith(".jsonl"))
    .flatMap((file) => readFileSync(file, "utf8").split("\n"));
  const vectors: Vector[] = lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  assert.ok(
    vectors.some((vector) => vector.name === name),
    `${where}: there is no vector ${String(name)}`,
  );
  const words = new Set(vectors.flatMap((vector) => vector.steps.flatMap((step) => Object.keys(step))));
  const unknown = (steps as Vector["steps"]).flatMap((step) => Object.keys(step)).filter((word) => !words.has(word));
  assert.deepEqual(unknown, [], where);
}
