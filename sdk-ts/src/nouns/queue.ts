// What waits on a branch, and changing it.

import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** What waits on a branch. {@link Runs.submit} to a busy one adds to it. */
export class Queue {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** What waits on a branch. */
  list(params: Params<"queue/list">, options?: CallOptions): Answer<"queue/list"> {
    return this.#ask("queue/list", params, options);
  }

  /** Gives an input that waits other words. It keeps its place, its message and its run. */
  update(params: Params<"queue/update">, options?: CallOptions): Answer<"queue/update"> {
    return this.#ask("queue/update", params, options);
  }

  /** Takes back an input that waits. */
  remove(params: Params<"queue/remove">, options?: CallOptions): Answer<"queue/remove"> {
    return this.#ask("queue/remove", params, options);
  }

  /** Takes back all that waits and may be changed. */
  clear(params: Params<"queue/clear">, options?: CallOptions): Answer<"queue/clear"> {
    return this.#ask("queue/clear", params, options);
  }

  /** Puts what waits into another order, which names each input once. */
  reorder(params: Params<"queue/reorder">, options?: CallOptions): Answer<"queue/reorder"> {
    return this.#ask("queue/reorder", params, options);
  }
}
