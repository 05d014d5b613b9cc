// Calls: sent when there is a connection, and again when it was lost before the answer came.

import { bounded, now, sleepUntil } from "../base/time.js";
import { isObject } from "../base/json.js";
import { kindOf } from "../duties/fence.js";
import { abortedError, localError, noAnswer, RopewalkError, unreadable } from "../errors.js";
import { ConnectionLost, type Peer } from "../peer/peer.js";
import { OUTBOX_BYTES } from "../peer/outbox.js";
import type { Link } from "./link.js";
import type { MethodName, MethodParams, MethodResult } from "./methods.js";
import { overError, type Phase } from "./phase.js";
import { Request } from "./request.js";

/** How often a daemon that is not ready for a request is asked again. */
export const NOT_READY_PAUSE_MS = 200;
/** How many calls of one client may be without an answer; a further one fails at once. */
export const CALLS_UNDER_WAY = 4_096;

/** How a call is waited for. */
export interface CallOptions {
  /**
   * Gives the wait up: the call rejects with `aborted`, and its listener is gone. What was submitted goes on at the daemon; a
   * request that only waits there (`run/wait`, `thread/events`) is ended. A signal that has fired already sends nothing.
   */
  signal?: AbortSignal | undefined;
  /**
   * How long the answer may take, beside the waiting the request asks for itself and the time without a connection; the
   * client's `callTimeoutMs` unless given. Use a signal for a limit in all: `AbortSignal.timeout(5_000)`.
   */
  timeoutMs?: number | undefined;
}

/** An answer, and which connection it came through. */
export interface Answered<T> {
  readonly result: T;
  readonly generation: number;
}

/** Calls a method and gives its result. */
export async function call<M extends MethodName>(
  link: Link,
  method: M,
  params: MethodParams<M>,
  options: CallOptions = {},
): Promise<MethodResult<M>> {
  return (await callOn(link, method, params, options)).result;
}

/** As {@link call}, with the generation of the connection that the answer came through. */
export async function callOn<M extends MethodName>(
  link: Link,
  method: M,
  params: MethodParams<M>,
  options: CallOptions = {},
): Promise<Answered<MethodResult<M>>> {
  const answered = await send(link, method, params, options);
  if (!isObject(answered.result)) throw unreadable(`The answer to ${method}`, `it is ${kindOf(answered.result)}.`);
  return answered as Answered<MethodResult<M>>;
}

/**
 * Sends a request until it is answered: again when its connection is lost, if that cannot have it done twice, and when the
 * daemon is not ready for it yet. The time without a connection does not count against its deadline.
 */
export async function send(
  link: Link,
  method: string,
  params: unknown,
  options: CallOptions,
): Promise<Answered<unknown>> {
  if (options.signal?.aborted) throw abortedError(method, options.signal.reason);
  const request = new Request(method, params);
  check(link, request);
  link.underWay += 1;
  try {
    return await link.anchor.during(() => new Sending(link, request, options).run());
  } finally {
    link.underWay -= 1;
  }
}

function check(link: Link, request: Request): void {
  const { method, length } = request;
  if (length > link.room) {
    const message = `The parameters of ${method} have ${length} bytes; the daemon takes messages of at most ${link.room}.`;
    throw localError("requestTooLarge", { method, limit: link.room, actual: length }, message);
  }
  if (link.underWay >= CALLS_UNDER_WAY) {
    const message = `${CALLS_UNDER_WAY} calls of this client wait for their answers. Wait for some before ${method}.`;
    throw localError("backlog", { what: "calls", limit: CALLS_UNDER_WAY }, message);
  }
}

/** One request until its answer. */
class Sending {
  readonly #link: Link;
  readonly #request: Request;
  readonly #signal: AbortSignal | undefined;
  readonly #patienceMs: number;
  #deadline: number;

  constructor(link: Link, request: Request, options: CallOptions) {
    this.#link = link;
    this.#request = request;
    this.#signal = options.signal;
    this.#patienceMs = (options.timeoutMs ?? link.patienceMs) + request.waitMs;
    this.#deadline = now() + this.#patienceMs;
  }

  async run(): Promise<Answered<unknown>> {
    const { method } = this.#request;
    // Whoever has a daemon stopped does not have it started again by that.
    if (method === "daemon/shutdown") this.#link.stops = true;
    let sentAt: number | undefined;
    let lost: number | undefined;
    for (;;) {
      const { peer, generation } = await this.#ready(lost);
      sentAt ??= now();
      const params = this.#request.params(lost === undefined ? 0 : now() - sentAt);
      try {
        const result = await this.#answer(peer, params);
        this.#link.hear();
        return { result, generation };
      } catch (error) {
        // A refusal is a word of the daemon as good as any.
        if (error instanceof RopewalkError && error.code !== undefined) this.#link.hear();
        if (error instanceof ConnectionLost) {
          if (!this.#request.isRepeatable) throw this.#link.interrupted(method);
          lost = generation;
        } else if (isNotReady(error) && now() + NOT_READY_PAUSE_MS < this.#deadline) {
          await sleepUntil(now() + NOT_READY_PAUSE_MS, this.#signal);
        } else if (this.#isGoing(error)) {
          lost = generation;
        } else {
          if (method === "daemon/shutdown") this.#link.stops = false;
          throw error;
        }
      }
    }
  }

  async #answer(peer: Peer, params: string): Promise<unknown> {
    if (!peer.outbox.hasRoom) {
      const hasRoom = (bytes: number): boolean => bytes <= OUTBOX_BYTES || peer.isClosed;
      await peer.outbox.waiting.until(hasRoom, this.#ends());
    }
    const pending = peer.start(this.#request.method, params);
    try {
      return await bounded(pending.answer, this.#ends());
    } catch (error) {
      pending.forget();
      if (this.#signal?.aborted && !peer.isClosed) peer.notify("$/cancelRequest", { id: pending.id });
      throw error;
    }
  }

  /**
   * The connection, another one than that which was lost. The deadline is put off by the time without a connection; that
   * time has an end of its own.
   */
  async #ready(lost: number | undefined): Promise<{ peer: Peer; generation: number }> {
    const { phase } = this.#link;
    const isGone = (it: Phase): boolean => !(it.name === "connected" && it.generation === lost);
    await phase.until(isGone, this.#ends());
    const since = now();
    const there = await phase.until((it) => it.name !== "away", { ...this.#ends(), deadline: undefined });
    this.#deadline += now() - since;
    if (there.name === "connected") return there;
    throw overError(there.name === "over" ? there.over : { why: "closed" });
  }

  #ends(): {
    deadline: number;
    late: () => Error;
    signal: AbortSignal | undefined;
    aborted: (reason: unknown) => Error;
  } {
    const { method } = this.#request;
    return {
      deadline: this.#deadline,
      late: () => noAnswer(method, this.#patienceMs),
      signal: this.#signal,
      aborted: (reason) => abortedError(method, reason),
    };
  }

  /** Whether a daemon that is ending refused, before anything was done, what the next one can be asked for. */
  #isGoing(error: unknown): boolean {
    return error instanceof RopewalkError && error.kind === "shuttingDown" && this.#link.isLasting;
  }
}

/** Whether the same request is worth sending again in a moment. */
export function isNotReady(error: unknown): boolean {
  if (!(error instanceof RopewalkError) || !error.is("unavailable")) return false;
  return error.data.reason === "starting" || error.data.reason === "operation_in_progress";
}
