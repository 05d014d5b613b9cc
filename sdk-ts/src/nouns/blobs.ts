// Payloads that were cut from what the model saw.

import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** Payloads that were cut from what the model saw, kept whole. */
export class Blobs {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** A part of a payload: of the `blob` of a tool call's item. */
  read(params: Params<"blob/read">, options?: CallOptions): Answer<"blob/read"> {
    return this.#ask("blob/read", params, options);
  }
}
