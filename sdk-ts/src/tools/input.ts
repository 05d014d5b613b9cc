// What may be given as the input of a tool, or as the shape of an answer: recognised once, so that anything else is an error
// that names the way out.

import { isObject } from "../base/json.js";
import { describe, kindOf } from "../duties/fence.js";
import { closed } from "./close.js";
import type { FromJsonSchema, JsonObjectSchema } from "./json-schema.js";
import type { StandardIssue, StandardJsonSchema, StandardSchema, TypesOf } from "./standard.js";

/** A schema of any kind that is taken. */
export type AnySchema = StandardSchema | StandardJsonSchema | JsonObjectSchema;

/** What arrives, after the schema has checked it: its output type, or what a literal JSON Schema describes. */
export type OutputOf<Schema> = Schema extends { readonly "~standard": unknown }
  ? TypesOf<Schema>["output"]
  : FromJsonSchema<Schema>;

/** What came of a check. */
export type Checked = { readonly value: unknown } | { readonly problem: string };

/** A schema that was recognised. */
export interface Recognised {
  /** What is sent to the daemon. */
  readonly jsonSchema: unknown;
  /** Checks a value once more on this side, and gives it the form the schema's author wanted. Not for JSON Schema. */
  readonly check: ((value: unknown) => Promise<Checked>) | undefined;
}

/** Why something is no schema that is taken. */
export interface Unrecognised {
  readonly reason: string;
}

/** Recognises a schema. `given` is the JSON Schema beside it, where its author wrote one. */
export function recognise(
  schema: unknown,
  given: unknown,
  names: { own: string; given: string },
): Recognised | Unrecognised {
  const standard = standardOf(schema);
  const check = standard && "validate" in standard ? checkBy(standard as StandardSchema["~standard"]) : undefined;
  if (given !== undefined) {
    if (!isObject(given)) return { reason: `\`${names.given}\` is ${kindOf(given)}, and no JSON Schema.` };
    return { jsonSchema: given, check };
  }
  if (standard) return fromStandard(standard, check, names.given);
  if (isJsonSchema(schema)) return { jsonSchema: schema, check: undefined };
  const ways =
    "Give a schema that says its JSON Schema (zod 4.2 or newer, arktype), any Standard Schema beside " +
    `\`${names.given}\`, or JSON Schema with \`type: "object"\`.`;
  return { reason: `\`${names.own}\` is ${kindOf(schema)}, and no schema. ${ways}` };
}

type Standard = Partial<StandardSchema["~standard"] & StandardJsonSchema["~standard"]>;

function standardOf(schema: unknown): Standard | undefined {
  const may = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  if (!may || !("~standard" in schema)) return undefined;
  return isObject(schema["~standard"]) ? schema["~standard"] : undefined;
}

function fromStandard(standard: Standard, check: Recognised["check"], beside: string): Recognised | Unrecognised {
  const vendor = typeof standard.vendor === "string" ? standard.vendor : "its library";
  const converter: unknown = standard.jsonSchema?.input;
  if (typeof converter !== "function") {
    const update = vendor === "zod" ? "Update zod to 4.2 or newer, or give" : "Give";
    return { reason: `The schema of ${vendor} does not say its JSON Schema. ${update} it as \`${beside}\`.` };
  }
  try {
    const schema: unknown = standard.jsonSchema?.input({ target: "draft-2020-12" });
    if (isObject(schema)) return { jsonSchema: closed(schema), check };
    return { reason: `${vendor} gives ${kindOf(schema)} as its JSON Schema. Give it as \`${beside}\`.` };
  } catch (error) {
    return { reason: `${vendor} cannot say its JSON Schema: ${describe(error)}. Give it as \`${beside}\`.` };
  }
}

function isJsonSchema(schema: unknown): boolean {
  return isObject(schema) && schema.type === "object";
}

function checkBy(standard: StandardSchema["~standard"]): (value: unknown) => Promise<Checked> {
  return async (value) => {
    const result = await standard.validate(value);
    if (!result.issues) return { value: result.value };
    return { problem: result.issues.slice(0, 5).map(issueText).join("; ") || "it does not fit." };
  };
}

function issueText({ message, path }: StandardIssue): string {
  const keys = (path ?? []).map((part) => String(typeof part === "object" ? part.key : part));
  const pointer = keys.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return pointer === "" ? message : `${pointer}: ${message}`;
}
