// What was settled while the connection was away: work on it stops, its answer is forgotten.

import type { Core } from "../core.js";
import { type InteractionId, type InteractionListParams, limits, type ThreadId } from "../generated/protocol.js";
import { isRefusal, type Wire } from "./wire.js";

/** Compares what this client still works on, or has an answer to, with what is open at the daemon. */
export async function forgetSettled(core: Core, wire: Wire, generation: number): Promise<void> {
  for (const [thread, asked] of core.ledger.askedBefore(generation)) {
    const open = await openOf(wire, thread);
    if (!open) continue;
    // What was offered again meanwhile is open, whatever the list says.
    for (const id of asked) if (!open.has(id)) core.ledger.settleBefore(id, generation);
  }
}

/** What is open in a thread; nothing in one that is gone, and unknown when the daemon cannot say. */
async function openOf(wire: Wire, thread: ThreadId): Promise<Set<InteractionId> | undefined> {
  const open = new Set<InteractionId>();
  const params: InteractionListParams = { threadId: thread, limit: limits.pageItems };
  try {
    for (;;) {
      const page = await wire.call("interaction/list", params);
      for (const { interactionId } of page.items) open.add(interactionId);
      if (page.nextCursor === undefined) return open;
      params.cursor = page.nextCursor;
    }
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return error.kind === "notFound" ? new Set() : undefined;
  }
}
