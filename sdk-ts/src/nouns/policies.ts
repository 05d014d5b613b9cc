// Rules for tools.

import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** Rules for tools. */
export class Policies {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Sets a rule; a second one for the same level, tool or source, principal and connection replaces the first. */
  set(params: Params<"policy/set">, options?: CallOptions): Answer<"policy/set"> {
    return this.#ask("policy/set", params, options);
  }

  /** Takes a rule back. */
  remove(params: Params<"policy/remove">, options?: CallOptions): Answer<"policy/remove"> {
    return this.#ask("policy/remove", params, options);
  }

  /** The rules, in the order of their ids. */
  list(params: Params<"policy/list"> = {}, options?: CallOptions): Answer<"policy/list"> {
    return this.#ask("policy/list", params, options);
  }
}
