// What a daemon that a test plays answers and tells.
import { at } from "./fake.js";

type Json = Record<string, unknown>;

export function header(threadId: string, seq: number): Json {
  const origin = { clientName: "bot" };
  const flags = { pinned: false, archived: false, unread: false };
  return { threadId, projectId: "pr-1", ...flags, origin, seq, createdAt: at, updatedAt: at, revision: 1 };
}

export function started(threadId: string, seq: number): Json {
  return { thread: header(threadId, seq), seq, tools: [], replayed: false };
}

export function resumed(threadId: string, seq: number, tools: unknown[] = []): Json {
  return { thread: header(threadId, seq), seq, tools, replayed: false };
}

export function submitted(runId: string): Json {
  return { runId, messageId: "m-1", branchId: "th-1", state: "running", replayed: false };
}

export const usage = { inputTokens: 1, outputTokens: 2, requests: 1, estimated: true };

export function run(runId: string, state: string): Json {
  const place = { threadId: "th-1", branchId: "th-1", messageId: "m-1" };
  const counts = { usage, recovery: [], steps: 0, toolCalls: 0, submittedAt: at };
  const model = { endpointId: "scripted", model: "scripted" };
  const how = { mode: "queue", unattended: "decline", principal: { kind: "owner" } };
  return { runId, ...place, ...how, ...model, state, ...counts };
}

export function assistant(runId: string, itemId: string, state: string, text: string): Json {
  const item = { itemId, runId, branchId: "th-1", kind: "assistantMessage", state, startedAt: at };
  return { ...item, messageId: "m-2", text };
}

export function completed(runId: string, outcome: Json): Json {
  return { type: "runCompleted", runId, branchId: "th-1", outcome, usage };
}

/** The parameters of a `tool/call`. */
export function call(interactionId: string, tool: string, args: unknown = {}, more: Json = {}): Json {
  const place = { threadId: "th-1", runId: "run-1", callId: "call-1", attempt: 1 };
  return { interactionId, ...place, tool, arguments: args, silenceMs: 120_000, deadlineAt: at, ...more };
}

/** The parameters of an `approval/request`. */
export function approval(interactionId: string, more: Json = {}): Json {
  const place = { threadId: "th-1", runId: "run-1", callId: "call-1", attempt: 1 };
  const tool = { name: "work", source: "client:bot", annotations: {} };
  const shown = { arguments: {}, index: 1, total: 1, summary: "work", choices: ["accept", "decline"], expiresAt: at };
  return { interactionId, ...place, tool, ...shown, ...more };
}

/** The parameters of an `input/request`. */
export function questions(interactionId: string): Json {
  const place = { threadId: "th-1", runId: "run-1", callId: "call-1", attempt: 1 };
  const options = [{ label: "A" }, { label: "B" }];
  return { interactionId, ...place, questions: [{ id: "q", text: "Which?", options }] };
}

/** A tool of a thread as the daemon shows it. */
export function effective(name: string, instanceId: string): Json {
  const source = { source: "client:bot", sourceKind: "client", sourceName: "bot" };
  const owner = { clientName: "bot", instanceId };
  const policy = { decision: "allow", level: "default", timeoutMs: 1_000, maxCallsPerRun: 10 };
  const said = { flatName: name, name, description: "Work.", annotations: {} };
  return { ...said, ...source, owner, state: "ready", digest: "d", policy, why: "no rule" };
}

/** A page of the ledger with one open call. */
export function open(interactionId: string): Json {
  const request = call(interactionId, "work");
  const place = { threadId: "th-1", runId: "run-1", callId: "call-1", attempt: 1 };
  const offeredTo = [{ clientName: "bot", instanceId: "in-A" }];
  return { items: [{ interactionId, ...place, kind: "toolCall", request, offeredTo, state: "open", openedAt: at }] };
}
