// One value of each variant of each union. It only has to compile: a variant that lost its fields would not.
import type {
  ErrorData,
  ErrorKind,
  Event,
  Interaction,
  Item,
  Methods,
  Notifications,
  Part,
  Run,
  Thread,
  Unlisted,
} from "../../src/generated/protocol.js";

type EveryEvent = { [Type in Exclude<Event["type"], Unlisted>]: Extract<Event, { type: Type }> };
type EveryItem = { [Kind in Exclude<Item["kind"], Unlisted>]: Extract<Item, { kind: Kind }> };
type EveryInteraction = { [Kind in Exclude<Interaction["kind"], Unlisted>]: Extract<Interaction, { kind: Kind }> };
type EveryError = { [Kind in ErrorKind]: Extract<ErrorData, { kind: Kind }> };
type EveryPart = { [Type in Part["type"]]: Extract<Part, { type: Type }> };

const at = "2026-11-30T10:00:00Z";
const client = { clientName: "bot", instanceId: "in-A" };
const by = { kind: "client", ...client } as const;
const usage = { inputTokens: 21, outputTokens: 9, requests: 1, estimated: true };

const thread: Thread = {
  threadId: "th-1",
  projectId: "pr-1",
  pinned: false,
  archived: false,
  unread: false,
  origin: { clientName: "bot" },
  seq: 1,
  createdAt: at,
  updatedAt: at,
  revision: 1,
};

const run: Run = {
  runId: "run-1",
  threadId: "th-1",
  branchId: "th-1",
  messageId: "m-1",
  mode: "queue",
  state: "waiting",
  waitingOn: { kind: "approval", interactionId: "int-1", since: at, canAnswer: [client] },
  usage,
  endpointId: "scripted",
  model: "scripted",
  unattended: "decline",
  principal: { kind: "owner" },
  recovery: [],
  steps: 1,
  toolCalls: 1,
  submittedAt: at,
};

export const parts: EveryPart = {
  text: { type: "text", text: "hello" },
  image: { type: "image", mediaType: "image/png", data: "" },
  resource: { type: "resource", resourceId: "res-1" },
  review: { type: "review", reviewId: "rev-1" },
  audio: { type: "audio", mediaType: "audio/wav", data: "" },
  resourceLink: { type: "resourceLink", uri: "https://example.com", name: "a link" },
};

const item = { itemId: "it-1", runId: "run-1", branchId: "th-1", state: "completed", startedAt: at } as const;

export const items: EveryItem = {
  userMessage: { ...item, kind: "userMessage", messageId: "m-1", content: [parts.text], delivery: "turn" },
  assistantMessage: { ...item, kind: "assistantMessage", messageId: "m-2", text: "hello", incomplete: true },
  reasoning: { ...item, kind: "reasoning", messageId: "m-2", text: "hm" },
  toolCall: {
    ...item,
    kind: "toolCall",
    messageId: "m-2",
    callId: "call-1",
    tool: { flatName: "get_issue", name: "get_issue", source: "client:bot", digest: "d-get" },
    arguments: { id: "7" },
    decision: { decision: "accept", via: "person", interactionId: "int-1", by },
    content: [parts.text],
    effect: "done",
    timing: { approvalMs: 2000, callMs: 2000 },
  },
  notice: { ...item, kind: "notice", code: "source_missing", text: "linear is starting" },
};

const asked = { interactionId: "int-1", threadId: "th-1", runId: "run-1", callId: "call-1", attempt: 1 };
const row = { ...asked, state: "open" as const, offeredTo: [client], openedAt: at };

export const interactions: EveryInteraction = {
  toolCall: { ...row, kind: "toolCall", request: { ...asked, tool: "get_issue", silenceMs: 120_000 } },
  approval: {
    ...row,
    kind: "approval",
    request: {
      ...asked,
      tool: { name: "get_issue", source: "client:bot", annotations: { readOnlyHint: true } },
      index: 1,
      total: 1,
      summary: "get_issue 7",
      choices: ["accept", "decline"],
    },
  },
  input: {
    ...row,
    kind: "input",
    request: { ...asked, questions: [{ id: "env", text: "Deploy where?", options: [{ label: "staging" }] }] },
  },
};

export const events: EveryEvent = {
  threadUpdated: { type: "threadUpdated", thread },
  branchUpdated: {
    type: "branchUpdated",
    branch: { branchId: "th-1", threadId: "th-1", queue: { length: 0, held: false }, revision: 1 },
  },
  branchDeleted: { type: "branchDeleted", branchId: "br-2" },
  queueChanged: { type: "queueChanged", branchId: "th-1", held: true, length: 1, change: "held" },
  runStarted: { type: "runStarted", run },
  runState: { type: "runState", run },
  itemStarted: { type: "itemStarted", item: items.toolCall },
  itemCompleted: { type: "itemCompleted", item: items.assistantMessage },
  interactionOpened: { type: "interactionOpened", interaction: interactions.approval },
  interactionSettled: { type: "interactionSettled", interactionId: "int-1", outcome: "answered", by },
  toolsChanged: { type: "toolsChanged", revision: 2, added: [], removed: [], changed: ["get_issue"], cause: "policy" },
  runCompleted: {
    type: "runCompleted",
    runId: "run-1",
    branchId: "th-1",
    outcome: { status: "failed", error: { kind: "rateLimited", message: "Too fast.", retryable: true } },
    usage,
  },
  itemDelta: { type: "itemDelta", itemId: "it-3", offset: 0, text: "hello" },
  toolProgress: { type: "toolProgress", itemId: "it-2", message: "asking", fraction: 0.5 },
};

export const errors: EveryError = {
  parse: { kind: "parse", retryable: false, position: 3 },
  invalidRequest: { kind: "invalidRequest", retryable: false, reason: "batch_too_large" },
  methodNotFound: { kind: "methodNotFound", retryable: false, method: "run/fly" },
  invalidParams: { kind: "invalidParams", retryable: false, path: "/tools/1/nmae", reason: "unknown_field" },
  internal: { kind: "internal", retryable: false, reference: "r-1" },
  overloaded: { kind: "overloaded", retryable: true, retryAfterMs: 100, limit: 64, what: "requests" },
  notInitialized: { kind: "notInitialized", retryable: false },
  alreadyInitialized: { kind: "alreadyInitialized", retryable: false },
  unsupportedProtocol: {
    kind: "unsupportedProtocol",
    retryable: false,
    supported: { min: 1, max: 1 },
    daemon: { version: "0.1.0" },
  },
  notFound: { kind: "notFound", retryable: false, noun: "thread", id: "th-9" },
  conflict: { kind: "conflict", retryable: false, currentRevision: 2, current: thread },
  idempotencyConflict: { kind: "idempotencyConflict", retryable: false, operationId: "bot:7", firstAt: at },
  forbidden: { kind: "forbidden", retryable: false, reason: "deny_rule", policyId: "pol-1" },
  alreadySettled: { kind: "alreadySettled", retryable: false, interactionId: "int-1", by, at, outcome: "answered" },
  invalidState: { kind: "invalidState", retryable: false, state: "completed", expected: ["running"] },
  tooLarge: { kind: "tooLarge", retryable: false, limit: 100, actual: 101, what: "depth" },
  unavailable: { kind: "unavailable", retryable: true, reason: "starting", progress: 0.5 },
  timeout: { kind: "timeout", retryable: true, afterMs: 60_000, party: "linear" },
  cancelled: { kind: "cancelled", retryable: false },
  shuttingDown: { kind: "shuttingDown", retryable: true, graceMs: 10_000 },
};

export const submit: Methods["run/submit"]["params"] = { threadId: "th-1", input: [parts.text], operationId: "bot:7" };
export const cleared: Methods["endpoint/set"]["params"] = { endpointId: "ep-1", baseUrl: null };
export const answer: Methods["tool/call"]["result"] = { success: true, contentItems: [parts.text] };
export const pushed: Notifications["thread/event"] = { threadId: "th-1", seq: 4, at, event: events.toolsChanged };

// @ts-expect-error a queueChanged without its fields is none
export const emptyQueueChanged: Event = { type: "queueChanged" };
// @ts-expect-error a call names its tool
export const emptyCall: Item = { ...item, kind: "toolCall", messageId: "m-2", callId: "call-1", arguments: {} };
// @ts-expect-error null clears nothing here
export const nullTitle: Methods["thread/start"]["params"] = { title: null };

/** A tag narrows a union to the variant it names. */
export function text(event: Event): string | undefined {
  return event.type === "itemCompleted" && event.item.kind === "assistantMessage" ? event.item.text : undefined;
}
