// Tools as values: which schemas are taken, what is refused and how the way out is named.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RopewalkError, tool, Tools } from "../../dist/index.js";
import { closed } from "../../dist/tools/close.js";
import { client, soon, toolCall } from "./support.mjs";

const made = (definition) => tool({ name: "t", description: "A tool.", run: () => "done", ...definition });
const refused = (definition, path, pattern) =>
  assert.throws(
    () => made(definition),
    (error) => {
      assert.ok(error instanceof RopewalkError && error.is("invalidTool"), String(error));
      assert.equal(error.data.path, path);
      assert.match(error.message, pattern);
      return true;
    },
  );

/** A schema as a library would make it. */
function standard(parts = {}, vendor = "zod") {
  const validate = (value) =>
    typeof value?.id === "string"
      ? { value: { id: value.id.trim() } }
      : { issues: [{ message: "no id", path: ["id"] }] };
  return { "~standard": { version: 1, vendor, validate, ...parts } };
}
const says = (schema) => ({ jsonSchema: { input: () => schema, output: () => ({}) } });
const idSchema = { $schema: "x", type: "object", properties: { id: { type: "string" } }, required: ["id"] };

test("dyn_6 a schema that says its JSON Schema is declared closed", () => {
  const { declaration } = made({ input: standard(says(idSchema)) });
  const rest = { type: idSchema.type, properties: idSchema.properties, required: idSchema.required };
  assert.deepEqual(declaration.inputSchema, { ...rest, additionalProperties: false });
  // Those of arktype are functions.
  const callable = Object.assign(() => undefined, standard(says(idSchema), "arktype"));
  assert.equal(made({ input: callable }).declaration.inputSchema.additionalProperties, false);
});

test("any standard schema is taken beside an inputSchema, which is sent as it is", () => {
  const { declaration } = made({ input: standard(), inputSchema: idSchema });
  assert.deepEqual(declaration.inputSchema, idSchema);
});

test("json schema is sent as it is, and a tool without input takes nothing", () => {
  assert.deepEqual(made({ input: idSchema }).declaration.inputSchema, idSchema);
  const nothing = { type: "object", properties: {}, additionalProperties: false };
  assert.deepEqual(made({}).declaration.inputSchema, nothing);
});

test("what is no schema is refused, and the way out is named", () => {
  refused({ input: standard() }, "/input", /Update zod to 4\.2 or newer, or give it as `inputSchema`/);
  refused(
    { input: standard({}, "valibot") },
    "/input",
    /valibot does not say its JSON Schema\. Give it as `inputSchema`/,
  );
  refused({ input: { id: "string" } }, "/input", /zod 4\.2 or newer, arktype.*`inputSchema`.*type: "object"/);
  refused({ input: "string" }, "/input", /`input` is a string/);
  refused({ input: null }, "/input", /`input` is null/);
  refused({ inputSchema: 7 }, "/input", /the number 7/);
  const broken = {
    jsonSchema: {
      input: () => {
        throw new Error("no dates");
      },
    },
  };
  refused({ input: standard(broken) }, "/input", /cannot say its JSON Schema: no dates/);
  refused({ input: standard(says({ type: "string" })) }, "/inputSchema/type", /arguments are an object/);
  refused({ outputSchema: 1 }, "/outputSchema", /no schema/);
});

test("dyn_3 a declaration that breaks a rule is refused with its field", () => {
  refused({ name: "get issue" }, "/name", /A to Z/);
  refused({ name: "" }, "/name", /1 to 64/);
  refused({ namespace: "a b" }, "/namespace", /A to Z/);
  refused({ namespace: "n".repeat(33), name: "m".repeat(30) }, "/name", /65 characters/);
  refused({ name: "mcp_x" }, "/name", /reserved/);
  refused({ description: " " }, "/description", /needs a description/);
  refused({ description: "x".repeat(2_049) }, "/description", /2049 characters/);
  refused({ timeoutMs: 999 }, "/timeoutMs", /999/);
  refused({ run: undefined }, "/run", /function/);
  refused({ input: { type: "object", description: "x".repeat(65_536) } }, "/inputSchema", /65,536/);
  let deep = {};
  for (let level = 0; level < 70; level += 1) deep = { items: deep };
  refused({ input: { type: "object", deep } }, "/inputSchema", /deep/);
  const cyclic = { type: "object" };
  cyclic.self = cyclic;
  refused({ input: cyclic }, "/inputSchema", /JSON/);
});

test("dyn_35 annotations, output schema, timeout and approval wish are declared", () => {
  const { declaration } = made({
    ...{ namespace: "n", namespaceDescription: "A group.", title: "T", readOnly: true, destructive: false },
    ...{ idempotent: true, openWorld: true, timeoutMs: 5_000, approval: "ask", outputSchema: { type: "object" } },
  });
  assert.deepEqual(declaration.annotations, {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: true,
  });
  assert.equal(declaration.approval, "ask");
  assert.equal(declaration.timeoutMs, 5_000);
  assert.deepEqual(declaration.outputSchema, { type: "object" });
});

test("dyn_6 levels that say themselves what they consist of are closed, and no others", () => {
  const schema = closed({
    type: "object",
    properties: {
      map: { type: "object", additionalProperties: { type: "object", properties: {} } },
      loose: { type: "object", properties: {}, additionalProperties: {} },
      list: { type: "array", items: { properties: { a: {} } } },
      both: { type: "object", allOf: [{ type: "object", properties: { a: {} }, additionalProperties: false }] },
    },
    $defs: { D: { type: "object", properties: {} } },
  });
  assert.equal(schema.additionalProperties, false);
  assert.deepEqual(schema.properties.map.additionalProperties.additionalProperties, false);
  assert.deepEqual(schema.properties.loose.additionalProperties, {});
  assert.equal(schema.properties.list.items.additionalProperties, false);
  assert.equal(schema.properties.both.unevaluatedProperties, false);
  assert.equal("additionalProperties" in schema.properties.both.allOf[0], false);
  assert.equal(schema.$defs.D.additionalProperties, false);
});

test("dyn_8 a registry is built once, lists its declarations, and takes what is newer of one name", () => {
  const [a, b, again] = [made({ name: "a" }), made({ name: "b" }), made({ name: "a", title: "new" })];
  const tools = new Tools([a, b]).add(again);
  assert.equal(tools.size, 2);
  assert.deepEqual(
    tools.declarations().map(({ name, title }) => [name, title]),
    [
      ["b", undefined],
      ["a", "new"],
    ],
  );
  const many = new Tools(Array.from({ length: 129 }, (_, index) => made({ name: `t${index}` })));
  assert.throws(() => many.check(), { kind: "invalidTool" });
  assert.throws(() => new Tools([{ name: "raw" }]), { kind: "invalidTool" });
});

test("dyn_5 dyn_16 one value declares and binds, and the handler gets what the schema makes of the arguments", async () => {
  const { rope, wire } = await client();
  const seen = [];
  const run = (args, context) => (seen.push([args, context.runId, context.callId, context.tool]), "ok");
  const trim = tool({ name: "work", description: "W.", input: standard(says(idSchema)), run });
  await soon(rope.threads.start({ tools: [trim] }));
  assert.equal(wire().heard.find(({ method }) => method === "thread/start").params.tools[0].name, "work");
  assert.equal((await wire().ask("tool/call", toolCall("i-1", "work", { id: " 7 " }))).result.success, true);
  assert.deepEqual(seen, [[{ id: "7" }, "run-1", "call-i-1", "work"]]);
  const { result } = await wire().ask("tool/call", toolCall("i-2", "work", { id: 7 }));
  assert.equal(result.errorCode, "invalid_arguments");
  assert.match(result.errorMessage, /\/id: no id/);
  assert.equal(seen.length, 1);
  await soon(rope.close());
});

test("dyn_9 dyn_13 a handler is attached, and detached by its registration", async () => {
  const tools = [];
  const { rope, wire } = await client();
  const thread = await soon(rope.threads.start());
  assert.equal((await wire().ask("tool/call", toolCall("i-0", "later"))).result.errorCode, "UnsupportedTool");
  const later = tool({ name: "later", description: "L.", run: () => "here" });
  const registration = await soon(thread.attach(later));
  tools.push(
    ...wire()
      .heard.filter(({ method }) => method === "thread/resume")
      .map(({ params }) => params.tools),
  );
  assert.deepEqual(
    tools.map((set) => set.map(({ name }) => name)),
    [["later"]],
  );
  assert.equal((await wire().ask("tool/call", toolCall("i-1", "later"))).result.success, true);
  registration.detach();
  registration.detach();
  assert.equal((await wire().ask("tool/call", toolCall("i-2", "later"))).result.errorCode, "UnsupportedTool");
  // Declared before in the very same words: the daemon is not asked.
  await soon(thread.attach(later));
  assert.equal(wire().count("thread/resume"), 1);
  assert.equal((await wire().ask("tool/call", toolCall("i-3", "later"))).result.success, true);
  await soon(rope.close());
});

test("an attachment the daemon refuses changes nothing", async () => {
  const refuse = (request, wire) => wire.refuse(request, "conflict", { currentRevision: 1, current: {} }, -32006);
  const { rope, wire } = await client({}, { "thread/resume": refuse });
  const thread = await soon(rope.threads.start());
  const later = tool({ name: "later", description: "L.", run: () => "here" });
  await assert.rejects(soon(thread.attach(later)), { kind: "conflict" });
  assert.equal((await wire().ask("tool/call", toolCall("i-1", "later"))).result.errorCode, "UnsupportedTool");
  await soon(rope.close());
});

test("a call that comes before the answer to its thread's start waits for the handlers", async () => {
  const start = (request, wire) => {
    const answer = wire.ask("tool/call", toolCall("i-1"));
    answers.push(answer);
    wire.answer(request, { thread: { threadId: "th-1" }, seq: 3, tools: [], replayed: false });
  };
  const answers = [];
  const { rope } = await client({}, { "thread/start": start });
  await soon(rope.threads.start({ tools: [tool({ name: "work", description: "W.", run: () => "early" })] }));
  assert.equal((await answers[0]).result.contentItems[0].text, "early");
  await soon(rope.close());
});
