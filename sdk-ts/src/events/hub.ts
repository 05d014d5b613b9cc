// Who reads the events of which thread, and how far each thread is known to have come.

import type { RopewalkError } from "../errors.js";
import { limits, type ThreadId } from "../generated/protocol.js";
import { type Delivered, positionOf } from "./delivered.js";
import { type End, Mailbox } from "./mailbox.js";

interface Readers {
  newest: number;
  readonly mailboxes: Set<Mailbox>;
  /** Set when the thread could not be taken up again, until somebody takes it up. */
  failure: (() => RopewalkError) | undefined;
}

/** The threads of one client and their readers. */
export class Hub {
  readonly #threads = new Map<ThreadId, Readers>();
  #end: End | undefined;

  /** Hands an event to all readers of its thread. */
  publish(event: Delivered): void {
    const thread = event.event.threadId;
    // The answer that makes a thread known may still be on its way to its caller; the position must not be lost.
    if (!this.#threads.has(thread) && this.#threads.size >= 2 * limits.subscriptions) return;
    const readers = this.#readers(thread);
    readers.newest = Math.max(readers.newest, positionOf(event));
    for (const mailbox of readers.mailboxes) mailbox.put(event);
  }

  /** Learns that a thread has come as far as `seq`. */
  advance(thread: ThreadId, seq: number): void {
    const readers = this.#readers(thread);
    readers.newest = Math.max(readers.newest, seq);
    for (const mailbox of readers.mailboxes) mailbox.advance(seq);
  }

  /** How far a thread is known to have come; 0 for one nothing is known of. */
  newest(thread: ThreadId): number {
    return this.#threads.get(thread)?.newest ?? 0;
  }

  /** A new reader of a thread, and the position it starts behind. */
  subscribe(thread: ThreadId): { mailbox: Mailbox; newest: number } {
    const known = this.#threads.get(thread);
    const newest = known?.newest ?? 0;
    const mailbox = new Mailbox(newest);
    const failure = known?.failure;
    const end: End | undefined = this.#end ?? (failure && { why: "failed", error: failure });
    if (end) mailbox.end(end);
    else this.#readers(thread).mailboxes.add(mailbox);
    return { mailbox, newest };
  }

  /** A reader has gone. */
  unsubscribe(thread: ThreadId, mailbox: Mailbox): void {
    this.#threads.get(thread)?.mailboxes.delete(mailbox);
  }

  /** The thread could not be taken up again: its readers end, and so does whoever comes to read. */
  fail(thread: ThreadId, failure: () => RopewalkError): void {
    const readers = this.#readers(thread);
    readers.failure = failure;
    endAll(readers, { why: "failed", error: failure });
  }

  /** Whether the thread could not be taken up again. */
  hasFailed(thread: ThreadId): boolean {
    return this.#threads.get(thread)?.failure !== undefined;
  }

  /** A thread that could not be taken up again is taken up anew, from its snapshot. */
  reopen(thread: ThreadId): void {
    if (this.#threads.get(thread)?.failure) this.#threads.delete(thread);
  }

  /** The thread was closed from this side: its readers end. */
  close(thread: ThreadId): void {
    const readers = this.#threads.get(thread);
    this.#threads.delete(thread);
    if (readers) endAll(readers, { why: "closed" });
  }

  /** Nothing more comes for anybody. The first reason counts. */
  end(end: End): void {
    this.#end ??= end;
    const all = [...this.#threads.values()];
    this.#threads.clear();
    for (const readers of all) endAll(readers, this.#end);
  }

  /** How many read. */
  get readers(): number {
    return [...this.#threads.values()].reduce((count, { mailboxes }) => count + mailboxes.size, 0);
  }

  #readers(thread: ThreadId): Readers {
    const known = this.#threads.get(thread);
    if (known) return known;
    const readers: Readers = { newest: 0, mailboxes: new Set(), failure: undefined };
    this.#threads.set(thread, readers);
    return readers;
  }
}

function endAll({ mailboxes }: Readers, end: End): void {
  const ending = [...mailboxes];
  mailboxes.clear();
  for (const mailbox of ending) mailbox.end(end);
}
