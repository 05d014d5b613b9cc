// Holds what the daemon's replay expects against a second reading: eventsource-parser, and the small decoder beside this
// file. UPDATE=1 writes what the recordings are expected to come to, and what the events of every body are.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { test } from "node:test";

import { decode, eventsOf, recordsOf } from "./decode.mjs";
import { cases, pathOf, read } from "./fixtures.mjs";

const SPLITS = 100;
const UPDATE = Boolean(process.env.UPDATE);
/** How much of what a provider wants back is written down: its end. */
const KEPT_CHARACTERS = 40;

const all = cases();
const written = JSON.parse(read("expected.json"));

/** The same numbers each time: a test that fails must fail again. */
function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function* splits(body) {
  const bytes = Buffer.from(body);
  const cut = (offsets) => [0, ...offsets].map((start, n) => bytes.subarray(start, offsets[n] ?? bytes.length));
  yield cut([]);
  yield cut(Array.from({ length: bytes.length - 1 }, (_, n) => n + 1));
  const below = random(9);
  for (let split = 0; split < SPLITS; split++) {
    const offsets = new Set(Array.from({ length: 1 + below(60) }, () => 1 + below(bytes.length - 1)));
    yield cut([...offsets].sort((a, b) => a - b));
  }
}

const digest = (events) => {
  const lines = events.map((event) => `${JSON.stringify(event)}\n`).join("");
  return `${events.length} ${createHash("sha256").update(lines).digest("hex").slice(0, 16)}`;
};

test("the events of every body are the same however it is cut, and those the daemon sees", () => {
  const found = {};
  for (const { name, shape, body } of all.filter(({ shape }) => shape !== "ollama")) {
    const events = eventsOf([Buffer.from(body)]);
    for (const pieces of splits(body)) assert.deepEqual(eventsOf(pieces), events, `${name} (${shape})`);
    found[name] = digest(events);
  }
  if (UPDATE) writeFileSync(pathOf("events.json"), `${JSON.stringify(found, null, 1)}\n`);
  assert.deepEqual(found, JSON.parse(read("events.json")));
});

test("a second decoder comes to what every recording and every body of our own is expected to come to", () => {
  const found = {};
  const wrong = [];
  for (const { name, shape, body, expected } of all) {
    const said = decode(shape, recordsOf(shape, [Buffer.from(body)]));
    if (!expected) found[name] = { shape, ...said, ...failure(said, written[name]) };
    const told = { text: "", reasoning: "", calls: [], usage: null, ...(expected ?? written[name]) };
    const end = /^(done|length)$/.test(told.end) ? told.end : "failed";
    const parts = end === "done" ? ["text", "reasoning", "calls", "usage", "end"] : ["text", "reasoning", "end"];
    for (const part of parts) {
      const [is, should] = [JSON.stringify(said[part]), JSON.stringify(part === "end" ? end : told[part])];
      if (is !== should) wrong.push(`${name}: ${part} is ${is}, not ${should} (${said.error ?? "no error"})`);
    }
  }
  if (UPDATE) {
    for (const told of Object.values(found)) {
      delete told.error;
      told.keeps = told.end === "done" ? told.keeps.map((kept) => kept.slice(-KEPT_CHARACTERS)) : [];
      if (told.end !== "done") told.calls = [];
    }
    writeFileSync(pathOf("expected.json"), `${JSON.stringify(found, null, 1)}\n`);
  } else {
    assert.deepEqual(Object.keys(written).sort(), Object.keys(found).sort());
  }
  assert.ok(wrong.length === 0, `${wrong.length} differences:\n${wrong.join("\n")}`);
});

/** A failure's kind is the daemon's to say, so one that is written down stays. */
function failure(said, told) {
  if (said.end !== "failed") return {};
  const isFailure = told?.end !== undefined && !/^(done|length)$/.test(told.end);
  return { end: isFailure ? told.end : "badResponse", usage: null };
}
