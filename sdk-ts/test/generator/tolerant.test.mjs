// Which unions tolerate strangers: what the daemon sends does, what clients send does not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tolerant } from "../../scripts/tolerant.mjs";

const word = (...values) => ({ oneOf: values.map((value) => ({ type: "string", const: value })) });
const ref = (name) => ({ $ref: `#/$defs/${name}` });
const object = (properties) => ({ type: "object", properties });
const bundle = (defs) => ({
  methods: { ask: { direction: "toDaemon", params: ref("Params"), result: ref("Result") } },
  notifications: {},
  $defs: { Params: object({}), Result: object({}), ...defs },
});

test("words that only the daemon says are open under their name", () => {
  const made = tolerant(bundle({ Result: object({ state: ref("State") }), State: word("a", "b") }));
  assert.deepEqual(made.State.anyOf.at(-1), { tsType: "Unlisted" });
});

test("words that clients say too are closed, and opened where the daemon says them", () => {
  const both = { Params: object({ mode: ref("Mode") }), Result: object({ mode: ref("Mode") }), Mode: word("a") };
  const made = tolerant(bundle(both));
  assert.deepEqual(made.Mode, both.Mode);
  assert.deepEqual(made.Params.properties.mode, ref("Mode"));
  assert.deepEqual(made.Result.properties.mode.anyOf, [ref("Mode"), { tsType: "Unlisted" }]);
});

test("an object of both sides that holds such words is read as a type of its own", () => {
  const both = {
    Params: object({ who: ref("Who") }),
    Result: object({ who: ref("Who") }),
    Who: object({ kind: ref("Kind") }),
  };
  const made = tolerant(bundle({ ...both, Kind: word("a") }));
  assert.deepEqual(made.Params.properties.who, ref("Who"));
  assert.equal(made.Result.properties.who.$ref, "#/$defs/ReadWho");
  assert.deepEqual(made.ReadWho.properties.kind.anyOf.at(-1), { tsType: "Unlisted" });
});

test("a union of objects takes a stranger with the same tag, beside fields they have in common too", () => {
  const tagged = (tag) => object({ type: { type: "string", const: tag } });
  const made = tolerant(
    bundle({ Result: { allOf: [object({ at: { type: "string" } }), { oneOf: [tagged("a"), tagged("b")] }] } }),
  );
  assert.deepEqual(made.Result.allOf[1].anyOf.at(-1), { tsType: 'UnlistedMember<"type">' });
});
