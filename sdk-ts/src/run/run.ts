// A run that was submitted: a promise of its result and a stream of its events, as long as somebody follows it.

import { quiet } from "../base/quiet.js";
import type { Core } from "../core.js";
import { localError, threadClosed } from "../errors.js";
import { EventStream } from "../events/stream.js";
import type { RunId, RunStopped, RunWaited, RunWaitParams, ThreadId } from "../generated/protocol.js";
import { call, type CallOptions } from "../link/calls.js";
import type { Recognised } from "../tools/input.js";
import type { RunEvent, Submission } from "./event.js";
import { RunEvents } from "./events.js";
import { RunResult, type RunEnd } from "./result.js";

/** How a run is begun: the answer to its request, and whether its events may lie behind. */
export type Begin = () => Promise<Submission & { readonly isOlder: boolean }>;

/**
 * A run. It is submitted at once, and durable when {@link submitted} resolves. Then, in any order and as often as you like:
 *
 * * `await run` gives the {@link RunResult} when it has ended;
 * * `for await (const event of run)` gives its {@link RunEvent}s, and ends after `completed`;
 * * {@link stop} stops it.
 *
 * Neither leaving the loop nor the signal of its options stops the run: they end this side's waiting alone. A lost connection,
 * or a daemon that is restarted, is waited for. A run that fails is a result; what makes the promise reject and the loop throw
 * is a refused submission, `noRun`, `runRemoved`, `aborted`, and what ends an {@link EventStream}. Nobody has to look: a run
 * that is not awaited makes no unhandled rejection, and holds nothing. The process stays while somebody waits for it.
 */
export class Run<Output = unknown> implements PromiseLike<RunResult<Output>>, AsyncIterable<RunEvent<Output>> {
  readonly #core: Core;
  readonly #thread: ThreadId;
  readonly #schema: Recognised | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #submission: ReturnType<Begin>;
  /** The last event before those of the run. */
  #after: number;
  #known: Submission | undefined;
  #result: Promise<RunResult<Output>> | undefined;
  #ended: RunResult<Output> | undefined;

  /** @internal */
  constructor(core: Core, thread: ThreadId, begin: Begin, schema?: Recognised, signal?: AbortSignal) {
    this.#core = core;
    this.#thread = thread;
    this.#schema = schema;
    this.#signal = signal;
    this.#after = core.hub.newest(thread);
    this.#submission = this.#begin(begin);
    // Whoever does not look does not hear of it.
    this.#submission.catch(() => undefined);
  }

  /** The run's id, once it was submitted. */
  get id(): RunId | undefined {
    return this.#known?.runId;
  }

  /** What the run is known by; resolves when its input is stored for good. */
  @quiet
  async submitted(): Promise<Submission> {
    const { runId, branchId, messageId } = await this.#submission;
    return { runId, branchId, messageId };
  }

  /** Waits until the run has ended; the same as awaiting it. */
  result(): Promise<RunResult<Output>> {
    if (this.#result === undefined) {
      this.#result = this.#follow();
      this.#result.catch(() => undefined);
    }
    return this.#result;
  }

  then<Ok = RunResult<Output>, Failed = never>(
    onResult?: ((result: RunResult<Output>) => Ok | PromiseLike<Ok>) | null,
    onError?: ((error: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Ok | Failed> {
    return this.result().then(onResult, onError);
  }

  catch<Failed = never>(
    onError?: ((error: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<RunResult<Output> | Failed> {
    return this.result().catch(onError);
  }

  finally(then?: (() => void) | null): Promise<RunResult<Output>> {
    return this.result().finally(then);
  }

  /** The events of the run from its beginning; each reader has all of them. Text that was streamed before is in its item. */
  [Symbol.asyncIterator](): AsyncIterableIterator<RunEvent<Output>> {
    const stream = new EventStream(this.#core, this.#thread, this.#after, this.#signal);
    return new RunEvents<Output>(stream, this.#submission, (end) => this.#complete(end));
  }

  /**
   * Stops the run; what follows is its end. Stopping a run that has ended does nothing. Waits for the submission first, where
   * that is still under way.
   */
  @quiet
  async stop(options: CallOptions = {}): Promise<RunStopped> {
    const { runId, branchId } = await this.#submission;
    return call(this.#core.link, "run/stop", { threadId: this.#thread, branchId, runId }, options);
  }

  /** Waits until the run has ended, or with `until: "blocked"` until it needs a person. A timeout is no error. */
  @quiet
  async wait(params: Omit<RunWaitParams, "runId"> = {}, options: CallOptions = {}): Promise<RunWaited> {
    const { runId } = await this.#submission;
    return call(this.#core.link, "run/wait", { ...params, runId }, options);
  }

  async #begin(begin: Begin): ReturnType<Begin> {
    const submission = await begin();
    this.#known = submission;
    // The run may have begun, and even ended, before this process knew of it.
    if (submission.isOlder) this.#after = 0;
    return submission;
  }

  async #follow(): Promise<RunResult<Output>> {
    if (this.#ended) return this.#ended;
    for await (const event of this) if (event.type === "completed") return event.result;
    throw this.#core.link.isOver ? this.#core.link.why() : threadClosed(this.#thread);
  }

  async #complete(end: RunEnd): Promise<RunResult<Output>> {
    if (this.#ended) return this.#ended;
    const data = end.outcome.structured;
    const checked = data === undefined ? undefined : ((await this.#schema?.check?.(data)) ?? { value: data });
    this.#ended ??= new RunResult<Output>(end, checked);
    return this.#ended;
  }
}

/** What is said of an aside on an idle branch. */
export function noRun(messageId: string): Error {
  const message = `The input was recorded as message ${messageId}; an aside on an idle branch starts no run.`;
  return localError("noRun", { messageId }, message);
}
