// A tool as one value: what is declared to the daemon, and the function that answers its calls.

import { isObject } from "../base/json.js";
import { kindOf } from "../duties/fence.js";
import { localError, type RopewalkError } from "../errors.js";
import type { ApprovalWish, ToolCallAnswer, ToolDeclaration } from "../generated/protocol.js";
import type { ToolContext } from "./context.js";
import { type AnySchema, type OutputOf, recognise } from "./input.js";
import { checkDeclaration } from "./names.js";
import { resultAnswer, ToolError } from "./result.js";

/** What describes a tool. */
export interface ToolDefinition<Input> {
  /** The tool's name, `[A-Za-z0-9_-]{1,64}`. The model sees `namespace__name`, or `name` without a namespace. */
  name: string;
  /** A group for tools that belong together, `[A-Za-z0-9_-]{1,64}`. */
  namespace?: string;
  /** What the group is for: the same in every tool of the namespace that says it. */
  namespaceDescription?: string;
  /** What the model is told about the tool, at most 2,048 characters. Say when to use it, not only what it does. */
  description: string;
  /**
   * What the arguments are: a schema that says its JSON Schema (zod 4.2 or newer, arktype), any Standard Schema beside
   * `inputSchema`, or JSON Schema with `type: "object"`. A tool without it takes no arguments.
   *
   * A schema the SDK makes JSON Schema of is closed: a property it does not declare is refused, and the handler not called.
   * JSON Schema of yours is sent as it is. The daemon checks arguments before they are sent here; a Standard Schema checks
   * them once more here, and the handler gets what it makes of them.
   */
  input?: Input;
  /** The JSON Schema of the arguments, for an `input` that does not say its own. Sent as it is; its `type` is `object`. */
  inputSchema?: Record<string, unknown>;
  /** The shape of the structured content of results: a schema that says its JSON Schema, or JSON Schema. */
  outputSchema?: unknown;
  /** What people call the tool. */
  title?: string;
  /** It changes nothing. A read-only tool may be called again by another instance of this client. */
  readOnly?: boolean;
  /** It may destroy something. */
  destructive?: boolean;
  /** Calling it twice has the effect of calling it once. */
  idempotent?: boolean;
  /** It reaches beyond this machine. */
  openWorld?: boolean;
  /** How long a call may be silent, 1,000 to 3,600,000 ms; 120,000 unless given. `progress` breaks the silence. */
  timeoutMs?: number;
  /** Whether a person is asked before each call when no rule says otherwise: `"ask"`. */
  approval?: ApprovalWish;
  /**
   * The function that answers calls. It may return a string, anything that is JSON, or `{content, structured}`
   * ({@link ToolOutput}); `undefined` is a mistake that fails the call. A throw or a rejection is the result of that call alone
   * (`AdapterToolCallFailed`, or the code of a {@link ToolError}) and ends nothing else.
   */
  run: (args: Arguments<Input>, context: ToolContext) => unknown;
}

/** The arguments of a handler, by the input of its tool. */
export type Arguments<Input> = [Input] extends [undefined] ? Record<string, never> : OutputOf<Input>;

/**
 * A function of this process that a model can call: its declaration and its handler. Made by {@link tool}. One value can be
 * bound to any number of threads and is called by them at the same time.
 */
export interface Tool {
  /** What the daemon is told about the tool. */
  readonly declaration: ToolDeclaration;
  /** Answers a call. Used by the SDK. */
  readonly handler: (args: unknown, context: ToolContext) => Promise<unknown>;
}

/**
 * Makes a tool: one value of declaration and handler.
 *
 * ```ts
 * const getIssue = tool({
 *   namespace: "tracker",
 *   name: "get_issue",
 *   description: "Read an issue.",
 *   input: z.object({ id: z.string().describe("The number, without #.") }),
 *   readOnly: true,
 *   run: async ({ id }, { signal }) => issues.get(id, signal),
 * });
 * ```
 *
 * **Handlers are not sandboxed.** They run in this process with its permissions, whatever the model has put into the
 * arguments: a handler checks for itself what its caller may do.
 *
 * @throws {@link RopewalkError} `invalidTool` with the field and what is wrong with it; nothing was sent.
 */
export function tool<const Input extends AnySchema | undefined = undefined>(definition: ToolDefinition<Input>): Tool {
  checkFields(definition);
  const { name, namespace, namespaceDescription, description, title, timeoutMs, approval } = definition;
  const input = inputOf(definition);
  const outputSchema = outputOf(definition);
  const annotations = annotationsOf(definition);
  const declaration: ToolDeclaration = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(namespaceDescription === undefined ? {} : { namespaceDescription }),
    name,
    description,
    inputSchema: input.jsonSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    ...(title === undefined ? {} : { title }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(approval === undefined ? {} : { approval }),
  };
  checkDeclaration(declaration);
  if (typeof definition.run !== "function") throw invalid(name, "/run", "it is the function that answers calls.");
  const handler = async (args: unknown, context: ToolContext): Promise<unknown> => {
    const checked = input.check ? await input.check(args) : { value: args };
    if ("problem" in checked) {
      throw new ToolError(`The arguments do not fit the tool: ${checked.problem}`, "invalid_arguments");
    }
    return definition.run(checked.value as Arguments<Input>, context);
  };
  return Object.freeze({ declaration, handler });
}

/** A definition without what depends on its input. */
type Described = Omit<ToolDefinition<unknown>, "run">;

/** Every field there is: a schema under another name would be no schema at all, and the compiler is not there for everybody. */
const known: Record<keyof ToolDefinition<unknown>, true> = {
  name: true,
  namespace: true,
  namespaceDescription: true,
  description: true,
  input: true,
  inputSchema: true,
  outputSchema: true,
  title: true,
  readOnly: true,
  destructive: true,
  idempotent: true,
  openWorld: true,
  timeoutMs: true,
  approval: true,
  run: true,
};

function checkFields(definition: unknown): void {
  if (!isObject(definition)) throw invalid("", "", `the definition is ${kindOf(definition)}, and no object.`);
  const unknown = Object.keys(definition).find((field) => !Object.hasOwn(known, field));
  if (unknown === undefined) return;
  const name = typeof definition.name === "string" ? definition.name : "";
  throw invalid(name, `/${unknown}`, `there is no such field; there are ${Object.keys(known).join(", ")}.`);
}

/** What tells tools of one client apart. */
export function toolKey({ namespace, name }: { namespace?: string | undefined; name: string }): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}

/** Calls a tool and makes the answer of what it returns. */
export async function runTool(tool: Tool, args: unknown, context: ToolContext): Promise<ToolCallAnswer> {
  return resultAnswer(await tool.handler(args, context), toolKey(tool.declaration));
}

function inputOf({ name, input, inputSchema }: Described): ReturnType<typeof recognised> {
  const none = { type: "object", properties: {}, additionalProperties: false };
  if (input === undefined && inputSchema === undefined) return { jsonSchema: none, check: undefined };
  return recognised(name, "/input", recognise(input, inputSchema, { own: "input", given: "inputSchema" }));
}

function outputOf({ name, outputSchema }: Described): unknown {
  if (outputSchema === undefined) return undefined;
  const names = { own: "outputSchema", given: "outputSchema" };
  return recognised(name, "/outputSchema", recognise(outputSchema, undefined, names)).jsonSchema;
}

function recognised(
  name: string,
  path: string,
  it: ReturnType<typeof recognise>,
): Exclude<typeof it, { reason: string }> {
  if ("reason" in it) throw invalid(name, path, it.reason);
  return it;
}

function annotationsOf(definition: Described): NonNullable<ToolDeclaration["annotations"]> {
  const { readOnly, destructive, idempotent, openWorld } = definition;
  return {
    ...(readOnly === undefined ? {} : { readOnlyHint: readOnly }),
    ...(destructive === undefined ? {} : { destructiveHint: destructive }),
    ...(idempotent === undefined ? {} : { idempotentHint: idempotent }),
    ...(openWorld === undefined ? {} : { openWorldHint: openWorld }),
  };
}

function invalid(tool: string, path: string, reason: string): RopewalkError {
  const message = `The tool \`${tool}\` cannot be declared: ${path}: ${reason}`;
  return localError("invalidTool", { tool, path, reason }, message);
}
