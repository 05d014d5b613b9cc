// Whether the daemon still lives, for those who wait for its events: one watch for all of them.

import { at, now } from "../base/time.js";
import { call } from "../link/calls.js";
import type { Link } from "../link/link.js";
import { RopewalkError } from "../errors.js";

/** After so long without a word a daemon is asked how it is. */
export const QUIET_MS = 60_000;

/** Watches over a daemon that says nothing. */
export class Vigil {
  readonly #link: Link;
  readonly #waiting = new Set<(error: Error) => void>();
  #cancel: (() => void) | undefined;
  #asking = false;

  constructor(link: Link) {
    this.#link = link;
  }

  /** Calls `mute` when the daemon is silent for a minute and then not even says how it is; what is returned ends that. */
  keep(mute: (error: Error) => void): () => void {
    this.#waiting.add(mute);
    if (this.#cancel === undefined && !this.#asking) this.#arm();
    return () => {
      this.#waiting.delete(mute);
      if (this.#waiting.size > 0) return;
      this.#cancel?.();
      this.#cancel = undefined;
    };
  }

  #arm(): void {
    this.#cancel = at(Math.max(this.#link.heardAt, now() - QUIET_MS) + QUIET_MS, () => {
      this.#cancel = undefined;
      if (now() - this.#link.heardAt < QUIET_MS) this.#arm();
      else void this.#ask();
    });
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    try {
      await call(this.#link, "daemon/status", {});
    } catch (error) {
      // A refusal is a sign of life as good as any.
      if (!(error instanceof RopewalkError && error.code !== undefined)) this.#fail(error as Error);
    }
    this.#link.hear();
    this.#asking = false;
    if (this.#waiting.size > 0) this.#arm();
  }

  #fail(error: Error): void {
    const failing = [...this.#waiting];
    this.#waiting.clear();
    for (const mute of failing) mute(error);
  }
}
