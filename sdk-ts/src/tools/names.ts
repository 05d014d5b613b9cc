// The rules and limits of declarations, checked before anything is sent so that the error can name the tool's author.

import { describe } from "../duties/fence.js";
import { localError } from "../errors.js";
import { limits, type ToolDeclaration } from "../generated/protocol.js";
import { isObject } from "../base/json.js";

/** Longest name the model sees. */
const FLAT_NAME_CHARACTERS = 64;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether a declaration keeps the rules and limits of the wire; throws `invalidTool` with the field if not. */
export function checkDeclaration(declaration: ToolDeclaration): void {
  const problem = namesProblem(declaration) ?? textProblem(declaration) ?? schemaProblem(declaration);
  if (!problem) return;
  const [path, reason] = problem;
  const tool = declaration.name;
  const message = `The tool \`${tool}\` cannot be declared: ${path}: ${reason}.`;
  throw localError("invalidTool", { tool, path, reason }, message);
}

type Problem = readonly [path: string, reason: string] | undefined;

function namesProblem({ name, namespace }: ToolDeclaration): Problem {
  const rule = (given: unknown): string =>
    `\`${String(given)}\` is not 1 to 64 of A to Z, a to z, 0 to 9, \`_\` and \`-\``;
  if (typeof name !== "string" || !NAME.test(name)) return ["/name", rule(name)];
  if (namespace !== undefined && !NAME.test(namespace)) return ["/namespace", rule(namespace)];
  const characters = name.length + (namespace === undefined ? 0 : namespace.length + "__".length);
  if (characters > FLAT_NAME_CHARACTERS) {
    return ["/name", `the name the model sees has ${characters} characters, at most 64 are allowed`];
  }
  if ((namespace ?? name).startsWith("mcp_")) return ["/name", "names that begin with `mcp_` are reserved for servers"];
  return undefined;
}

function textProblem({ description, timeoutMs }: ToolDeclaration): Problem {
  if (typeof description !== "string" || description.trim() === "") {
    return ["/description", "the model needs a description to know when to call it"];
  }
  const characters = Array.from(description).length;
  if (characters > limits.descriptionCharacters) {
    return ["/description", `it has ${characters} characters, at most 2,048 are allowed`];
  }
  const isTime =
    timeoutMs === undefined || (Number.isInteger(timeoutMs) && timeoutMs >= 1_000 && timeoutMs <= 3_600_000);
  return isTime ? undefined : ["/timeoutMs", `${timeoutMs} is not between 1,000 and 3,600,000`];
}

function schemaProblem({ inputSchema, outputSchema }: ToolDeclaration): Problem {
  if (!isObject(inputSchema) || inputSchema.type !== "object") {
    return ["/inputSchema/type", "arguments are an object: the schema's type is `object`"];
  }
  const reason = sizeProblem(inputSchema);
  if (reason !== undefined) return ["/inputSchema", reason];
  const other = outputSchema === undefined ? undefined : sizeProblem(outputSchema);
  return other === undefined ? undefined : ["/outputSchema", other];
}

function sizeProblem(schema: unknown): string | undefined {
  let text: string;
  try {
    text = JSON.stringify(schema);
  } catch (error) {
    return `the schema cannot be written as JSON: ${describe(error)}`;
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.schemaBytes) return `the schema has ${bytes} bytes, at most 65,536 are allowed`;
  const deep = levels(schema);
  return deep > limits.schemaLevels ? `the schema is nested ${deep} deep, at most 64 are allowed` : undefined;
}

function levels(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Object.values(value).reduce<number>((most, member) => Math.max(most, levels(member)), 0);
}
