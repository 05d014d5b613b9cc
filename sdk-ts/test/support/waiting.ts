// Waiting with an end: no test hangs, and none depends on how long something took.

/** Long enough never to be reached by a test that works, on a machine that has other things to do. */
export const patienceMs = 120_000;

/** What comes of a promise, or an error that names what was waited for. */
export async function within<T>(what: string, promise: PromiseLike<T>, ms = patienceMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`waited in vain: ${what}`));
    }, ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A moment that others wait for. */
export interface Latch<T = void> {
  readonly done: Promise<T>;
  readonly open: (value: T) => void;
  readonly fail: (reason: Error) => void;
}

export function latch<T = void>(): Latch<T> {
  let open!: (value: T) => void;
  let fail!: (reason: Error) => void;
  const done = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  // Whoever never waits for it has not failed.
  done.catch(() => undefined);
  return { done, open, fail };
}

/** Things that come one after another, to whoever asks for the next one. */
export class Inbox<T> {
  readonly #arrived: T[] = [];
  readonly #asking: ((value: T) => void)[] = [];

  put(value: T): void {
    const asking = this.#asking.shift();
    if (asking) asking(value);
    else this.#arrived.push(value);
  }

  /** How many came that nobody has taken. */
  get size(): number {
    return this.#arrived.length;
  }

  next(what: string): Promise<T> {
    return within(what, this.take());
  }

  /** The next one, however long that takes: for those who wait for something else beside. */
  take(): Promise<T> {
    if (this.#arrived.length > 0) return Promise.resolve(this.#arrived.shift() as T);
    return new Promise<T>((resolve) => this.#asking.push(resolve));
  }
}

/** Waits until something holds, looking again at every turn of the event loop's timers. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
