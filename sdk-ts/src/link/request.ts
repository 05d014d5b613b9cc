// One request, made so that it can be sent again: what may be repeated, under which operation, and what is left of its own
// waiting.

import { freshId } from "../base/ids.js";
import { isObject } from "../base/json.js";
import { describe } from "../duties/fence.js";
import { unreadable } from "../errors.js";
import { isKnown, isMutating } from "./methods.js";

/** What the wire says a wait takes when its length is not given. */
const DEFAULT_WAIT_MS = 60_000;
/** How long a backup or a check may take beyond the patience: they read everything there is. */
const UPKEEP_MS = 3_600_000;
/** The shortest wait of a run that the wire takes. */
const SHORTEST_WAIT_MS = 1_000;

/** The waiting a request asks for: how long, and the parameter that says so where it may be made shorter. */
interface Wait {
  readonly field?: string;
  readonly ms: number;
}

/** A request on its way. */
export class Request {
  readonly method: string;
  /** Whether sending it twice is as good as sending it once. */
  readonly isRepeatable: boolean;
  readonly #params: unknown;
  readonly #text: string;
  readonly #wait: Wait | undefined;

  /** Makes a request of what a caller gave. One that changes something and has no operation id gets one. */
  constructor(method: string, params: unknown) {
    this.method = method;
    const given = isObject(params) ? params : {};
    const hasId = given.operationId !== undefined && given.operationId !== null;
    // Attaching twice is attaching once; under an operation the second time would not attach at all. What this version does
    // not know may change something: every method that does takes an operation id.
    const attaches = method === "thread/resume";
    this.isRepeatable = attaches || (method !== "daemon/shutdown" && (isKnown(method) || hasId));
    const needsId = this.isRepeatable && !attaches && isMutating(method) && !hasId;
    if (needsId && params !== undefined && params !== null && !isObject(params)) {
      throw unreadable(`The request ${method}`, "its parameters are no object.");
    }
    this.#params = needsId ? { ...given, operationId: freshId() } : params;
    this.#text = written(method, this.#params);
    this.#wait = waitOf(method, given);
  }

  /** How long the answer may take because the request asks for it, which comes on top of the patience. */
  get waitMs(): number {
    return this.#wait?.ms ?? 0;
  }

  /** Bytes of the parameters. */
  get length(): number {
    return Buffer.byteLength(this.#text);
  }

  /** The parameters of a request that is sent `waitedMs` after the first: what it waits for is made shorter by that. */
  params(waitedMs: number): string {
    const wait = this.#wait;
    if (wait?.field === undefined || waitedMs <= 0) return this.#text;
    const shortest = this.method === "thread/events" ? 0 : SHORTEST_WAIT_MS;
    const left = Math.max(wait.ms - Math.floor(waitedMs), Math.min(shortest, wait.ms));
    return written(this.method, { ...(this.#params as object), [wait.field]: left });
  }
}

function written(method: string, params: unknown): string {
  let text: string | undefined;
  let reason = "they are none";
  try {
    text = JSON.stringify(params ?? {});
  } catch (error) {
    reason = describe(error);
  }
  if (text !== undefined) return text;
  throw unreadable(`The request ${method}`, `its parameters cannot be written as JSON: ${reason}.`);
}

function waitOf(method: string, params: Record<string, unknown>): Wait | undefined {
  const { wait, waitMs, waitTimeoutMs, timeoutMs, graceMs } = params;
  switch (method) {
    case "run/submit":
      return wait === true ? { field: "waitTimeoutMs", ms: number(waitTimeoutMs, DEFAULT_WAIT_MS) } : undefined;
    case "run/wait":
      return { field: "timeoutMs", ms: number(timeoutMs, DEFAULT_WAIT_MS) };
    case "thread/events":
      return number(waitMs, 0) > 0 ? { field: "waitMs", ms: number(waitMs, 0) } : undefined;
    case "daemon/backup":
    case "daemon/check":
      return { ms: UPKEEP_MS };
    // In a rule `timeoutMs` is what the rule says, not how long to wait.
    case "policy/set":
      return undefined;
    default: {
      const ms = Math.max(number(waitMs, 0), number(timeoutMs, 0), number(graceMs, 0));
      return ms > 0 ? { ms } : undefined;
    }
  }
}

function number(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}
