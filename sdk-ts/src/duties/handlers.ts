// The functions of the application that answer the daemon, and what they may return.

import type {
  ApprovalAnswer,
  ApprovalRequest,
  DataChangedParams,
  Decision,
  InputAnswer,
  InputRequest,
} from "../generated/protocol.js";

/** What a handler for approvals or questions is given beside the request. */
export interface AskContext {
  /**
   * Fires when no answer is needed any more: somebody else answered first, a rule or a stop settled it, it expired, or the
   * client was closed. Close the prompt then; what the handler returns is ignored.
   */
  readonly signal: AbortSignal;
}

/** What an approval handler may return; nothing means that this client cannot decide and others may be asked. */
export type ApprovalReply = Decision | ApprovalAnswer | undefined | null;

/**
 * Decides whether a call is made. Called once for each approval, however often the connection is lost. A throw counts as
 * returning nothing; no decision is ever made up.
 */
export type ApprovalHandler = (
  request: ApprovalRequest,
  context: AskContext,
) => ApprovalReply | PromiseLike<ApprovalReply>;

/**
 * What an input handler may return: answers by question, `"dismissed"` (you decide), `"declined"` (stop asking), or nothing,
 * which means that this client cannot answer and others may be asked.
 */
export type InputReply = InputAnswer | "dismissed" | "declined" | undefined | null;

/** Answers questions of a tool. As {@link ApprovalHandler}. */
export type InputHandler = (request: InputRequest, context: AskContext) => InputReply | PromiseLike<InputReply>;

/** Is told that lists may have changed. A throw is a {@link Warning} and changes nothing. */
export type ChangeHandler = (change: DataChangedParams) => void;

/** Something that went wrong without anybody waiting for it. */
export interface Warning {
  /** What it is about: the option whose handler failed, a method, or a tool. */
  readonly what: string;
  /** A sentence for the log. */
  readonly message: string;
}

/** Is told of warnings. What it throws is lost. */
export type WarningHandler = (warning: Warning) => void;
