// The one class of errors: what the daemon refuses, and what goes wrong on the way or in this process.

import {
  type ErrorData,
  type ErrorKind,
  errorCodes,
  type MessageId,
  type RunId,
  type ThreadId,
} from "./generated/protocol.js";
import type { RunResult } from "./run/result.js";

/** What goes wrong on this side of the wire, by kind, with what belongs to each. */
export interface LocalErrors {
  /** The caller's signal fired. What was submitted goes on; `cause` is the signal's reason. */
  aborted: { what: string };
  /**
   * The client was closed from this side before the answer came, or ran over a stream that cannot be had again and has
   * ended. Whether the request was carried out is not known.
   */
  disconnected: object;
  /** The connection was lost and could not be made again in time. The client has ended. */
  reconnectFailed: { attempts: number; afterMs: number; reason: string };
  /**
   * The connection was lost while a request was under way that cannot be repeated safely: a method this SDK does not
   * know, without an `operationId`. The client itself goes on.
   */
  effectUnknown: { method: string };
  /** The log of a thread ends before an event that was seen: its home was restored from an older backup. */
  logShortened: { threadId: ThreadId; seen: number };
  /** The function that was to connect failed; `cause` is its error. */
  dialFailed: { reason: string };
  /** Nobody answered in time. Whether the request was carried out is not known. */
  noAnswer: { what: string; afterMs: number };
  /** The socket is there, but cannot be used; `cause` is what the system said. */
  connectFailed: { socket: string; reason: string };
  /** No daemon runs, and none was to be started. */
  notRunning: { socket: string };
  /** No daemon runs, and none could be started. */
  startFailed: { tried: string[]; reason: string };
  /** A required capability has no handler. Nothing was sent. */
  missingHandler: { capability: "approvals" | "input"; option: "onApproval" | "onInput" };
  /** An option cannot be used. Nothing was sent. */
  invalidOption: { option: string; reason: string };
  /** An image cannot be sent. Nothing was sent. */
  invalidImage: { image: string; reason: string };
  /** A tool cannot be declared as it is. `path` is a JSON Pointer into the declaration. Nothing was sent. */
  invalidTool: { tool: string; path: string; reason: string };
  /** A request is larger than the daemon takes. Nothing was sent. */
  requestTooLarge: { method: string; limit: number; actual: number };
  /** More waits to be sent or answered than a client keeps. Nothing was sent. */
  backlog: { what: string; limit: number };
  /** What came makes no sense to this version of the SDK. */
  unreadable: { what: string; reason: string };
  /** The thread was closed on this side: nothing of it comes here any more. Take it up again to go on. */
  threadClosed: { threadId: ThreadId };
  /** The input was recorded as an aside on an idle branch: there is no run whose end could be waited for. */
  noRun: { messageId: MessageId };
  /** The input was taken out of the queue before its turn came. */
  runRemoved: { runId: RunId };
  /** The run did not complete: what {@link RunResult.orThrow} makes of a result that is not `completed`. */
  runNotCompleted: { result: RunResult };
}

/** The stable name of an error of this side. */
export type LocalErrorKind = keyof LocalErrors;

/** What a program reads of an error of this side. */
export type LocalErrorData = {
  [Kind in LocalErrorKind]: { readonly kind: Kind; readonly retryable: boolean } & Readonly<LocalErrors[Kind]>;
}[LocalErrorKind];

/** What belongs to an error of a kind. */
export type ErrorDataOf<Kind extends ErrorKind | LocalErrorKind> = Kind extends LocalErrorKind
  ? Extract<LocalErrorData, { kind: Kind }>
  : Extract<ErrorData, { kind: Kind }>;

/** The kinds after which the same request may succeed later without a change. */
const retryableKinds: ReadonlySet<string> = new Set<LocalErrorKind>([
  "disconnected",
  "reconnectFailed",
  "dialFailed",
  "noAnswer",
  "notRunning",
  "backlog",
]);

/**
 * What can go wrong, at the daemon, on the way, or in this process. The message says what, where and what to do next;
 * `kind` tells programs, and `data`, which narrows by its `kind`, has what belongs to it.
 *
 * A run that fails or is stopped is no error but a result; {@link RunResult.orThrow} makes one of it.
 *
 * ```ts
 * try {
 *   await rope.projects.update({ projectId, name: "New", expectedRevision: 3 });
 * } catch (error) {
 *   if (error instanceof RopewalkError && error.is("conflict")) console.log(error.data.currentRevision);
 *   else throw error;
 * }
 * ```
 */
export class RopewalkError extends Error {
  /** The stable name: one of the wire's, or of {@link LocalErrors}. A newer daemon may send one that is not listed. */
  readonly kind: ErrorData["kind"] | LocalErrorKind;
  /** The JSON-RPC code of a refusal of the daemon; none for errors of this side. */
  readonly code: number | undefined;
  /** Whether the same request may succeed later without a change. */
  readonly retryable: boolean;
  /** The shortest wait before a repeat makes sense, where the daemon knows. */
  readonly retryAfterMs: number | undefined;
  /** What belongs to the kind. */
  readonly data: ErrorData | LocalErrorData;

  /** Made by the SDK alone. */
  constructor(message: string, data: ErrorData | LocalErrorData, options: { code?: number; cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : {});
    this.name = "RopewalkError";
    this.kind = data.kind;
    this.data = data;
    this.code = options.code;
    this.retryable = data.retryable;
    this.retryAfterMs = "retryAfterMs" in data && typeof data.retryAfterMs === "number" ? data.retryAfterMs : undefined;
  }

  /** Whether it is of a kind; then `data` is what belongs to that kind. */
  is<Kind extends ErrorKind | LocalErrorKind>(
    kind: Kind,
  ): this is RopewalkError & { readonly kind: Kind; readonly data: ErrorDataOf<Kind> } {
    return this.kind === kind;
  }
}

/** An error of this side. */
export function localError<Kind extends LocalErrorKind>(
  kind: Kind,
  data: LocalErrors[Kind],
  message: string,
  cause?: unknown,
): RopewalkError {
  const whole = { ...data, kind, retryable: retryableKinds.has(kind) } as LocalErrorData;
  return new RopewalkError(message, whole, cause === undefined ? {} : { cause });
}

/** An error as it stands on the wire. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** An error that the daemon answered with. One that has not the shape of ours keeps its code and message. */
export function wireError({ code, message, data }: WireError): RopewalkError {
  const has = typeof data === "object" && data !== null && "kind" in data && typeof data.kind === "string";
  if (has) {
    const retryable = "retryable" in data && data.retryable === true;
    return new RopewalkError(message, { ...data, retryable } as ErrorData, { code });
  }
  const kind = Object.entries(errorCodes).find(([, other]) => other === code)?.[0] ?? "internal";
  return new RopewalkError(message, { kind, retryable: false } as ErrorData, { code });
}

/** An error to answer a request of the daemon with. */
export function refusal(data: ErrorData & { kind: ErrorKind }, message: string): WireError {
  return { code: errorCodes[data.kind], message, data };
}

/** What the signal of a caller makes of a wait. */
export function abortedError(what: string, cause: unknown): RopewalkError {
  return localError(
    "aborted",
    { what },
    `${what} is not waited for any more: the signal it was given has fired.`,
    cause,
  );
}

/** What is said of a thread that was closed. */
export function threadClosed(threadId: ThreadId): RopewalkError {
  const message = `Thread ${threadId} was closed on this side. Take it up again with \`rope.threads.resume(id)\`.`;
  return localError("threadClosed", { threadId }, message);
}

/** What is said when nobody answers. */
export function noAnswer(what: string, afterMs: number): RopewalkError {
  const data = { what, afterMs: Math.round(afterMs) };
  return localError("noAnswer", data, `${what} was not answered within ${data.afterMs} ms.`);
}

/** What is said of something that cannot be read. */
export function unreadable(what: string, reason: string): RopewalkError {
  return localError("unreadable", { what, reason }, `${what} cannot be read: ${reason}`);
}
