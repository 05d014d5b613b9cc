// What keeps the process alive: while somebody waits for something of a client, and no longer.

/** Longer than any timer may be is not needed: it is set again when it fires. */
const TICK_MS = 2 ** 30;

/**
 * Sockets and timers of a client never keep the process alive by themselves. Whoever has something under way holds the
 * anchor, and the process stays for as long as anybody does.
 */
export class Anchor {
  #holds = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Keeps the process alive until what is returned is called; calling that twice is calling it once. */
  hold(): () => void {
    this.#holds += 1;
    this.#timer ??= setInterval(() => undefined, TICK_MS);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      if (this.#holds > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Keeps the process alive until the work has ended, whichever way. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const release = this.hold();
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** How many hold it. */
  get holds(): number {
    return this.#holds;
  }
}
