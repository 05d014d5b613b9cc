// The pull side of approvals, questions and tool calls, for programs that are not attached.

import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** What waits for somebody, whoever may settle it. */
export class Interactions {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** The interactions, oldest first; the open ones unless told otherwise. */
  list(params: Params<"interaction/list"> = {}, options?: CallOptions): Answer<"interaction/list"> {
    return this.#ask("interaction/list", params, options);
  }

  /** Answers an interaction. The first valid answer counts; a later one meets `alreadySettled`. */
  settle(params: Params<"interaction/settle">, options?: CallOptions): Answer<"interaction/settle"> {
    return this.#ask("interaction/settle", params, options);
  }
}
