// The normalising pass: what it must keep, and what it must refuse.
import assert from "node:assert/strict";
import { test } from "node:test";
import { normalised } from "../../scripts/normalise.mjs";

test("a reference keeps its comment and still becomes the type it names", () => {
  const { A } = normalised({ A: { $ref: "#/$defs/B", description: "why" } });
  assert.deepEqual(A, { description: "why", allOf: [{ $ref: "#/$defs/B" }] });
});

test("a reference with properties beside it is refused, because they would be lost", () => {
  assert.throws(() => normalised({ A: { $ref: "#/$defs/B", properties: { type: { const: "a" } } } }), /would be lost/);
});

test("a schema without a constraint is anything, not an object", () => {
  const { A } = normalised({ A: { type: "object", properties: { answer: { description: "any JSON" } } } });
  assert.equal(A.properties.answer.tsType, "unknown");
});

test("a property may be called like a keyword", () => {
  const { A } = normalised({
    A: { type: "object", properties: { description: { type: "string" }, items: { type: "array", items: {} } } },
  });
  assert.deepEqual(A.properties.description, { type: "string" });
  assert.equal(A.properties.items.items.tsType, "unknown");
});
