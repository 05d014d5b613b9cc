// A value that others wait for to change.

import { type Ends, waiting } from "./time.js";

/** A value and who is told of its changes. */
export class Watch<T> {
  #value: T;
  readonly #listeners = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  /** Replaces the value and tells everybody, in the order in which they came. */
  set(value: T): void {
    this.#value = value;
    for (const listener of [...this.#listeners]) listener(value);
  }

  /** Tells of every change until what is returned is called. */
  listen(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Waits for a value that passes; the present one counts. */
  until(passes: (value: T) => boolean, ends: Ends = {}): Promise<T> {
    return waiting<T>((resolve) => {
      if (passes(this.#value)) {
        resolve(this.#value);
        return undefined;
      }
      return this.listen((value) => {
        if (passes(value)) resolve(value);
      });
    }, ends);
  }

  /** How many listen. */
  get listeners(): number {
    return this.#listeners.size;
  }
}
