// Items: what happened in a thread, for who shows it.

import { quiet } from "../base/quiet.js";
import type { Item, ItemId, ThreadId } from "../generated/protocol.js";
import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** What happened in a thread. {@link Thread.events} continues it. */
export class Items {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** The completed items of a branch or a run, newest first. */
  list(params: Params<"item/list">, options?: CallOptions): Answer<"item/list"> {
    return this.#ask("item/list", params, options);
  }

  /** An item, completed or still open. */
  @quiet
  async read(threadId: ThreadId, itemId: ItemId, options?: CallOptions): Promise<Item> {
    return (await this.#ask("item/read", { threadId, itemId }, options)).item;
  }
}
