// What a handler knows of the call it answers, and how it hears that it may stop.

import { now } from "../base/time.js";
import { wellFormed } from "../duties/fence.js";
import type {
  CallId,
  InteractionId,
  RunId,
  ThreadId,
  ToolCallRequest,
  ToolProgressParams,
} from "../generated/protocol.js";

/** At most so often is progress sent; what comes sooner is dropped, so that a tight loop fills no queue. */
const PROGRESS_PAUSE_MS = 10;
/** The wire's limit of a progress message. */
const PROGRESS_CHARACTERS = 500;

/** The call a handler answers. May be kept for longer than the call, and then does nothing. */
export interface ToolContext {
  /**
   * Fires when nobody waits for the result any more: the run was stopped, the time is up, another answered, or the client was
   * closed. It does not fire when the call ends with its result.
   */
  readonly signal: AbortSignal;
  /**
   * Shows life: what is being done (at most 500 characters, the rest is cut) and how far it has come, from 0 to 1. The silence
   * of the call starts anew. Never waits and never fails. At most 100 a second are sent, what is more is dropped.
   */
  readonly progress: (message: string, fraction?: number) => void;
  /** The thread. */
  readonly threadId: ThreadId;
  /** The run. */
  readonly runId: RunId;
  /** The call: the same however often it is offered, which makes it a good key for effects outside. */
  readonly callId: CallId;
  /** The interaction that carries the call. */
  readonly interactionId: InteractionId;
  /** The tool's namespace. */
  readonly namespace: string | undefined;
  /** The tool's name. */
  readonly tool: string;
  /** The call ends after this long without a result or progress. */
  readonly silenceMs: number;
  /** The call ends at this moment whatever happens. */
  readonly deadlineAt: Date | undefined;
}

/** The context of a call; its progress goes to `send`. */
export function toolContext(
  call: ToolCallRequest,
  signal: AbortSignal,
  send: (progress: ToolProgressParams) => void,
): ToolContext {
  const { threadId, runId, callId, interactionId, namespace, tool, silenceMs, deadlineAt } = call;
  let last = -Infinity;
  const progress = (message: string, fraction?: number): void => {
    if (signal.aborted || now() - last < PROGRESS_PAUSE_MS) return;
    last = now();
    const text =
      typeof message === "string"
        ? wellFormed(
            Array.from(message.slice(0, 2 * PROGRESS_CHARACTERS))
              .slice(0, PROGRESS_CHARACTERS)
              .join(""),
          )
        : "";
    const isNumber = typeof fraction === "number" && Number.isFinite(fraction);
    send({
      interactionId,
      ...(text === "" ? {} : { message: text }),
      ...(isNumber ? { fraction: Math.min(1, Math.max(0, fraction)) } : {}),
    });
  };
  return {
    signal,
    progress,
    threadId,
    runId,
    callId,
    interactionId,
    namespace,
    tool,
    silenceMs,
    deadlineAt: deadlineAt === undefined ? undefined : new Date(deadlineAt),
  };
}
