// The events of a thread for one reader: every durable one exactly once and in order, whatever happened on the way.

import type { Core } from "../core.js";
import { isObject } from "../base/json.js";
import { onAbort } from "../base/signals.js";
import { abortedError, unreadable } from "../errors.js";
import type { Event, ItemId, ThreadEvent, ThreadId } from "../generated/protocol.js";
import { call } from "../link/calls.js";
import { type Delivered, readDelivered } from "./delivered.js";
import type { End, Mailbox } from "./mailbox.js";

/** What a look at the next event leads to. */
type Step =
  | { readonly kind: "event"; readonly event: ThreadEvent }
  | { readonly kind: "again" | "pull" | "wait" }
  | { readonly kind: "end"; readonly end: End };

/**
 * The events of a thread: `for await (const { event } of stream)`.
 *
 * Every durable event after the starting point comes exactly once and in order. A reader that falls behind costs a bounded
 * amount of memory (256 events or 1 MiB): what did not fit is fetched from the daemon's log. Deltas of a slow reader are
 * merged, and left out when even that does not help: their `offset` tells, and the completed item is authoritative. An event
 * whose type is newer than this version comes as it is, to be passed over.
 *
 * A lost connection is waited for, and the events go on behind the last one: none is missing, none comes twice, and neither
 * does the text of an open item. The stream ends after the thread or client was closed, and when a loop leaves it; it throws
 * when the connection is lost for good, when the thread is deleted (`notFound`), when its log cannot be read (`unavailable`),
 * when it cannot be taken up again (`logShortened`), with `noAnswer` when the daemon has been silent for a minute and then does not say how it is, and
 * with `aborted` when its signal fires. Leaving it ends nothing else. The process stays while an event is waited for.
 */
export class EventStream implements AsyncIterableIterator<ThreadEvent> {
  readonly #core: Core;
  readonly #thread: ThreadId;
  readonly #mailbox: Mailbox;
  readonly #signal: AbortSignal | undefined;
  /** The last durable event that was handed out. */
  #last: number;
  /** The event that showed a gap, until the gap is filled. */
  #held: Delivered | undefined;
  #backlog: Delivered[] = [];
  /** How many bytes of each open item's text were handed out. */
  readonly #offsets = new Map<ItemId, number>();
  #ended = false;
  #turn: Promise<unknown> = Promise.resolve();

  /** Begins behind `after`, or behind the newest event that has arrived. Made by {@link Thread.events}. */
  constructor(core: Core, thread: ThreadId, after?: number, signal?: AbortSignal) {
    const { mailbox, newest } = core.hub.subscribe(thread);
    this.#core = core;
    this.#thread = thread;
    this.#mailbox = mailbox;
    this.#signal = signal;
    this.#last = after ?? newest;
  }

  /** The last durable event that was handed out, or behind which the stream began: what to resume after. */
  get lastSeq(): number {
    return this.#last;
  }

  /** Moves the starting point of a stream that has handed out nothing yet. @internal */
  startAfter(seq: number): void {
    this.#last = seq;
  }

  /** The next event. Calls that overlap are answered in turn. */
  next(): Promise<IteratorResult<ThreadEvent, undefined>> {
    const next = this.#turn.then(() => this.#core.link.anchor.during(() => this.#next()));
    this.#turn = next.catch(() => undefined);
    return next;
  }

  /** Ends the stream, and whoever waits for its next event. Called by a loop that is left. */
  return(): Promise<IteratorResult<ThreadEvent, undefined>> {
    this.#end();
    this.#mailbox.wake();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #next(): Promise<IteratorResult<ThreadEvent, undefined>> {
    try {
      while (!this.#ended) {
        if (this.#signal?.aborted) throw abortedError("The next event", this.#signal.reason);
        const step = this.#step();
        if (step.kind === "event") return { done: false, value: step.event };
        if (step.kind === "pull") await this.#pull();
        else if (step.kind === "wait") await this.#listen();
        else if (step.kind === "end") this.#finish(step.end);
      }
    } catch (error) {
      this.#end();
      throw error;
    }
    return { done: true, value: undefined };
  }

  #finish(end: End): void {
    this.#end();
    if (end.why === "lost") throw this.#core.link.why();
    if (end.why === "failed") throw end.error();
  }

  #end(): void {
    this.#ended = true;
    this.#core.hub.unsubscribe(this.#thread, this.#mailbox);
  }

  /** Waits for the mailbox, or for the daemon to be found mute. */
  #listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        deafen();
        leave();
        ignore?.();
      };
      const deafen = this.#mailbox.listen(() => {
        done();
        resolve();
      });
      const leave = this.#core.vigil.keep((error) => {
        done();
        reject(error);
      });
      const ignore = this.#signal && onAbort(this.#signal, () => this.#mailbox.wake());
    });
  }

  #step(): Step {
    const kept = this.#backlog.shift() ?? this.#held;
    if (kept) {
      if (kept === this.#held) this.#held = undefined;
      return this.#judge(kept);
    }
    const next = this.#mailbox.take();
    if (next.kind === "event") return this.#judge(next.event);
    const { newest, end } = next;
    if (newest > this.#last && (!end || end.why === "lost")) return { kind: "pull" };
    return end ? { kind: "end", end } : { kind: "wait" };
  }

  /** Whether an event comes next, was handed out already, or shows that something is missing before it. */
  #judge(delivered: Delivered): Step {
    const { event } = delivered;
    const { seq, after } = event;
    if (seq !== undefined && seq <= this.#last) return { kind: "again" };
    if (seq === this.#last + 1) {
      this.#last = seq;
      this.#follow(event.event);
      return { kind: "event", event };
    }
    if (seq === undefined && (after === undefined || after <= this.#last)) {
      const counts = after !== undefined && (after === this.#last || this.#isOpen(event.event));
      const rest = counts ? this.#trimmed(event) : undefined;
      return rest ? { kind: "event", event: rest } : { kind: "again" };
    }
    this.#held = delivered;
    return { kind: "pull" };
  }

  /** Whether an ephemeral event that was overtaken by durable ones still means something. */
  #isOpen(event: Event): boolean {
    return (event.type === "itemDelta" || event.type === "toolProgress") && this.#offsets.has(event.itemId);
  }

  #follow(event: Event): void {
    if (event.type === "itemStarted") this.#offsets.set(event.item.itemId, 0);
    else if (event.type === "itemCompleted") this.#offsets.delete(event.item.itemId);
  }

  /** Cuts from a delta what was handed out before; a connection that joins again is sent an item's text anew. */
  #trimmed(event: ThreadEvent): ThreadEvent | undefined {
    const delta = event.event;
    if (delta.type !== "itemDelta") return event;
    const bytes = Buffer.from(delta.text);
    const seen = this.#offsets.get(delta.itemId) ?? 0;
    const end = delta.offset + bytes.length;
    if (end <= seen) return undefined;
    this.#offsets.set(delta.itemId, end);
    const known = Math.max(0, seen - delta.offset);
    const isBoundary = ((bytes[known] ?? 0) & 0xc0) !== 0x80;
    if (known === 0 || !isBoundary) return event;
    const text = bytes.subarray(known).toString("utf8");
    return { ...event, event: { ...delta, offset: delta.offset + known, text } };
  }

  async #pull(): Promise<void> {
    const after = this.#last;
    const options = { signal: this.#signal };
    const page = await call(this.#core.link, "thread/events", { threadId: this.#thread, after }, options);
    const isPage = isObject(page) && Array.isArray(page.events);
    const events = isPage ? page.events.map((event) => readDelivered(event, 0)) : [undefined];
    if (events.includes(undefined)) throw unreadable("The answer to thread/events", "it has no events.");
    const read = events.filter((event) => event !== undefined);
    const news = read.find(({ event }) => (event.seq ?? 0) > after)?.event.seq;
    const reason =
      news === undefined
        ? `it has no event after ${after}, although there are some.`
        : news > after + 1 && `the event after ${after} is ${news}.`;
    if (reason !== false) throw unreadable("The answer to thread/events", reason);
    this.#backlog.push(...read);
  }
}
