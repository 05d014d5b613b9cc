// Threads by their ids, and the ways to get a thread to work with.

import { quiet } from "../base/quiet.js";
import type { Core } from "../core.js";
import type { ProjectId, Thread as Header, ThreadId } from "../generated/protocol.js";
import type { CallOptions } from "../link/calls.js";
import {
  type Resumed,
  type ResumeThreadOptions,
  resumeThread,
  startThread,
  type StartThreadOptions,
} from "../thread/open.js";
import type { Thread } from "../thread/thread.js";
import type { Answer, Ask, Params } from "./noun.js";

/** Threads. */
export class Threads {
  readonly #core: Core;
  readonly #project: ProjectId | undefined;
  readonly #ask: Ask;

  /** @internal */
  constructor(core: Core, project: ProjectId | undefined, ask: Ask) {
    this.#core = core;
    this.#project = project;
    this.#ask = ask;
  }

  /** Starts a thread, declares its tools and attaches to it. Throws `invalidTool` before anything is sent. */
  @quiet
  start(options: StartThreadOptions = {}): Promise<Thread> {
    return startThread(this.#core, this.#project, options);
  }

  /** Attaches to a thread that exists. */
  @quiet
  async resume(threadId: ThreadId, options: ResumeThreadOptions = {}): Promise<Thread> {
    const { thread, events } = await resumeThread(this.#core, threadId, options);
    await events.return();
    return thread;
  }

  /** Attaches to a thread that exists and reads its events from there on, without a gap. */
  @quiet
  watch(threadId: ThreadId, options: ResumeThreadOptions = {}): Promise<Resumed> {
    return resumeThread(this.#core, threadId, options);
  }

  /** The header of a thread, with its branches. */
  @quiet
  async read(threadId: ThreadId, options?: CallOptions): Promise<Header> {
    return (await this.#ask("thread/read", { threadId }, options)).thread;
  }

  /** A page of the threads, newest first. */
  list(params: Params<"thread/list"> = {}, options?: CallOptions): Answer<"thread/list"> {
    return this.#ask("thread/list", params, options);
  }

  /** Changes the header of a thread: what is named is set, null clears. */
  update(params: Params<"thread/update">, options?: CallOptions): Answer<"thread/update"> {
    return this.#ask("thread/update", params, options);
  }

  /** Archives a thread, or takes it back. */
  archive(params: Params<"thread/archive">, options?: CallOptions): Answer<"thread/archive"> {
    return this.#ask("thread/archive", params, options);
  }

  /** Says that somebody has read what happened up to an event. */
  markRead(params: Params<"thread/markRead">, options?: CallOptions): Answer<"thread/markRead"> {
    return this.#ask("thread/markRead", params, options);
  }

  /** Deletes a thread for good, or says what would go with it. */
  delete(params: Params<"thread/delete">, options?: CallOptions): Answer<"thread/delete"> {
    return this.#ask("thread/delete", params, options);
  }

  /** The chain of a branch from head to root: exactly what the model sees. */
  messages(params: Params<"thread/messages">, options?: CallOptions): Answer<"thread/messages"> {
    return this.#ask("thread/messages", params, options);
  }

  /** The messages of all threads, or of some, that have a text. A page with a cursor may be empty: go on with it. */
  search(params: Params<"thread/search">, options?: CallOptions): Answer<"thread/search"> {
    return this.#ask("thread/search", params, options);
  }

  /** A page of durable events. {@link Thread.events} is the pleasant way to read them. */
  events(params: Params<"thread/events">, options?: CallOptions): Answer<"thread/events"> {
    return this.#ask("thread/events", params, options);
  }

  /** The effective tools of a thread. */
  tools(params: Params<"thread/tools">, options?: CallOptions): Answer<"thread/tools"> {
    return this.#ask("thread/tools", params, options);
  }
}
