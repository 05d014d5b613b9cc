// What the compiler knows of arguments, answers and errors. It only has to compile.
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { type RopewalkError, type RunEvent, type Thread, type Tool, tool, Tools } from "../../src/index.js";

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? unknown : never) : never;

/** Takes a value of exactly this type. */
function exactly<Expected>(): <Actual>(value: Actual & Same<Actual, Expected>) => unknown {
  return (value) => value;
}

const described = { description: "A tool." };

export const tools: Tool[] = [
  tool({ ...described, name: "none", run: (args) => exactly<Record<string, never>>()(args) }),
  tool({
    ...described,
    name: "zod",
    input: z.object({ id: z.string(), limit: z.number().default(10) }),
    run: (args) => exactly<{ id: string; limit: number }>()(args),
  }),
  tool({
    ...described,
    name: "arktype",
    input: type({ id: "string", "limit?": "number" }),
    run: (args) => exactly<{ id: string; limit?: number }>()(args),
  }),
  tool({
    ...described,
    name: "valibot",
    input: v.object({ id: v.string() }),
    inputSchema: { type: "object", properties: { id: { type: "string" } } },
    run: (args) => exactly<{ id: string }>()(args),
  }),
  tool({
    ...described,
    name: "literal",
    input: {
      type: "object",
      properties: {
        id: { type: "string" },
        tags: { type: "array", items: { enum: ["a", "b"] } },
        deep: { type: "object" },
      },
      required: ["id"],
    },
    run: (args) => exactly<{ id: string; tags?: ("a" | "b")[]; deep?: Record<string, unknown> }>()(args),
  }),
  // @ts-expect-error a number is no schema
  tool({ ...described, name: "wrong", input: 5, run: () => "x" }),
  // @ts-expect-error a tool says what it is for
  tool({ name: "undescribed", run: () => "x" }),
];

export const registry = new Tools(tools);

/** The answer has the type of the schema that asked for it. */
export async function answers(thread: Thread): Promise<void> {
  const data = await thread.run("x", { outputSchema: z.object({ number: z.number() }) });
  exactly<{ number: number }>()(data.output);
  const plain = await thread.run("x");
  exactly<unknown>()(plain.output);
  for await (const event of thread.run("x")) {
    if (event.type === "completed") console.log(event.result.text);
    // @ts-expect-error only an ended run has a result
    console.log(event.result);
  }
}

/** A tag narrows an event, and what is not listed stays. */
export function shown(event: RunEvent): string {
  switch (event.type) {
    case "text":
      return event.text;
    case "itemCompleted":
      return event.item.kind;
    case "unknown":
      return event.event.event.type;
    default:
      return event.type;
  }
}

/** A kind narrows the data of an error, of the wire's and of this side's. */
export function told(error: RopewalkError): string | number {
  if (error.is("conflict")) return error.data.currentRevision ?? 0;
  if (error.is("reconnectFailed")) return error.data.attempts;
  if (error.data.kind === "tooLarge") return error.data.limit;
  return error.kind;
}
