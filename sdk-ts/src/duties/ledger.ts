// What was asked of this client and has not been acknowledged: no interaction is worked on twice, whichever connection of
// the client it is offered through.

import type { Anchor } from "../base/anchor.js";
import { refusal, type WireError } from "../errors.js";
import type { InteractionId, ThreadId } from "../generated/protocol.js";
import type { Responder } from "../peer/peer.js";

/**
 * Finished answers that are kept for a repeated offer. The daemon settles every interaction, so this many are only there when
 * it does not.
 */
const KEPT_ANSWERS = 1_024;
/**
 * Finished interactions that are known at all. One whose answer is not kept is never worked on again: an offer of it is told
 * that the answer is lost.
 */
const KNOWN_ANSWERS = 65_536;

/** The answer to an interaction: a result as JSON text, or an error, which for a person's answer means "not I". */
export type Answer = { readonly result: string } | { readonly error: WireError };

interface Entry {
  readonly thread: ThreadId;
  /** The connection it was offered through last. */
  generation: number;
  readonly control: AbortController;
  /** Somebody works on it: the offers that wait for the answer. None once it was answered. */
  waiting: Responder[] | undefined;
  /** What it was answered; kept until the daemon acknowledges. */
  answer: Answer | undefined;
  /** Lets the process go. */
  readonly release: () => void;
}

/** The interactions that are open as far as this client knows. */
export class Ledger {
  readonly #anchor: Anchor;
  readonly #entries = new Map<InteractionId, Entry>();
  /** Those that were answered, the oldest first. */
  readonly #finished = new Set<InteractionId>();
  /** Those of them whose answers are kept, the oldest first. */
  readonly #kept = new Set<InteractionId>();

  constructor(anchor: Anchor) {
    this.#anchor = anchor;
  }

  /**
   * Takes an offer. A signal means that the work begins now; without one the offer joins work under way, or was answered with
   * the kept answer.
   */
  offer(id: InteractionId, thread: ThreadId, generation: number, responder: Responder): AbortSignal | undefined {
    const known = this.#entries.get(id);
    if (!known) {
      const control = new AbortController();
      const release = this.#anchor.hold();
      this.#entries.set(id, { thread, generation, control, waiting: [responder], answer: undefined, release });
      return control.signal;
    }
    known.generation = Math.max(known.generation, generation);
    if (known.answer) send(responder, known.answer);
    else known.waiting?.push(responder);
    return undefined;
  }

  /**
   * The work is done: answers every offer and keeps the answer. Without effect when the interaction was settled in the
   * meantime.
   */
  finish(id: InteractionId, signal: AbortSignal, answer: Answer): void {
    const entry = this.#entries.get(id);
    if (entry?.control.signal !== signal || entry.answer) return;
    const waiting = entry.waiting ?? [];
    entry.waiting = undefined;
    entry.answer = answer;
    this.#finished.add(id);
    this.#kept.add(id);
    this.#bound();
    for (const responder of waiting) send(responder, answer);
    entry.release();
  }

  /** The daemon says that the interaction is over: work on it stops, a kept answer is forgotten. */
  settle(id: InteractionId): void {
    const entry = this.#remove(id);
    if (!entry?.waiting) return;
    for (const responder of entry.waiting) send(responder, { error: over() });
    stop(entry);
  }

  /** The connection is gone, and with it whoever waited for an answer. The work goes on, and answers are kept. */
  disconnected(): void {
    for (const entry of this.#entries.values()) if (entry.waiting) entry.waiting = [];
  }

  /** What was offered last through a connection before this one, by thread. */
  askedBefore(generation: number): Map<ThreadId, InteractionId[]> {
    const asked = new Map<ThreadId, InteractionId[]>();
    for (const [id, entry] of this.#entries) {
      if (entry.generation >= generation) continue;
      const others = asked.get(entry.thread);
      if (others) others.push(id);
      else asked.set(entry.thread, [id]);
    }
    return asked;
  }

  /** As {@link settle}, unless it was offered through this connection or a later one. */
  settleBefore(id: InteractionId, generation: number): void {
    const entry = this.#entries.get(id);
    if (entry && entry.generation < generation) this.settle(id);
  }

  /** The daemon refused the answer: it is forgotten, so that the next offer is worked on anew. */
  refuse(id: InteractionId): void {
    if (this.#entries.get(id)?.answer) this.#remove(id);
  }

  /** Stops all work. Nothing is answered; the connection is going. */
  cancelAll(): void {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    this.#finished.clear();
    this.#kept.clear();
    for (const entry of entries) stop(entry);
  }

  #remove(id: InteractionId): Entry | undefined {
    const entry = this.#entries.get(id);
    this.#entries.delete(id);
    this.#finished.delete(id);
    this.#kept.delete(id);
    return entry;
  }

  /** Lets go of the oldest answers, and of the oldest interactions of all. */
  #bound(): void {
    for (const id of this.#kept) {
      if (this.#kept.size <= KEPT_ANSWERS) break;
      this.#kept.delete(id);
      const entry = this.#entries.get(id);
      if (entry) entry.answer = { error: lost() };
    }
    for (const id of this.#finished) {
      if (this.#finished.size <= KNOWN_ANSWERS) break;
      this.#remove(id);
    }
  }
}

function stop(entry: Entry): void {
  entry.release();
  entry.control.abort(new DOMException("Nobody waits for the answer any more.", "AbortError"));
}

function send(responder: Responder, answer: Answer): void {
  if ("result" in answer) responder.ok(answer.result);
  else responder.error(answer.error);
}

function lost(): WireError {
  const message = "This client answered before and has not kept the answer; it is not worked out twice.";
  return refusal({ kind: "cancelled", retryable: false, reason: "answer_lost" }, message);
}

function over(): WireError {
  return refusal({ kind: "cancelled", retryable: false, reason: "settled" }, "The interaction is over.");
}
