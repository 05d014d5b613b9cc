// DYN-1 to DYN-9: declaring tools.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { RopewalkError, Tools, tool } from "../../src/index.js";
import { attached, callsOf, connect, connected, onDaemon, textOf, worker } from "../support/clients.js";
import { Model } from "../support/model.js";
import { call, resumed, started } from "../support/shapes.js";

test("dyn_1_tools_are_declared_when_a_thread_is_started_or_resumed", async (context) => {
  const { rope } = await onDaemon(context);
  const thread = await rope.threads.start({ tools: [worker("a", () => "from a")] });
  assert.equal((await thread.run("call a {}")).text, "a: from a");
  const again = await rope.threads.resume(thread.id, { tools: [worker("b", () => "from b")] });
  assert.equal((await again.run("call b {}")).text, "b: from b");
  const own = (await again.tools()).filter(({ sourceKind }) => sourceKind === "client");
  assert.deepEqual(names(own), ["b"]);
});

test("dyn_2_a_handler_is_gone_with_its_client", async (context) => {
  const { daemon, rope } = await onDaemon(context);
  await rope.call("settings/update", { ownerGraceMs: 0 });
  const thread = await rope.threads.start({ tools: [worker("a", () => "from a")] });
  await rope.close();
  const other = await connect(context, { socket: daemon.socket, client: { name: "desk" } });
  const taken = await other.threads.resume(thread.id);
  const result = await taken.run("call a {}");
  assert.equal(result.outcome.status, "completed");
  const [item] = await callsOf(taken, other);
  assert.equal(item.state, "failed");
  assert.notEqual(item.error.code, undefined);
});

test("dyn_3_a_declaration_that_misses_a_field_is_refused_with_its_path", async (context) => {
  const { rope } = await onDaemon(context);
  const whole = { name: "a", description: "Work.", inputSchema: { type: "object" } };
  const without = (field: string): object =>
    Object.fromEntries(Object.entries(whole).filter(([name]) => name !== field));
  for (const field of Object.keys(whole)) {
    const refused = rope.raw("thread/start", { tools: [without(field)] });
    await assert.rejects(refused, (error) => isRefusal(error, "invalidParams", { path: `/tools/0/${field}` }));
  }
  for (const field of ["name", "description"]) {
    const definition = { ...without(field), run: () => "" } as never;
    assert.throws(
      () => tool(definition),
      (error) => isRefusal(error, "invalidTool", { path: `/${field}` }),
    );
  }
});

test("dyn_4_the_model_reads_what_a_namespace_is_for", async (context) => {
  const { rope } = await onDaemon(context);
  const model = await Model.start(context, [{ say: "Hello." }]);
  await rope.call("endpoint/set", model.endpoint);
  const group = { namespace: "tracker", namespaceDescription: "Everything about the issues of Moss." };
  const thread = await rope.threads.start({ tools: [worker("get_issue", () => "", group)] });
  assert.equal((await thread.run("hello")).text, "Hello.");
  const shown = model.requests[0].tools.map((it: { function: { name: string } }) => it.function.name);
  assert.ok(shown.includes("tracker__get_issue"), shown);
  assert.ok(JSON.stringify(model.requests[0]).includes(group.namespaceDescription));
});

test("dyn_5_one_value_declares_and_binds", async (context) => {
  const { fake } = await attached(context, [worker("a", () => "from a")]);
  const inputSchema = { type: "object", properties: {}, additionalProperties: false };
  assert.deepEqual(fake.asked("thread/start")[0].tools, [{ name: "a", description: "Work.", inputSchema }]);
  assert.equal(textOf(await fake.ask("tool/call", call("int-1", "a"))), "from a");
});

for (const [library, input] of [
  ["zod", z.object({ id: z.string() })],
  ["arktype", type({ id: "string" })],
] as const) {
  test(`dyn_6_an_undeclared_property_never_reaches_the_handler_${library}`, async (context) => {
    const { rope } = await onDaemon(context);
    const seen: unknown[] = [];
    const strict = tool({ name: "strict", description: "Work.", input, run: (args) => (seen.push(args), "fine") });
    assert.equal((strict.declaration.inputSchema as any).additionalProperties, false);
    const thread = await rope.threads.start({ tools: [strict] });
    await thread.run('call strict {"id":"7","dry":true}');
    assert.deepEqual(seen, []);
    const [item] = await callsOf(thread, rope);
    assert.equal(item.error.code, "invalid_arguments");
    await thread.run('call strict {"id":"7"}');
    assert.deepEqual(seen, [{ id: "7" }]);
  });
}

test("dyn_6_a_standard_schema_beside_json_schema_checks_once_more_before_the_handler_runs", async (context) => {
  const seen: unknown[] = [];
  const strict = tool({
    name: "strict",
    description: "Work.",
    input: v.strictObject({ id: v.pipe(v.string(), v.transform(Number)) }),
    inputSchema: { type: "object", properties: { id: { type: "string" } }, additionalProperties: false },
    run: ({ id }) => (seen.push(id satisfies number), "fine"),
  });
  const { fake } = await attached(context, [strict]);
  const refused = await fake.ask("tool/call", call("int-1", "strict", { id: "7", dry: true }));
  assert.equal(refused.errorCode, "invalid_arguments");
  assert.match(refused.errorMessage, /dry/);
  await fake.ask("tool/call", call("int-2", "strict", { id: "7" }));
  assert.deepEqual(seen, [7]);
});

test("dyn_7_descriptions_of_fields_become_descriptions_of_the_schema", () => {
  const zod = tool({
    name: "a",
    description: "Work.",
    input: z.object({ id: z.string().describe("The number, without #.") }),
    run: ({ id }) => id,
  });
  assert.equal(described(zod.declaration.inputSchema), "The number, without #.");
  const ark = tool({
    name: "a",
    description: "Work.",
    input: type({ id: type("string").describe("the number, without #") }),
    run: ({ id }) => id,
  });
  assert.equal(described(ark.declaration.inputSchema), "the number, without #");
});

test("dyn_8_one_registry_serves_many_threads", async (context) => {
  const { fake, rope } = await connected(context);
  const tools = new Tools([worker("a", () => "from a")]).add(worker("b", () => "from b"));
  assert.deepEqual(names(tools.declarations()), ["a", "b"]);
  for (const threadId of ["th-1", "th-2"]) {
    fake.reply("thread/start", () => started(threadId, 3));
    await rope.threads.start({ tools });
    assert.deepEqual(names(fake.asked("thread/start").at(-1).tools), ["a", "b"]);
    assert.equal(textOf(await fake.ask("tool/call", call(`int-${threadId}`, "b", {}, { threadId }))), "from b");
  }
});

test("dyn_9_an_attached_tool_is_declared_beside_the_others_and_detached_by_its_registration", async (context) => {
  const { fake, thread } = await attached(context, [worker("a", () => "from a")]);
  fake.reply("thread/resume", () => resumed("th-1", 4));
  const registration = await thread.attach(worker("b", () => "from b"));
  const [sent] = fake.asked("thread/resume");
  assert.deepEqual([names(sent.tools), sent.after], [["a", "b"], 3]);
  assert.equal(textOf(await fake.ask("tool/call", call("int-1", "b"))), "from b");
  registration.detach();
  assert.equal((await fake.ask("tool/call", call("int-2", "b"))).errorCode, "UnsupportedTool");
  assert.equal(textOf(await fake.ask("tool/call", call("int-3", "a"))), "from a");
  await thread.attach(worker("b", () => "again"));
  assert.equal(textOf(await fake.ask("tool/call", call("int-4", "b"))), "again");
  assert.equal(fake.asked("thread/resume").length, 1, "its declaration has stayed");
});

test("dyn_9_a_tool_that_was_detached_is_unsupported_for_the_model_too", async (context) => {
  const { rope } = await onDaemon(context);
  const thread = await rope.threads.start();
  const registration = await thread.attach(worker("b", () => "from b"));
  assert.equal((await thread.run("call b {}")).text, "b: from b");
  registration.detach();
  await thread.run("call b {}");
  const item = (await callsOf(thread, rope)).at(-1);
  assert.equal(item.error.code, "UnsupportedTool");
});

test("what_is_no_declaration_no_option_and_no_input_is_refused_with_what_to_give_before_anything_is_sent", async (context) => {
  const work = { name: "a", description: "Work.", run: () => "" };
  for (const [definition, path] of [
    [{ ...work, parameters: {} }, "/parameters"],
    [{ ...work, run: "done" }, "/run"],
    [{ ...work, input: 7 }, "/input"],
    [undefined, ""],
  ]) {
    assert.throws(
      () => tool(definition as never),
      (error) => isRefusal(error, "invalidTool", { path }),
    );
  }
  const { fake, rope, thread } = await attached(context);
  const before = fake.requests;
  for (const tools of [worker("a", () => ""), [work], [undefined], 7]) {
    const refused = rope.threads.start({ tools: tools as never });
    await assert.rejects(refused, (error) => isRefusal(error, "invalidTool", {}));
  }
  for (const input of [undefined, null, 7]) {
    const refused = async (): Promise<unknown> => thread.run(input as never);
    await assert.rejects(refused, (error) => isRefusal(error, "invalidOption", { option: "input" }));
  }
  const misspelt: [() => unknown, string][] = [
    [() => connect(context, { onAproval: () => "accept" } as never), "onAproval"],
    [() => connect(context, { socket: 5 } as never), "socket"],
    [() => connect(context, { start: "no" } as never), "start"],
    [() => connect(context, { client: "me" } as never), "client"],
    [() => connect(context, { client: { nmae: "me" } } as never), "client.nmae"],
    [() => rope.threads.start({ tool: [] } as never), "tool"],
    [() => rope.threads.resume(thread.id, { takeOver: true } as never), "takeOver"],
    [() => thread.run("say x", { outputschema: {} } as never), "outputschema"],
    [() => thread.send("say x", { Wait: true } as never), "Wait"],
    [() => rope.raw(undefined as never), "method"],
  ];
  for (const [wrong, option] of misspelt) {
    const refused = async (): Promise<unknown> => wrong();
    await assert.rejects(refused, (error) => isRefusal(error, "invalidOption", { option }));
  }
  assert.equal(fake.requests, before);
});

function names(tools: readonly { name: string }[]): string[] {
  return tools.map(({ name }) => name);
}

function described(schema: any): string {
  return schema.properties.id.description;
}

function isRefusal(error: unknown, kind: string, fields: object): boolean {
  assert.ok(error instanceof RopewalkError, String(error));
  assert.equal(error.kind, kind);
  for (const [name, value] of Object.entries(fields)) assert.equal((error.data as any)[name], value);
  return true;
}
