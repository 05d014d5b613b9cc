// Everything the daemon sends, to where it belongs.

import { isObject } from "../base/json.js";
import type { Core } from "../core.js";
import { refusal, type WireError, wireError } from "../errors.js";
import { readDelivered } from "../events/delivered.js";
import type { DataChangedParams } from "../generated/protocol.js";
import type { Responder, Service } from "../peer/peer.js";
import { takeApproval, takeQuestions } from "./asks.js";
import { takeCall } from "./calls.js";
import { kindOf } from "./fence.js";

/** The client's end of one connection, the `generation`th. `lost` is told when it is over. */
export function incoming(core: Core, generation: number, lost: () => void): Service {
  return {
    request(method, params, responder) {
      core.link.hear();
      if (method === "tool/call") takeCall(core, params, generation, responder);
      else if (method === "approval/request") takeApproval(core, params, generation, responder);
      else if (method === "input/request") takeQuestions(core, params, generation, responder);
      else refuse(method, responder);
    },
    notification(method, params, bytes) {
      core.link.hear();
      if (takeNotification(core, method, params, bytes)) return;
      core.warn({ what: method, message: `A notification ${method} of the daemon cannot be read.` });
    },
    // Whoever closes from this side has said so to the link before.
    closed: lost,
  };
}

/** Whether it could be read. */
function takeNotification(core: Core, method: string, params: unknown, bytes: number): boolean {
  if (method === "thread/event") {
    const delivered = readDelivered(params, bytes);
    if (delivered) core.hub.publish(delivered);
    return delivered !== undefined;
  }
  if (method === "interaction/settled" || method === "interaction/invalidAnswer") {
    if (!isObject(params) || typeof params.interactionId !== "string") return false;
    if (method === "interaction/settled") core.ledger.settle(params.interactionId);
    else refused(core, params.interactionId, params);
    return true;
  }
  if (method === "thread/unsubscribed") {
    if (!isObject(params) || typeof params.threadId !== "string" || !isError(params.error)) return false;
    lose(core, params.threadId, params.error);
    return true;
  }
  if (method === "data/changed") {
    if (!isObject(params) || !Array.isArray(params.kinds)) return false;
    core.tell(params as unknown as DataChangedParams);
  }
  // A newer daemon may tell things this version knows nothing of.
  return true;
}

/** No more events come of a thread: its streams end with why. It is not taken up again on a new connection. */
function lose(core: Core, thread: string, why: WireError): void {
  core.attachments.remove(thread);
  core.hub.fail(thread, () => wireError(why));
}

function isError(value: unknown): value is WireError & Record<string, unknown> {
  return isObject(value) && typeof value.code === "number" && typeof value.message === "string";
}

function refused(core: Core, id: string, { path, reason }: Record<string, unknown>): void {
  const message = `The daemon refused a handler's answer: ${textOf(reason)} at "${textOf(path)}". It asks once more.`;
  core.warn({ what: "interaction/invalidAnswer", message });
  core.ledger.refuse(id);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : kindOf(value);
}

function refuse(method: string, responder: Responder): void {
  const message = `This client knows no method ${method}.`;
  responder.error(refusal({ kind: "methodNotFound", retryable: false, method }, message));
}

/** Whether parameters of a request name what is needed to take it in; it is refused here if not. */
export function isNamed(
  method: string,
  params: unknown,
  responder: Responder,
): params is { readonly interactionId: string; readonly threadId: string } {
  if (isObject(params) && typeof params.interactionId === "string" && typeof params.threadId === "string") return true;
  return unreadable(method, responder);
}

/** Refuses a request whose parameters cannot be read. */
export function unreadable(method: string, responder: Responder): false {
  const message = `The parameters of ${method} cannot be read.`;
  responder.error(refusal({ kind: "invalidParams", retryable: false, path: "", reason: "unreadable" }, message));
  return false;
}
