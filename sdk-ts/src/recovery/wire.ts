// Calls over one connection that nothing else goes through yet: the handshake, and taking up what was open.

import { bounded, now, sleepUntil } from "../base/time.js";
import { noAnswer, RopewalkError, unreadable } from "../errors.js";
import type { InitializeParams, Initialized } from "../generated/protocol.js";
import { isNotReady, NOT_READY_PAUSE_MS } from "../link/calls.js";
import type { MethodName, MethodParams, MethodResult } from "../link/methods.js";
import { ConnectionLost, type Peer } from "../peer/peer.js";
import { isObject } from "../base/json.js";

/** How long a request that the daemon refuses for now is asked again, where it does not say that it is starting. */
const REFUSED_FOR_MS = 5_000;

/** A connection that is being made. */
export class Wire {
  readonly peer: Peer;
  readonly #patienceMs: number;

  constructor(peer: Peer, patienceMs: number) {
    this.peer = peer;
    this.#patienceMs = patienceMs;
  }

  /** Shakes hands. */
  async greet(greeting: InitializeParams, timeoutMs: number): Promise<Initialized> {
    const answer = await this.#answer("initialize", greeting, timeoutMs, now() + timeoutMs);
    const isOne = isObject(answer) && isObject(answer.daemon) && isObject(answer.limits);
    if (!isOne) throw unreadable("The answer to initialize", "it names no daemon and no limits.");
    return answer as unknown as Initialized;
  }

  /**
   * Calls a method that may be called twice. A daemon that is starting is asked again until the patience ends, one that refuses
   * for now for a while: what one thread meets holds up all.
   */
  async call<M extends MethodName>(method: M, params: MethodParams<M>): Promise<MethodResult<M>> {
    const begun = now();
    for (;;) {
      try {
        return (await this.#answer(method, params, this.#patienceMs, begun + this.#patienceMs)) as MethodResult<M>;
      } catch (error) {
        if (!(error instanceof RopewalkError) || error.code === undefined || !error.retryable) throw error;
        const patience = isNotReady(error) ? this.#patienceMs : REFUSED_FOR_MS;
        if (now() - begun + NOT_READY_PAUSE_MS >= patience) throw error;
        await sleepUntil(now() + NOT_READY_PAUSE_MS);
      }
    }
  }

  async #answer(method: string, params: unknown, patienceMs: number, deadline: number): Promise<unknown> {
    const pending = this.peer.start(method, JSON.stringify(params));
    try {
      return await bounded(pending.answer, { deadline, late: () => noAnswer(method, patienceMs) });
    } finally {
      pending.forget();
    }
  }
}

/** Whether an error is the daemon's word about a request, and not what the connection met. */
export function isRefusal(error: unknown): error is RopewalkError {
  return error instanceof RopewalkError && error.code !== undefined;
}

/** A sentence about why a connection could not be made. */
export function reasonOf(error: unknown): string {
  if (error instanceof ConnectionLost) return "the connection was lost again";
  return error instanceof Error ? error.message : String(error);
}
