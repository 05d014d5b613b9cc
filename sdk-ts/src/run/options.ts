// Input on its way: what is said, and how it is to be run.

import { isObject } from "../base/json.js";
import { kindOf } from "../duties/fence.js";
import type {
  BranchId,
  EndpointId,
  MessageId,
  Mode,
  OperationId,
  Part,
  RunId,
  RunSubmitParams,
  ThreadId,
  Unattended,
} from "../generated/protocol.js";
import { freshId } from "../base/ids.js";
import type { CallOptions } from "../link/calls.js";
import { checkNames, invalid as invalidOption } from "../options.js";
import { type AnySchema, recognise, type Recognised } from "../tools/input.js";

/** What is submitted: text, a part, or several. */
export type Input = string | Part | readonly Part[];

/** How input enters a branch, and how it is followed. */
export interface RunOptions<Schema extends AnySchema | undefined = undefined> extends CallOptions {
  /** The branch; the original one unless given. For a fork the one it is made from. */
  branchId?: BranchId;
  /** How the input enters the branch; `queue` unless given. `fork`, `replace` and `steer` have words of their own. */
  mode?: Mode;
  /**
   * Runs on a new branch that follows a message of any branch, or the head of `branchId` with `true`. `branchId` of the result
   * says which branch it is.
   */
  fork?: MessageId | true;
  /**
   * Takes the place of an earlier user message: what followed that leaves the chain. Fails as a `conflict` when the message is
   * not in the chain of the branch any more.
   */
  replace?: MessageId;
  /** Joins a run under way at its next step; fails when another or none is under way. What is followed is that run. */
  steer?: RunId;
  /** The title of a fork's branch. */
  title?: string;
  /** The endpoint of this run. */
  endpointId?: EndpointId;
  /**
   * The shape of the final answer, which `result.output` then has: a schema that says its JSON Schema, or JSON Schema. The model
   * may mend an answer that does not fit twice; then the run fails with `outputInvalid`.
   */
  outputSchema?: Schema;
  /** What happens to an approval or question nobody can answer; `decline` unless given. */
  unattended?: Unattended;
  /**
   * Makes a repeat recognisable: the same id with the same input is one run, however often it is submitted. A fresh one unless
   * given.
   */
  operationId?: OperationId;
}

/** A submission, ready to be sent. */
export interface Prepared {
  readonly params: RunSubmitParams & { operationId: OperationId };
  /** The shape of the answer, where one was asked for. */
  readonly schema: Recognised | undefined;
  /** Whether the operation may have begun before this process knew of it. */
  readonly isKnown: boolean;
}

/** Every option there is, those of `thread.send` too: a misspelt one would silently say nothing. */
const known: Record<keyof RunOptions | "wait" | "waitTimeoutMs", true> = {
  branchId: true,
  mode: true,
  fork: true,
  replace: true,
  steer: true,
  title: true,
  endpointId: true,
  outputSchema: true,
  unattended: true,
  operationId: true,
  signal: true,
  timeoutMs: true,
  wait: true,
  waitTimeoutMs: true,
};

/** Makes the parameters of `run/submit`; throws `invalidOption` for options that are none, or contradict each other. */
export function prepare(threadId: ThreadId, input: Input, options: RunOptions<AnySchema | undefined>): Prepared {
  checkNames(options, known);
  const { branchId, title, endpointId, unattended, operationId } = options;
  const schema = schemaOf(options.outputSchema);
  const params: Prepared["params"] = {
    threadId,
    input: partsOf(input),
    ...(branchId === undefined ? {} : { branchId }),
    ...modeOf(options),
    ...(title === undefined ? {} : { title }),
    ...(endpointId === undefined ? {} : { endpointId }),
    ...(schema === undefined ? {} : { outputSchema: schema.jsonSchema }),
    ...(unattended === undefined ? {} : { unattended }),
    operationId: operationId ?? freshId(),
  };
  return { params, schema, isKnown: operationId !== undefined };
}

function partsOf(input: Input): Part[] {
  if (typeof input === "string") return [{ type: "text", text: input }];
  if (isList(input)) return [...input];
  if (isObject(input)) return [input];
  throw invalidOption("input", `it is ${kindOf(input)}. Give text, a part, or a list of parts.`);
}

function isList(input: Part | readonly Part[]): input is readonly Part[] {
  return Array.isArray(input);
}

function modeOf(options: RunOptions<AnySchema | undefined>): Partial<RunSubmitParams> {
  const { mode, fork, replace, steer } = options;
  const given = Object.entries({ mode, fork, replace, steer }).filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    const names = given.map(([name]) => `\`${name}\``).join(", ");
    throw invalidOption("mode", `${names} say different things; give one of them.`);
  }
  if (fork !== undefined) return { mode: "fork", ...(fork === true ? {} : { fromMessageId: fork }) };
  if (replace !== undefined) return { mode: "replace", fromMessageId: replace };
  if (steer !== undefined) return { mode: "steer", expectedRunId: steer };
  return mode === undefined ? {} : { mode };
}

function schemaOf(schema: unknown): Recognised | undefined {
  if (schema === undefined) return undefined;
  const recognised = recognise(schema, undefined, { own: "outputSchema", given: "outputSchema" });
  if ("reason" in recognised) throw invalidOption("outputSchema", recognised.reason);
  return recognised;
}
