// A tool's place in a thread, for as long as somebody wants it.

import type { Registered, ThreadTools } from "../duties/bindings.js";

/**
 * Keeps a handler attached to a thread, as {@link Thread.attach} gives it. {@link detach} takes the handler back: calls are
 * answered with `UnsupportedTool` then, while the declaration stays until the thread's tools are declared the next time. Calls
 * under way end as they would have. A registration that is forgotten stays until the thread or the client is closed; `using`
 * detaches it at the end of its block.
 */
export class Registration {
  readonly #handlers: ThreadTools;
  readonly #registered: Registered;

  /** @internal */
  constructor(handlers: ThreadTools, registered: Registered) {
    this.#handlers = handlers;
    this.#registered = registered;
  }

  /** Detaches the handler, unless another has taken its place. A second call does nothing. */
  detach(): void {
    this.#handlers.unbind(this.#registered);
  }

  [Symbol.dispose](): void {
    this.detach();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.detach();
    return Promise.resolve();
  }
}
