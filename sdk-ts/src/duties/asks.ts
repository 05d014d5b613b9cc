// Approvals and questions: a person's word, asked for through the one handler the application registered for each.

import { isObject } from "../base/json.js";
import type { Core } from "../core.js";
import { refusal, type WireError } from "../errors.js";
import type { ApprovalRequest, InputRequest } from "../generated/protocol.js";
import type { Responder } from "../peer/peer.js";
import { fenced, kindOf } from "./fence.js";
import type { AskContext } from "./handlers.js";
import { isNamed } from "./incoming.js";
import type { Answer } from "./ledger.js";

const decisions: ReadonlySet<unknown> = new Set(["accept", "acceptForSession", "acceptAlways", "decline", "cancel"]);

const members: ReadonlySet<string> = new Set(["answers", "dismissed", "declined"]);

/** Takes an `approval/request` in. */
export function takeApproval(core: Core, params: unknown, generation: number, responder: Responder): void {
  const handler = core.handlers.approvals;
  if (!handler) return responder.error(noHandler("approval/request"));
  if (!isNamed("approval/request", params, responder)) return;
  const request = params as ApprovalRequest;
  const ask = (context: AskContext): unknown => handler(request, context);
  take(core, { option: "onApproval", request, ask, read: approvalAnswer }, generation, responder);
}

/** Takes an `input/request` in. */
export function takeQuestions(core: Core, params: unknown, generation: number, responder: Responder): void {
  const handler = core.handlers.input;
  if (!handler) return responder.error(noHandler("input/request"));
  if (!isNamed("input/request", params, responder)) return;
  const request = params as InputRequest;
  const ask = (context: AskContext): unknown => handler(request, context);
  take(core, { option: "onInput", request, ask, read: inputAnswer }, generation, responder);
}

/** What would have been an answer. */
const ways = {
  onApproval:
    'Return "accept", "acceptForSession", "acceptAlways", "decline", "cancel", {decision, note}, or undefined when ' +
    "this client cannot decide.",
  onInput:
    'Return {answers: {ID: {selected: [0]}}}, "dismissed", "declined", or undefined when this client cannot answer.',
};

interface Asked {
  readonly option: "onApproval" | "onInput";
  readonly request: { readonly interactionId: string; readonly threadId: string };
  readonly ask: (context: AskContext) => unknown;
  /** The answer in the shape of the wire; nothing when it is none. */
  readonly read: (reply: unknown) => object | undefined;
}

function take(core: Core, asked: Asked, generation: number, responder: Responder): void {
  const { interactionId, threadId } = asked.request;
  const signal = core.ledger.offer(interactionId, threadId, generation, responder);
  if (signal) void answer(core, asked, signal).then((it) => core.ledger.finish(interactionId, signal, it));
}

/** Asks, and never fails: what is no answer is "not I". */
async function answer(core: Core, { option, ask, read }: Asked, signal: AbortSignal): Promise<Answer> {
  const notI = (how: string, isFault: boolean): Answer => {
    const message = `${option} of this client ${how.replace(/\.?$/, ".")}`;
    if (isFault && !signal.aborted) core.warn({ what: option, message });
    return { error: refusal({ kind: "cancelled", retryable: false, reason: "no_answer" }, message) };
  };
  const asked = await fenced(() => ask({ signal }));
  if (!asked.ok) return notI(`failed: ${asked.why}`, true);
  if (asked.value === undefined || asked.value === null) return notI("gave no answer", false);
  const wire = await fenced(() => JSON.stringify(read(asked.value)) as string | undefined);
  if (wire.ok && wire.value !== undefined) return { result: wire.value };
  return notI(`returned ${wordOf(asked.value)}, which is no answer. ${ways[option]}`, true);
}

function wordOf(reply: unknown): string {
  return typeof reply === "string" && reply.length <= 40 ? JSON.stringify(reply) : kindOf(reply);
}

function approvalAnswer(reply: unknown): object | undefined {
  if (decisions.has(reply)) return { decision: reply };
  return isObject(reply) && decisions.has(reply.decision) ? reply : undefined;
}

function inputAnswer(reply: unknown): object | undefined {
  if (reply === "dismissed" || reply === "declined") return { [reply]: true };
  // Answers by question without `answers` around them: the daemon would refuse them, and ask again and again.
  const isBare =
    isObject(reply) && Object.keys(reply).every((key) => !members.has(key)) && Object.keys(reply).length > 0;
  return isObject(reply) && !isBare ? reply : undefined;
}

/** "Not I", because nobody here can be asked. */
function noHandler(method: string): WireError {
  return refusal({ kind: "methodNotFound", retryable: false, method }, `This client has no handler for ${method}.`);
}
