// How often and for how long a lost connection is tried to be made again.

import { now } from "../base/time.js";

/** The wait before the second attempt; each later one is twice as long. The first comes at once. */
const FIRST_PAUSE_MS = 50;
/** The longest wait between two attempts. */
const LONGEST_PAUSE_MS = 5_000;
/**
 * A connection that is lost sooner than this belongs to the outage before it: one that is made and lost for ever is given
 * up like one that cannot be made.
 */
const STEADY_MS = 10_000;

/** The time without a connection that lasts. */
export interface Outage {
  /** The moment the connection was lost. */
  readonly since: number;
  /** The same, for people. */
  readonly sinceDate: Date;
  /** Attempts so far. */
  attempts: number;
}

/** What is remembered between two outages. */
export class History {
  #last: { outage: Outage; endedAt: number } | undefined;

  /** The connection was lost that had stood since `connectedAt`: a new outage, or the last one goes on. */
  lost(connectedAt: number): Outage {
    const last = this.#last;
    this.#last = undefined;
    if (last && now() - Math.max(connectedAt, last.endedAt) < STEADY_MS) return last.outage;
    return { since: now(), sinceDate: new Date(), attempts: 0 };
  }

  /** The connection stands again. */
  ended(outage: Outage): void {
    this.#last = { outage, endedAt: now() };
  }
}

/**
 * The wait before the attempt that comes next. `random` is from 0 to 1 and takes up to half of it away, so that the clients
 * of one daemon do not all come at once.
 */
export function pauseMs(attempts: number, random: number): number {
  if (attempts < 2) return 0;
  const whole = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempts - 2, 30), LONGEST_PAUSE_MS);
  return whole * (1 - random / 2);
}
