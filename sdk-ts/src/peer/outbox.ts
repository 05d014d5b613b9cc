// What waits to be written: counted, so that it has a bound, and waited for, so that an answer is not lost at the end.

import type { Anchor } from "../base/anchor.js";
import { Watch } from "../base/watch.js";
import type { ByteStream } from "./stream.js";

/** More bytes than this are not queued by calls: they wait for room, with their own deadline. */
export const OUTBOX_BYTES = 33_554_432;
/** While more bytes than this wait, what only shows life is dropped. */
const LEISURE_BYTES = 65_536;

/** The outgoing half of a stream. */
export class Outbox {
  readonly #stream: ByteStream;
  readonly #anchor: Anchor;
  readonly #waiting = new Watch(0);
  #release: (() => void) | undefined;

  constructor(stream: ByteStream, anchor: Anchor) {
    this.#stream = stream;
    this.#anchor = anchor;
  }

  /** Bytes that were not taken by the system yet, and how that changes. */
  get waiting(): Watch<number> {
    return this.#waiting;
  }

  /** Whether more may be queued. */
  get hasRoom(): boolean {
    return this.#waiting.value <= OUTBOX_BYTES;
  }

  /** Whether nothing of weight waits. */
  get isAtLeisure(): boolean {
    return this.#waiting.value <= LEISURE_BYTES;
  }

  /** Writes a line. The process stays until the system has taken it. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    this.#release ??= this.#anchor.hold();
    this.#waiting.set(this.#waiting.value + bytes);
    this.#stream.write(line, () => this.#written(bytes));
  }

  /** Nothing is written any more. */
  abandon(): void {
    this.#release?.();
    this.#release = undefined;
  }

  #written(bytes: number): void {
    this.#waiting.set(this.#waiting.value - bytes);
    if (this.#waiting.value <= 0) this.abandon();
  }
}
