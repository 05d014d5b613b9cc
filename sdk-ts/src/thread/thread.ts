// A thread this client is attached to.

import { freshId } from "../base/ids.js";
import { quiet } from "../base/quiet.js";
import type { Core } from "../core.js";
import { RopewalkError, threadClosed } from "../errors.js";
import { EventStream } from "../events/stream.js";
import type {
  RunId,
  RunSubmitParams,
  RunSubmitted,
  Thread as Header,
  ThreadId,
  Tool as EffectiveTool,
} from "../generated/protocol.js";
import { call, type CallOptions } from "../link/calls.js";
import { type Input, prepare, type RunOptions } from "../run/options.js";
import { noRun, Run } from "../run/run.js";
import type { AnySchema, OutputOf } from "../tools/input.js";
import { Tools } from "../tools/registry.js";
import type { Tool } from "../tools/tool.js";
import { ThreadBranches } from "./branches.js";
import { Registration } from "./registration.js";

/** Where events of a thread begin. */
export interface EventOptions {
  /** The position behind which they begin, the stored ones first; 0 for all there ever were. From now on unless given. */
  after?: number;
  /** Ends the wait for an event: the loop throws `aborted`. */
  signal?: AbortSignal;
}

/**
 * A thread this client is attached to: it is sent the events, offered the approvals and questions, and called for the tools.
 *
 * Forgetting it ends nothing: the client stays attached, so that handlers go on answering for runs under way, until
 * {@link close}, the end of an `await using` block, or the end of the client. A lost connection changes nothing of it: see
 * {@link Ropewalk}.
 */
export class Thread {
  /** The thread's id; also that of its original branch. */
  readonly id: ThreadId;
  /** The thread's last event at the moment this client attached. */
  readonly attachedAt: number;
  /** Its branches. */
  readonly branches: ThreadBranches;
  readonly #core: Core;

  /** @internal */
  constructor(core: Core, id: ThreadId, seq: number) {
    this.#core = core;
    this.id = id;
    this.attachedAt = seq;
    this.branches = new ThreadBranches(core, id);
  }

  /**
   * Submits input; `await` it for the run's result, or loop over its events as they come.
   *
   * ```ts
   * const result = await thread.run("What is issue 7 about?");
   * console.log(result.text);
   * ```
   *
   * @throws {@link RopewalkError} `invalidOption` at once, for options that are none or contradict each other. Everything else is the run's.
   */
  run<const Schema extends AnySchema | undefined = undefined>(
    input: Input,
    options: RunOptions<Schema> = {},
  ): Run<OutputOf<Schema>> {
    const { params, schema, isKnown } = prepare(this.id, input, options);
    const begin = async (): ReturnType<ConstructorParameters<typeof Run>[2]> => {
      this.#checkOpen();
      const submitted = await call(this.#core.link, "run/submit", params, options);
      const { runId, messageId, branchId, replayed } = submitted;
      if (runId === undefined) throw noRun(messageId);
      // A fresh operation that is replayed was asked for again over another connection: its events are all behind the place where
      // reading began.
      return { runId, branchId, messageId, isOlder: replayed && isKnown };
    };
    return new Run(this.#core, this.id, begin, schema, options.signal);
  }

  /**
   * Submits input and leaves it at that: for asides, and for runs nobody follows. With `wait` it is answered when the run has
   * ended, or after `waitTimeoutMs`.
   */
  @quiet
  send(
    input: Input,
    options: RunOptions<AnySchema | undefined> & Pick<RunSubmitParams, "wait" | "waitTimeoutMs"> = {},
  ): Promise<RunSubmitted> {
    const { wait, waitTimeoutMs } = options;
    const waiting = {
      ...(wait === undefined ? {} : { wait }),
      ...(waitTimeoutMs === undefined ? {} : { waitTimeoutMs }),
    };
    return call(this.#core.link, "run/submit", { ...prepare(this.id, input, options).params, ...waiting }, options);
  }

  /**
   * Lets a paused run go on under its id, or continues one that has ended badly from its last stored step, by a new run: the one
   * that is named, or the last that ended badly on the thread's original branch. What follows are the events of the run that
   * goes on. `recovery` of a run says what can be done about it; `invalidState` when this cannot.
   */
  resumeRun(run?: RunId, options: CallOptions = {}): Run {
    return this.#recover("run/resume", run, options);
  }

  /** Gives the input of a run that has ended badly once more, by a new run. What came of it leaves the chain. */
  retryRun(run?: RunId, options: CallOptions = {}): Run {
    return this.#recover("run/retry", run, options);
  }

  /** Puts the input of a run that failed with `parentMissing` on the head of its branch, by a new run. */
  rebaseRun(run?: RunId, options: CallOptions = {}): Run {
    return this.#recover("run/rebase", run, options);
  }

  /** The thread's events, of all its runs and branches. Reading begins now, also for events that nobody has asked for yet. */
  events(options: EventOptions = {}): EventStream {
    this.#checkOpen();
    return new EventStream(this.#core, this.id, options.after, options.signal);
  }

  /** The thread's header and branches, as they are now. */
  @quiet
  async read(options: CallOptions = {}): Promise<Header> {
    return (await call(this.#core.link, "thread/read", { threadId: this.id }, options)).thread;
  }

  /** The effective tools: those of all clients and sources, with what the rules say of them. */
  @quiet
  async tools(options: CallOptions & { schemas?: boolean } = {}): Promise<EffectiveTool[]> {
    const schemas = options.schemas ?? false;
    return (await call(this.#core.link, "thread/tools", { threadId: this.id, schemas }, options)).items;
  }

  /**
   * Attaches a tool, beside those this client has there, until it is detached. One of the same namespace and name is replaced.
   *
   * The model sees it from its next step on. A tool that was declared before in the very same words is bound without asking the
   * daemon. When the daemon refuses, nothing has changed.
   */
  @quiet
  attach(tool: Tool, options: CallOptions = {}): Promise<Registration> {
    const handlers = this.#core.bindings.thread(this.id);
    return handlers.declaring.take(async () => {
      this.#checkOpen();
      new Tools([tool]).check();
      const declared = handlers.isDeclared(tool.declaration);
      const undo = handlers.trial();
      try {
        // Bound before the daemon knows, because a call may follow its answer at once.
        const registered = handlers.bind(tool);
        if (!declared) await this.#declare(handlers.tools(), options);
        return new Registration(handlers, registered);
      } catch (error) {
        undo();
        throw error;
      }
    });
  }

  /**
   * Tools of this client that another process held when the client last attached to this thread: it took them over while this one
   * was away, and they stay with it. Empty nearly always. To have them back, resume the thread with them and `takeover`.
   */
  get takenTools(): readonly string[] {
    return this.#core.attachments.taken(this.id);
  }

  /**
   * Detaches this client from the thread: streams of it end, its handlers are forgotten, and approvals and questions of it are no
   * longer offered here. Runs go on, and `run`, `events` and `attach` fail with `threadClosed` from now on. On a client that has
   * ended it does nothing; this side is detached in any case.
   */
  @quiet
  async close(options: CallOptions = {}): Promise<void> {
    this.#core.attachments.remove(this.id);
    this.#core.hub.close(this.id);
    this.#core.bindings.forget(this.id);
    if (this.#core.link.isOver) return;
    await call(this.#core.link, "thread/unsubscribe", { threadId: this.id }, options);
  }

  /** As {@link close}; what the daemon says to it is passed over. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close().catch((error: unknown) => {
      if (!(error instanceof RopewalkError)) throw error;
    });
  }

  /** Nothing of a thread that was closed comes here: whoever waited for it would wait for ever. */
  #checkOpen(): void {
    const { attachments, hub, link } = this.#core;
    // What ended a client or a thread is said by its streams.
    if (attachments.has(this.id) || link.isOver || hub.hasFailed(this.id)) return;
    throw threadClosed(this.id);
  }

  async #declare(tools: Tools, options: CallOptions): Promise<void> {
    tools.check();
    const declarations = tools.declarations();
    const params = { threadId: this.id, after: this.#core.hub.newest(this.id), tools: declarations };
    const resumed = await call(this.#core.link, "thread/resume", params, options);
    this.#core.hub.advance(this.id, resumed.seq);
    this.#core.attachments.noteTaken(this.id, []);
    this.#core.bindings.thread(this.id).declared = declarations;
  }

  #recover(method: "run/resume" | "run/retry" | "run/rebase", run: RunId | undefined, options: CallOptions): Run {
    const named = run === undefined ? {} : { runId: run };
    const params = { threadId: this.id, ...named, operationId: freshId() };
    const begin = async (): ReturnType<ConstructorParameters<typeof Run>[2]> => {
      this.#checkOpen();
      const { runId, branchId, messageId } = (await call(this.#core.link, method, params, options)).run;
      return { runId, branchId, messageId, isOlder: false };
    };
    return new Run(this.#core, this.id, begin, undefined, options.signal);
  }
}
