// What handlers may return or throw, and what becomes of it on the wire.

import { isObject } from "../base/json.js";
import { describe, kindOf, wellFormed } from "../duties/fence.js";
import type { ResultPart, ToolCallAnswer } from "../generated/protocol.js";

/** The code of a failure for which the handler gave none. */
export const FAILED = "AdapterToolCallFailed";
/** The longest code the wire takes. */
const CODE_CHARACTERS = 128;
/** The code of a call for which there is no handler. */
export const UNSUPPORTED = "UnsupportedTool";

/**
 * A failure of a call with a stable word that programs can tell from others: `throw new ToolError("There is no issue 7.",
 * "not_found")`. Anything else that is thrown fails the call as `AdapterToolCallFailed`, with its message and its causes.
 * The sentence is for the model: write it so that it can do better next time.
 */
export class ToolError extends Error {
  /** The stable word. */
  readonly code: string;

  constructor(message: string, code: string = FAILED, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "ToolError";
    this.code = code;
  }
}

/** A result in full: what the model is told, and data for clients beside it. */
export interface ToolOutput {
  /** What the model is told: text, or parts. Absent or empty counts as the word `Done.`, because a success needs content. */
  readonly content?: string | readonly ResultPart[] | undefined;
  /** Data for clients; never enters the model's context. Fits the tool's output schema, if it declares one. */
  readonly structured?: unknown;
}

/**
 * The answer to a call, from what its handler returned:
 *
 * | returned | the model is told | clients get as data |
 * |---|---|---|
 * | a string | it | |
 * | an object of `content` and `structured` alone ({@link ToolOutput}) | `content` | `structured` |
 * | any other object, an array, a number, a boolean | its JSON | itself |
 * | `null` | `null` | |
 * | an object with `toJSON`, such as a `Date` | what that gives | what that gives |
 *
 * `undefined`, `NaN`, a `Map`, a `Set`, a function and whatever else is no JSON fail the call with a sentence that says so.
 */
export function resultAnswer(returned: unknown, tool: string): ToolCallAnswer {
  if (returned === undefined) {
    throw new ToolError(`The handler of ${tool} returned undefined. Return a string, JSON, or {content, structured}.`);
  }
  if (typeof returned === "string") return success([{ type: "text", text: returned }]);
  if (isOutput(returned)) return outputAnswer(returned, tool);
  const text = jsonText(returned, tool);
  const value: unknown = JSON.parse(text);
  const content: ResultPart[] = [{ type: "text", text: typeof value === "string" ? value : text }];
  return value === null || typeof value === "string" ? success(content) : success(content, value);
}

/** The answer to a call that failed, from what was thrown. Never throws itself. */
export function failureAnswer(thrown: unknown): ToolCallAnswer {
  let code = FAILED;
  try {
    if (thrown instanceof ToolError && isCode(thrown.code)) code = thrown.code;
  } catch {
    // A getter of a subclass may throw; the failure then has the common code.
  }
  const errorMessage = describe(thrown) || "The tool failed without saying why.";
  return { success: false, errorCode: code, errorMessage };
}

/** Whether the daemon takes it as the code of a failure; another would hide the failure's sentence behind one about the code. */
function isCode(code: unknown): code is string {
  return typeof code === "string" && code !== "" && code.length <= CODE_CHARACTERS && wellFormed(code) === code;
}

function success(contentItems: ResultPart[], structuredContent?: unknown): ToolCallAnswer {
  return { success: true, contentItems, ...(structuredContent === undefined ? {} : { structuredContent }) };
}

/** Whether a value is a result in full: an object of these two members and nothing else. */
function isOutput(value: unknown): value is ToolOutput {
  if (!isObject(value)) return false;
  const keys = Object.keys(value);
  if (keys.length === 0 || keys.some((key) => key !== "content" && key !== "structured")) return false;
  const { content } = value;
  return content === undefined || typeof content === "string" || Array.isArray(content);
}

function outputAnswer({ content, structured }: ToolOutput, tool: string): ToolCallAnswer {
  const parts: readonly ResultPart[] =
    typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  const told: ResultPart[] = parts.length === 0 ? [{ type: "text", text: "Done." }] : [...parts];
  if (structured === undefined) return success(told);
  return success(told, JSON.parse(jsonText(structured, tool)));
}

/** The JSON of a value. What would silently become something else is an error that names it. */
function jsonText(value: unknown, tool: string): string {
  const refuse = (what: unknown): never => {
    throw new ToolError(`The handler of ${tool} returned ${kindOf(what)}, which is no JSON. Return a string or JSON.`);
  };
  const text = JSON.stringify(value, (_key, member: unknown) => {
    const isNumber = typeof member === "number" && !Number.isFinite(member);
    const isHidden = member instanceof Map || member instanceof Set || typeof member === "bigint";
    return isNumber || isHidden ? refuse(member) : member;
  }) as string | undefined;
  return text ?? refuse(value);
}
