// A set of tools built once and bound to many threads.

import { isObject } from "../base/json.js";
import { kindOf } from "../duties/fence.js";
import { localError, type RopewalkError } from "../errors.js";
import { limits, type ToolDeclaration } from "../generated/protocol.js";
import { type Tool, toolKey } from "./tool.js";

/** Tools that are declared together, independent of any connection: `threads.start({ tools: new Tools([a, b]) })`. */
export class Tools implements Iterable<Tool> {
  readonly #tools = new Map<string, Tool>();

  constructor(tools: Iterable<Tool> = []) {
    if (!isIterable(tools)) throw noTools(`${kindOf(tools)} is no list of tools; give \`[tool]\`.`);
    for (const tool of tools) this.add(tool);
  }

  /** Adds a tool; one of the same namespace and name takes the place of the earlier one. */
  add(tool: Tool): this {
    if (!isTool(tool))
      throw noTools(`${kindOf(tool)} is no tool; make one with \`tool({name, description, input, run})\`.`);
    const key = toolKey(tool.declaration);
    this.#tools.delete(key);
    this.#tools.set(key, tool);
    return this;
  }

  /** The declarations, in the order in which the tools were added. */
  declarations(): ToolDeclaration[] {
    return [...this].map(({ declaration }) => declaration);
  }

  /** How many tools there are. */
  get size(): number {
    return this.#tools.size;
  }

  [Symbol.iterator](): IterableIterator<Tool> {
    return this.#tools.values();
  }

  /** Whether the set keeps its limit of 128 tools; throws `invalidTool` for the first that is too many. */
  check(): void {
    const extra = [...this.#tools.keys()][limits.toolsPerClient];
    if (extra === undefined) return;
    const path = `/tools/${limits.toolsPerClient}`;
    const reason = "a client declares at most 128 tools for one thread.";
    const message = `The tool \`${extra}\` cannot be declared: ${path}: ${reason}`;
    throw localError("invalidTool", { tool: extra, path, reason }, message);
  }
}

function isIterable(value: unknown): boolean {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}

function noTools(reason: string): RopewalkError {
  return localError("invalidTool", { tool: "", path: "", reason }, `Tools cannot be declared: ${reason}`);
}

/** Whether a value is a tool; the compiler is not there for everybody. */
function isTool(value: unknown): value is Tool {
  return isObject(value) && isObject(value.declaration) && typeof value.handler === "function";
}
