/// <reference lib="esnext.disposable" preserve="true" />
// The entrance of the package, in the order in which a program meets it: connect, declare tools, run, follow.

export { Ropewalk } from "./client.js";
export type { ClientOptions, ConnectOptions } from "./options.js";
export type {
  ApprovalHandler,
  ApprovalReply,
  AskContext,
  ChangeHandler,
  InputHandler,
  InputReply,
  Warning,
  WarningHandler,
} from "./duties/handlers.js";
export type { CallOptions } from "./link/calls.js";
export type { MethodName, MethodParams, MethodResult } from "./link/methods.js";
export type { Connection } from "./link/phase.js";
export type { ByteStream } from "./peer/stream.js";
export {
  type ErrorDataOf,
  type LocalErrorData,
  type LocalErrorKind,
  type LocalErrors,
  RopewalkError,
} from "./errors.js";

export { type Arguments, tool, type Tool, type ToolDefinition } from "./tools/tool.js";
export { Tools } from "./tools/registry.js";
export type { ToolContext } from "./tools/context.js";
export { ToolError, type ToolOutput } from "./tools/result.js";
export type { AnySchema, OutputOf } from "./tools/input.js";
export type { FromJsonSchema, JsonObjectSchema } from "./tools/json-schema.js";
export type {
  StandardIssue,
  StandardJsonSchema,
  StandardResult,
  StandardSchema,
  StandardTypes,
} from "./tools/standard.js";

export { type EventOptions, Thread } from "./thread/thread.js";
export type { Resumed, ResumeThreadOptions, StartThreadOptions } from "./thread/open.js";
export { Registration } from "./thread/registration.js";
export { ThreadBranches } from "./thread/branches.js";
export { EventStream } from "./events/stream.js";

export { Run } from "./run/run.js";
export type { RunEvent, Submission } from "./run/event.js";
export type { Input, RunOptions } from "./run/options.js";
export { RunResult } from "./run/result.js";
export { image, imageFile } from "./run/image.js";

export { Blobs } from "./nouns/blobs.js";
export { Branches } from "./nouns/branches.js";
export { Context } from "./nouns/context.js";
export { Daemon, Settings } from "./nouns/daemon.js";
export { Endpoints, Secrets } from "./nouns/endpoints.js";
export { Attentions } from "./nouns/attention.js";
export { Interactions } from "./nouns/interactions.js";
export { Items } from "./nouns/items.js";
export { Instructions, Memory } from "./nouns/memory.js";
export { Policies } from "./nouns/policies.js";
export { Grants, Projects } from "./nouns/projects.js";
export { Queue } from "./nouns/queue.js";
export { Runs } from "./nouns/runs.js";
export { ServerReviews, Servers } from "./nouns/servers.js";
export { Threads } from "./nouns/threads.js";

/** All types and tables of the wire. Those that every program meets are exported by themselves too. */
export type {
  ApprovalAnswer,
  ApprovalRequest,
  Decision,
  ErrorData,
  ErrorKind,
  Event,
  InputAnswer,
  InputRequest,
  Interaction,
  Item,
  Mode,
  Part,
  QuestionAnswer,
  ResultPart,
  ThreadEvent,
  ToolDeclaration,
  Unattended,
} from "./generated/protocol.js";
export * as protocol from "./generated/protocol.js";
