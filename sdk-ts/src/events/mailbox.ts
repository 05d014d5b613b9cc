// The queue of one reader: bounded, because what does not fit is read from the log.

import type { RopewalkError } from "../errors.js";
import { type Delivered, merged, positionOf } from "./delivered.js";

/** Events a reader may be behind before the log is read instead. */
export const MAILBOX_EVENTS = 256;
/** Bytes of events a reader may be behind before the log is read instead. */
export const MAILBOX_BYTES = 1_048_576;

/** How a reader's events come to an end. */
export type End =
  /** The thread or client was closed from this side. */
  | { readonly why: "closed" }
  /** The connection was lost for good; the link knows why. */
  | { readonly why: "lost" }
  /** This thread could not be taken up again. */
  | { readonly why: "failed"; readonly error: () => RopewalkError };

/** What a reader finds. */
export type Next =
  | { readonly kind: "event"; readonly event: Delivered }
  /** Nothing waits; the newest durable position that was ever seen, and the end if nothing will come. */
  | { readonly kind: "empty"; readonly newest: number; readonly end: End | undefined };

/** The queue of one reader. */
export class Mailbox {
  #queue: Delivered[] = [];
  #bytes = 0;
  #newest: number;
  #end: End | undefined;
  #wake: (() => void) | undefined;

  /** An empty mailbox of a thread whose newest known event is `newest`. */
  constructor(newest: number) {
    this.#newest = newest;
  }

  /** Takes an event in, or only its position when there is no room. */
  put(event: Delivered): void {
    this.#newest = Math.max(this.#newest, positionOf(event));
    const fits = this.#queue.length === 0 || this.#bytes + event.bytes <= MAILBOX_BYTES;
    const last = this.#queue.at(-1);
    const joined = fits && last ? merged(last, event) : undefined;
    if (joined && last) {
      this.#queue[this.#queue.length - 1] = joined;
      this.#bytes += joined.bytes - last.bytes;
    } else if (fits && this.#queue.length < MAILBOX_EVENTS) {
      this.#queue.push(event);
      this.#bytes += event.bytes;
    }
    this.wake();
  }

  /** Learns that there are events up to `seq`. */
  advance(seq: number): void {
    this.#newest = Math.max(this.#newest, seq);
    this.wake();
  }

  /** Nothing more will come. The first reason counts. */
  end(end: End): void {
    this.#end ??= end;
    this.wake();
  }

  /** Takes the next event out. */
  take(): Next {
    const event = this.#queue.shift();
    if (!event) return { kind: "empty", newest: this.#newest, end: this.#end };
    this.#bytes = this.#queue.length === 0 ? 0 : this.#bytes - event.bytes;
    return { kind: "event", event };
  }

  /** Calls `wake` once when there may be something; what is returned takes that back. */
  listen(wake: () => void): () => void {
    this.#wake = wake;
    return () => {
      if (this.#wake === wake) this.#wake = undefined;
    };
  }

  /** Calls whoever listens. */
  wake(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
