// Starting a thread, and taking up one that exists.

import { freshId } from "../base/ids.js";
import { isObject } from "../base/json.js";
import type { Core } from "../core.js";
import { unreadable } from "../errors.js";
import { EventStream } from "../events/stream.js";
import type { ProjectId, Snapshot, ThreadId, ThreadResumeParams, ThreadStartParams } from "../generated/protocol.js";
import { callOn, type CallOptions } from "../link/calls.js";
import { checkNames } from "../options.js";
import { missing, takeUp } from "../recovery/threads.js";
import { Tools } from "../tools/registry.js";
import type { Tool } from "../tools/tool.js";
import { Thread } from "./thread.js";

/** How a thread is started. */
export interface StartThreadOptions extends CallOptions, Omit<ThreadStartParams, "tools" | "subscribe"> {
  /** Tools: declared to the daemon and their handlers bound, until the thread or the client is closed. */
  tools?: Iterable<Tool>;
  /** The project it lives in; that of the client's workspace, else the default one, unless given. */
  projectId?: ProjectId;
}

/** How a thread is taken up. */
export interface ResumeThreadOptions extends CallOptions {
  /**
   * Tools that take the place of all that this client had declared for the thread; when none are given, those stay. An empty list
   * withdraws what there was.
   */
  tools?: Iterable<Tool>;
  /** Takes tools over whose names another client instance has bound. Without this they are a `conflict`. */
  takeover?: boolean;
  /** The last event that was seen: events begin behind it, and there is no snapshot. */
  after?: number;
}

/** A thread that was taken up, with what came before and what comes after. */
export interface Resumed {
  /** The thread. */
  readonly thread: Thread;
  /** The thread as it was when it was taken up; absent when events after a position were asked for. */
  readonly snapshot: Snapshot | undefined;
  /** Everything that happened since: after the snapshot, or after the position. */
  readonly events: EventStream;
}

/** Every option there is: tools under a misspelt name would silently be none. */
const startOptions: Record<keyof StartThreadOptions, true> = {
  tools: true,
  projectId: true,
  title: true,
  endpointId: true,
  instructions: true,
  agent: true,
  origin: true,
  operationId: true,
  signal: true,
  timeoutMs: true,
};
const resumeOptions: Record<keyof ResumeThreadOptions, true> = {
  tools: true,
  takeover: true,
  after: true,
  signal: true,
  timeoutMs: true,
};

/** Starts a thread. */
export async function startThread(
  core: Core,
  project: ProjectId | undefined,
  options: StartThreadOptions,
): Promise<Thread> {
  checkNames(options, startOptions);
  const { tools: given = [], signal, timeoutMs, ...params } = options;
  const tools = new Tools(given);
  tools.check();
  const whole: ThreadStartParams = {
    ...(project === undefined ? {} : { projectId: project }),
    ...params,
    ...(tools.size === 0 ? {} : { tools: tools.declarations() }),
    operationId: params.operationId ?? freshId(),
  };
  // Calls may come before this function has read the answer; they wait meanwhile.
  const started = core.bindings.starting();
  try {
    const { result, generation } = await callOn(core.link, "thread/start", whole, { signal, timeoutMs });
    checkAnswer("thread/start", result);
    const id = result.thread.threadId;
    const handlers = core.bindings.thread(id);
    handlers.replace(tools);
    handlers.declared = tools.declarations();
    core.hub.advance(id, result.seq);
    core.attachments.add(id);
    started();
    // A stored answer attaches nobody, and neither does one of a connection that is over.
    if (result.replayed || generation !== core.link.generation) await takeUp(core, id);
    return new Thread(core, id, result.seq);
  } finally {
    started();
  }
}

/** Takes a thread up and reads its events from there on. */
export async function resumeThread(core: Core, id: ThreadId, options: ResumeThreadOptions): Promise<Resumed> {
  checkNames(options, resumeOptions);
  const tools = options.tools && new Tools(options.tools);
  tools?.check();
  const handlers = core.bindings.thread(id);
  return handlers.declaring.take(async () => {
    core.hub.reopen(id);
    // Reading begins before the request, as events may come right behind its answer.
    const events = new EventStream(core, id);
    const undo = handlers.trial();
    // Open calls are offered beside the answer, so the handlers are there before the request.
    if (tools) handlers.replace(tools);
    try {
      const { result, generation } = await callOn(core.link, "thread/resume", paramsOf(id, tools, options), options);
      checkAnswer("thread/resume", result);
      if (tools) handlers.declared = tools.declarations();
      events.startAfter(options.after ?? result.seq);
      core.hub.advance(id, result.seq);
      core.attachments.add(id);
      if (generation === core.link.generation) missing(core, id, result);
      else await takeUp(core, id);
      return { thread: new Thread(core, id, result.seq), snapshot: result.snapshot, events };
    } catch (error) {
      undo();
      void events.return();
      throw error;
    }
  });
}

/** Whether an answer says what a thread is known by. */
function checkAnswer(method: string, answer: object): void {
  const { thread, seq, tools } = answer as Record<string, unknown>;
  const names = isObject(thread) && typeof thread.threadId === "string" && Number.isSafeInteger(seq);
  if (!names || !Array.isArray(tools))
    throw unreadable(`The answer to ${method}`, "it names no thread, position and tools.");
}

function paramsOf(threadId: ThreadId, tools: Tools | undefined, options: ResumeThreadOptions): ThreadResumeParams {
  const { after, takeover } = options;
  return {
    threadId,
    ...(tools === undefined ? {} : { tools: tools.declarations() }),
    ...(after === undefined ? {} : { after }),
    ...(takeover === undefined ? {} : { takeover }),
  };
}
