// The branches of any thread, by their ids.

import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** The branches of any thread. {@link Thread.branches} has those of one; the option `fork` of {@link Thread.run} makes them. */
export class Branches {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** A page of the branches of a thread, by id. */
  list(params: Params<"branch/list">, options?: CallOptions): Answer<"branch/list"> {
    return this.#ask("branch/list", params, options);
  }

  /** Changes the title of a branch: null clears it. */
  update(params: Params<"branch/update">, options?: CallOptions): Answer<"branch/update"> {
    return this.#ask("branch/update", params, options);
  }

  /** Deletes a branch, with its run and what waits on it; or says what would go. */
  delete(params: Params<"branch/delete">, options?: CallOptions): Answer<"branch/delete"> {
    return this.#ask("branch/delete", params, options);
  }
}
