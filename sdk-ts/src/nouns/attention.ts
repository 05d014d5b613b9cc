// What waits for the person, over all threads.

import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** What waits for the person. */
export class Attentions {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** What waits, thread by thread: each once, until it is over or was seen. */
  list(params: Params<"attention/list"> = {}, options?: CallOptions): Answer<"attention/list"> {
    return this.#ask("attention/list", params, options);
  }

  /** Says that the person has seen something that waits. */
  seen(params: Params<"attention/seen">, options?: CallOptions): Answer<"attention/seen"> {
    return this.#ask("attention/seen", params, options);
  }
}
