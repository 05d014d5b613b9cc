// What a model is asked with.

import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** What a model is asked with. */
export class Context {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** What the next request of a branch would be made of: every layer, and how much of the window each part takes. */
  preview(params: Params<"context/preview">, options?: CallOptions): Answer<"context/preview"> {
    return this.#ask("context/preview", params, options);
  }
}
