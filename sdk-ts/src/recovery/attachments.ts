// The threads a client is attached to, which it attaches to again on a new connection.

import type { ThreadId } from "../generated/protocol.js";

/** The threads of one client, with the tools of ours that another process held when this client last attached. */
export class Attachments {
  readonly #threads = new Map<ThreadId, readonly string[]>();

  /** The client is attached to a thread. */
  add(thread: ThreadId): void {
    if (!this.#threads.has(thread)) this.#threads.set(thread, []);
  }

  /** It is not any more. */
  remove(thread: ThreadId): void {
    this.#threads.delete(thread);
  }

  /** Whether it is. */
  has(thread: ThreadId): boolean {
    return this.#threads.has(thread);
  }

  /** Every thread. */
  all(): ThreadId[] {
    return [...this.#threads.keys()];
  }

  /** Which tools of ours another process holds. */
  taken(thread: ThreadId): readonly string[] {
    return this.#threads.get(thread) ?? [];
  }

  /** Notes which tools of ours another process holds; whether that is news and there are any. */
  noteTaken(thread: ThreadId, taken: readonly string[]): boolean {
    const before = this.#threads.get(thread);
    if (!before || before.join() === taken.join()) return false;
    this.#threads.set(thread, taken);
    return taken.length > 0;
  }
}
