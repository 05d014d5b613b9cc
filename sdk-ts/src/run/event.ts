// What happens in one run, picked from the events of its thread.

import { isObject } from "../base/json.js";
import { localError } from "../errors.js";
import type {
  BranchId,
  By,
  Event,
  Interaction,
  InteractionId,
  Item,
  ItemId,
  MessageId,
  Outcome,
  Run,
  RunId,
  ThreadEvent,
} from "../generated/protocol.js";
import type { RunEnd, RunResult } from "./result.js";

/** Something that happened in a run: `switch (event.type)`. */
export type RunEvent<Output = unknown> =
  /** The run began; an input that was queued has had its turn. */
  | { readonly type: "started"; readonly run: Run }
  /** Its state, or what it waits for, changed. */
  | { readonly type: "state"; readonly run: Run }
  /** An item began: a message, a tool call. */
  | { readonly type: "itemStarted"; readonly item: Item }
  /** More text of an open item, and where it goes, in UTF-8 bytes from the start. The completed item has the whole of it. */
  | { readonly type: "text"; readonly itemId: ItemId; readonly offset: number; readonly text: string }
  /** A tool shows life: what it is doing, and how far it has come, from 0 to 1. */
  | {
      readonly type: "progress";
      readonly itemId: ItemId;
      readonly message?: string | undefined;
      readonly fraction?: number | undefined;
    }
  /** An item ended. */
  | { readonly type: "itemCompleted"; readonly item: Item }
  /** The run waits for a tool of a client, for a decision or for an answer. */
  | { readonly type: "interactionOpened"; readonly interaction: Interaction }
  /** That wait is over: how it ended, who or what ended it, and the answer, except for tool calls. */
  | {
      readonly type: "interactionSettled";
      readonly interactionId: InteractionId;
      readonly outcome: Outcome;
      readonly by: By;
      readonly answer?: unknown;
    }
  /** The run ended. Nothing comes after it. */
  | { readonly type: "completed"; readonly result: RunResult<Output> }
  /** Something this version of the SDK has no word for, as it came. */
  | { readonly type: "unknown"; readonly event: ThreadEvent };

/** What a submitted run is known by. */
export interface Submission {
  readonly runId: RunId;
  readonly branchId: BranchId;
  /** The message the input is, or becomes. */
  readonly messageId: MessageId;
}

/** The run's share of an event: an event for its reader, or its end. */
export type Picked = { readonly event: RunEvent<never> } | { readonly end: RunEnd } | undefined;

/** Picks the events of one run. */
export class Picker {
  readonly #run: Submission;
  readonly #items = new Set<ItemId>();
  readonly #interactions = new Set<InteractionId>();

  constructor(run: Submission) {
    this.#run = run;
  }

  /** The run's share of an event; throws when the run will never begin. */
  pick(event: ThreadEvent): Picked {
    return this.#ofItems(event.event) ?? this.#ofRun(event.event) ?? this.#unknown(event);
  }

  #ofRun(event: Event): Picked {
    const { runId, messageId } = this.#run;
    if (event.type === "runStarted" && event.run.runId === runId) return { event: { type: "started", run: event.run } };
    if (event.type === "runState" && event.run.runId === runId) return { event: { type: "state", run: event.run } };
    if (event.type === "runCompleted" && event.runId === runId) return { end: { ...event, messageId } };
    if (event.type === "queueChanged" && event.change === "removed" && event.messageId === messageId) {
      const message = `Run ${runId} was removed from the queue before it began.`;
      throw localError("runRemoved", { runId }, message);
    }
    return undefined;
  }

  #ofItems(event: Event): Picked {
    switch (event.type) {
      case "itemStarted":
        if (event.item.runId !== this.#run.runId) return undefined;
        this.#items.add(event.item.itemId);
        return { event: { type: "itemStarted", item: event.item } };
      case "itemCompleted":
        if (event.item.runId !== this.#run.runId) return undefined;
        this.#items.delete(event.item.itemId);
        return { event: { type: "itemCompleted", item: event.item } };
      case "itemDelta": {
        const { itemId, offset, text } = event;
        return this.#items.has(itemId) ? { event: { type: "text", itemId, offset, text } } : undefined;
      }
      case "toolProgress": {
        const { itemId, message, fraction } = event;
        return this.#items.has(itemId) ? { event: { type: "progress", itemId, message, fraction } } : undefined;
      }
      case "interactionOpened":
        if (event.interaction.runId !== this.#run.runId) return undefined;
        this.#interactions.add(event.interaction.interactionId);
        return { event: { type: "interactionOpened", interaction: event.interaction } };
      case "interactionSettled": {
        const { interactionId, outcome, by, answer } = event;
        if (!this.#interactions.delete(interactionId)) return undefined;
        return { event: { type: "interactionSettled", interactionId, outcome, by, answer } };
      }
      default:
        return undefined;
    }
  }

  /** What is of a newer type belongs to this run where it says so. */
  #unknown(event: ThreadEvent): Picked {
    if (knownTypes.has(event.event.type)) return undefined;
    const { runId, run, item } = event.event as unknown as Record<string, unknown>;
    const named = [runId, isObject(run) && run.runId, isObject(item) && item.runId];
    return named.includes(this.#run.runId) ? { event: { type: "unknown", event } } : undefined;
  }
}

/** Every type of event this version knows. */
const knownTypes: ReadonlySet<string> = new Set([
  "threadUpdated",
  "branchUpdated",
  "branchDeleted",
  "queueChanged",
  "runStarted",
  "runState",
  "itemStarted",
  "itemCompleted",
  "interactionOpened",
  "interactionSettled",
  "toolsChanged",
  "runCompleted",
  "itemDelta",
  "toolProgress",
]);
