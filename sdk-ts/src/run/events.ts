// The events of one run for one reader.

import type { EventStream } from "../events/stream.js";
import { Picker, type RunEvent, type Submission } from "./event.js";
import type { RunEnd, RunResult } from "./result.js";

/** Reads the events of a thread and hands out those of one run, until its end. */
export class RunEvents<Output> implements AsyncIterableIterator<RunEvent<Output>> {
  readonly #stream: EventStream;
  readonly #submission: Promise<Submission & { readonly isOlder: boolean }>;
  readonly #complete: (end: RunEnd) => Promise<RunResult<Output>>;
  #picker: Picker | undefined;
  #ended = false;
  #turn: Promise<unknown> = Promise.resolve();

  /** Begins where the stream does. Waiting for the submission is what the first event waits for. */
  constructor(
    stream: EventStream,
    submission: Promise<Submission & { readonly isOlder: boolean }>,
    complete: (end: RunEnd) => Promise<RunResult<Output>>,
  ) {
    this.#stream = stream;
    this.#submission = submission;
    this.#complete = complete;
  }

  /** The next event. Calls that overlap are answered in turn. */
  next(): Promise<IteratorResult<RunEvent<Output>, undefined>> {
    const next = this.#turn.then(() => this.#next());
    this.#turn = next.catch(() => undefined);
    return next;
  }

  /** Stops following the run, and nothing else. */
  async return(): Promise<IteratorResult<RunEvent<Output>, undefined>> {
    this.#ended = true;
    await this.#stream.return();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #next(): Promise<IteratorResult<RunEvent<Output>, undefined>> {
    try {
      while (!this.#ended) {
        this.#picker ??= await this.#begin();
        const next = await this.#stream.next();
        if (next.done) break;
        const picked = this.#picker.pick(next.value);
        if (!picked) continue;
        if ("event" in picked) return { done: false, value: picked.event };
        const result = await this.#complete(picked.end);
        await this.return();
        return { done: false, value: { type: "completed", result } };
      }
    } catch (error) {
      await this.return();
      throw error;
    }
    return this.return();
  }

  async #begin(): Promise<Picker> {
    const submission = await this.#submission;
    if (submission.isOlder) this.#stream.startAfter(0);
    return new Picker(submission);
  }
}
