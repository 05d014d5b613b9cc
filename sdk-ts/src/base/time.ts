// Moments and waits. No timer of the SDK keeps the process alive, and no wait leaves a listener behind.

import { onAbort } from "./signals.js";

/** The longest wait a timer takes; what is longer is waited for in pieces. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The present, in milliseconds of a clock that is never set. */
export function now(): number {
  return performance.now();
}

/** Calls `then` at a moment, unless what is returned is called before. `Infinity` is never. */
export function at(moment: number, then: () => void): () => void {
  if (moment === Infinity) return () => undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const arm = (): void => {
    const left = Math.max(0, Math.ceil(moment - now()));
    const again = left > LONGEST_TIMER_MS;
    timer = setTimeout(again ? arm : then, Math.min(left, LONGEST_TIMER_MS));
    timer.unref();
  };
  arm();
  return () => clearTimeout(timer);
}

/** How a wait may come to an end before what it waits for. */
export interface Ends {
  /** The moment at which it is given up. */
  readonly deadline?: number | undefined;
  /** What is thrown then. */
  readonly late?: () => Error;
  /** Gives the wait up when it fires. */
  readonly signal?: AbortSignal | undefined;
  /** What is thrown then. */
  readonly aborted?: (reason: unknown) => Error;
}

/**
 * Waits for `start`, which is handed what to call with the result, and returns what to call when nobody waits any more.
 * Listeners and timers are gone when the wait is over, whichever way it ended.
 */
export function waiting<T>(
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => (() => void) | undefined,
  ends: Ends = {},
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const { deadline, late, signal, aborted } = ends;
    let over = false;
    const cleanups: (() => void)[] = [];
    const finish = (): boolean => {
      if (over) return false;
      over = true;
      for (const cleanup of cleanups) cleanup();
      return true;
    };
    const fail = (error: unknown): void => {
      if (finish()) reject(error instanceof Error ? error : new Error(String(error)));
    };
    if (signal?.aborted) return fail(aborted?.(signal.reason) ?? signal.reason);
    if (signal) {
      cleanups.push(onAbort(signal, () => fail(aborted?.(signal.reason) ?? signal.reason)));
    }
    if (deadline !== undefined) {
      cleanups.push(at(deadline, () => fail(late?.() ?? new Error("the time is over"))));
    }
    const stop = start((value) => {
      if (finish()) resolve(value);
    }, fail);
    if (stop === undefined) return;
    if (over as boolean) stop();
    else cleanups.push(stop);
  });
}

/** Waits for a promise, at most until one of the ends. The promise itself goes on. */
export function bounded<T>(work: Promise<T>, ends: Ends): Promise<T> {
  return waiting<T>((resolve, reject) => {
    work.then(resolve, reject);
    return undefined;
  }, ends);
}

/** Sleeps until a moment. A signal that fires ends the sleep early, which is no error. */
export async function sleepUntil(moment: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  await waiting<undefined>((resolve) => {
    const cancel = at(moment, () => resolve(undefined));
    const deafen = signal && onAbort(signal, () => resolve(undefined));
    return () => {
      cancel();
      deafen?.();
    };
  });
}
