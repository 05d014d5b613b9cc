// The branches of a thread this client is attached to.

import { quiet } from "../base/quiet.js";
import type { Core } from "../core.js";
import type { Branch, BranchId, Removed, ThreadId } from "../generated/protocol.js";
import { call, type CallOptions } from "../link/calls.js";

/** The branches of one thread: listing, naming and deleting them. The option `fork` of {@link Thread.run} makes one. */
export class ThreadBranches {
  readonly #core: Core;
  readonly #thread: ThreadId;

  /** @internal */
  constructor(core: Core, thread: ThreadId) {
    this.#core = core;
    this.#thread = thread;
  }

  /** All of them, by id: the original one, whose id is the thread's, and those that were forked. */
  @quiet
  async list(options: CallOptions = {}): Promise<Branch[]> {
    const branches: Branch[] = [];
    let cursor: string | undefined;
    do {
      const params = { threadId: this.#thread, ...(cursor === undefined ? {} : { cursor }) };
      const page = await call(this.#core.link, "branch/list", params, options);
      branches.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return branches;
  }

  /** Gives a branch a title; `null` takes it away. */
  @quiet
  async rename(branchId: BranchId, title: string | null, options: CallOptions = {}): Promise<Branch> {
    const changed = await call(this.#core.link, "branch/update", { threadId: this.#thread, branchId, title }, options);
    return changed.branch;
  }

  /**
   * Deletes a branch: its run is stopped, what waits on it is dropped, and branches forked from it stay. Says what went, or with
   * `dryRun` what would go. `invalidState` for the original branch, which goes with its thread.
   */
  @quiet
  delete(branchId: BranchId, options: CallOptions & { dryRun?: boolean } = {}): Promise<Removed> {
    const params = { threadId: this.#thread, branchId, dryRun: options.dryRun ?? false };
    return call(this.#core.link, "branch/delete", params, options);
  }
}
