// Tool calls: from the daemon's request to the handler and back.

import type { Core } from "../core.js";
import { limits, type ToolCallAnswer, type ToolCallRequest } from "../generated/protocol.js";
import type { Responder } from "../peer/peer.js";
import { toolContext } from "../tools/context.js";
import { failureAnswer, ToolError, UNSUPPORTED } from "../tools/result.js";
import { runTool, toolKey } from "../tools/tool.js";
import { describe, fenced, wellFormed } from "./fence.js";
import { isNamed, unreadable } from "./incoming.js";
import type { Answer } from "./ledger.js";

/** Takes a `tool/call` in: begins the work, or joins it to what is under way. */
export function takeCall(core: Core, params: unknown, generation: number, responder: Responder): void {
  if (!isNamed("tool/call", params, responder) || !isCall(params, responder)) return;
  const call = params as ToolCallRequest;
  const { interactionId, threadId } = call;
  const signal = core.ledger.offer(interactionId, threadId, generation, responder);
  if (signal) void work(core, call, signal).then((answer) => core.ledger.finish(interactionId, signal, answer));
}

/** Whether the rest of what a handler is told of its call can be read; the call is refused here if not. */
function isCall(params: object, responder: Responder): boolean {
  const { tool, namespace, deadlineAt } = params as Record<string, unknown>;
  const isText = (value: unknown): boolean => value === undefined || value === null || typeof value === "string";
  return typeof tool === "string" && isText(namespace) && isText(deadlineAt)
    ? true
    : unreadable("tool/call", responder);
}

/** Does the work, and never fails: whatever happens is the answer to this call. */
async function work(core: Core, call: ToolCallRequest, signal: AbortSignal): Promise<Answer> {
  const key = toolKey({ namespace: call.namespace ?? undefined, name: call.tool });
  const tool = await core.bindings.find(call.threadId, key);
  if (!tool)
    return encoded(failureAnswer(new ToolError(`This client has no handler for ${key}.`, UNSUPPORTED)), key, core);
  const context = toolContext(call, signal, (progress) => core.link.progress(progress));
  const ran = await fenced(() => runTool(tool, call.arguments, context));
  return encoded(ran.ok ? ran.value : failureAnswer(ran.error), key, core);
}

/** The answer as JSON. One that no message can carry becomes a failure that says so. */
function encoded(answer: ToolCallAnswer, key: string, core: Core): Answer {
  const { errorMessage } = answer;
  const cut = errorMessage && errorMessage.length > limits.resultCharacters;
  const whole = cut ? { ...answer, errorMessage: wellFormed(errorMessage.slice(0, limits.resultCharacters)) } : answer;
  let reason: string;
  let code: string | undefined;
  try {
    const text = JSON.stringify(whole);
    const bytes = Buffer.byteLength(text);
    if (bytes <= core.link.room) return { result: text };
    reason = `has ${bytes} bytes; a message holds at most ${core.link.room}`;
    code = "result_too_large";
  } catch (error) {
    reason = `cannot be written as JSON: ${describe(error)}`;
  }
  const error = new ToolError(`The result of ${key} ${reason}.`, code);
  return { result: JSON.stringify(failureAnswer(error)) };
}
