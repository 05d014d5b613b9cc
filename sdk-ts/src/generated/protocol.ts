// Everything on the wire of Ropewalk. Made from protocol/schema.json by scripts/generate.mjs; edit neither by hand.

/**
 * A word that a newer daemon may send where these types list the ones they know: write the `default` branch of a
 * `switch` for it. It is a plain string and has no prefix; only the type has one, since TypeScript narrows by comparison
 * when no listed word can be of it. Nobody can write one down, for requests are closed.
 */
export type Unlisted = `(unlisted)${string}` & { readonly __unlisted: unique symbol };

/** A member of a union that these types do not list: its tag, and whatever else it has. */
export type UnlistedMember<Tag extends string> = { readonly [Key in Tag]: Unlisted } & {
  readonly [field: string]: unknown;
};

/** An account at an MCP server. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type AccountId = string;
/** An MCP server. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type ServerId = string;
/** How one signs in at a server. */
export type SignIn = "none" | "token" | "browser" | Unlisted;
/** How an account stands. */
export type AccountState = "ready" | "signingIn" | "needsReauth" | Unlisted;
/** An agent of an app. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type AgentId = string;
/** An installed app. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type AppId = string;
/** What a person can decide. */
export type Decision = "accept" | "acceptForSession" | "acceptAlways" | "decline" | "cancel";
/** How far `acceptAlways` reaches. */
export type DecisionScope = "project" | "global";
/**
 * An interaction: something the daemon waits for a client to do. Opaque to clients: compare it, store it, send it back, never take it apart.
 */
export type InteractionId = string;
/**
 * A thread; also the id of its original branch. Opaque to clients: compare it, store it, send it back, never take it apart.
 */
export type ThreadId = string;
/** A run. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type RunId = string;
/** A tool call of a run. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type CallId = string;
/** What a declaration wishes for its approvals. */
export type ApprovalWish = "allow" | "ask";
/** A payload stored out of line. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type BlobId = string;
/** A branch of a thread. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type BranchId = string;
/** A message of a thread. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type MessageId = string;
/**
 * What makes a repeated request recognisable: 1 to 128 of `[A-Za-z0-9_.:-]`. Opaque to clients: compare it, store it, send it back, never take it apart.
 */
export type OperationId = string;
/** What kind of thing settles something. */
export type ByKind = "client" | "policy" | "deadline" | "stop" | "daemon" | Unlisted;
/**
 * A client process, or one life of the daemon. Opaque to clients: compare it, store it, send it back, never take it apart.
 */
export type InstanceId = string;
/** A policy. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type PolicyId = string;
/** What decided about a call. */
export type DecidedVia = "policy" | "person" | "default" | Unlisted;
/** The id of a request: a string, a 64-bit integer or null, echoed as it came. A fraction is no id. */
export type RequestId = number | string | null;
/** What file tools may do beneath a granted directory. */
export type Capability = "read" | "write" | "execute";
/** The files a run changed. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type ChangeSetId = string;
/** What happened to a file. */
export type FileChange = "created" | "modified" | "deleted" | Unlisted;
/** What a difference is about. */
export type DifferenceKind = "row" | "log" | "blob" | Unlisted;
/** The layers, in their order. */
export type ContextLayerName = "base" | "projectInstructions" | "workspaceFiles" | "memoryIndex" | "runLine" | Unlisted;
/** A model endpoint. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type EndpointId = string;
/** Whether something is well. */
export type HealthState = "ok" | "degraded" | Unlisted;
/** Where the index is. */
export type IndexState = "ok" | "rebuilding" | Unlisted;
/** Kinds of things that lists show. */
export type DataKind =
  | (
      | "project"
      | "thread"
      | "run"
      | "queue"
      | "interaction"
      | "tool"
      | "policy"
      | "grant"
      | "endpoint"
      | "settings"
      | "server"
      | "account"
      | "memory"
      | "instructions"
      | "resource"
      | "review"
      | "app"
    )
  | Unlisted;
/** How a message was delivered. */
export type Delivery = "turn" | "aside" | "steer" | Unlisted;
/** What is known of the outside effect of something that failed. */
export type Effect = "none" | "unknown" | "done" | Unlisted;
/** Where an effective decision comes from. */
export type EffectiveLevel = "thread" | "project" | "global" | "default" | Unlisted;
/** What a rule says. */
export type PolicyDecision = "allow" | "ask" | "deny";
/** What an endpoint speaks. */
export type Provider = "openaiCompatible" | "openaiResponses" | "anthropic" | "gemini" | "ollama" | "scripted";
/** Kinds of failure of a run. */
export type RunErrorKind =
  | "rateLimited"
  | "quota"
  | "overloaded"
  | "auth"
  | "badRequest"
  | "modelNotFound"
  | "contextWindow"
  | "badResponse"
  | "cutOff"
  | "stalled"
  | "unreachable"
  | "noEndpoint"
  | "outputInvalid"
  | "budget"
  | "stuck"
  | "parentMissing"
  | "branchDeleted"
  | "storage"
  | "internal"
  | Unlisted;
/** What a program reads of an error. */
export type ErrorData = {
  /** Whether the same request may succeed later without a change. */
  retryable: boolean;
  /** The shortest wait before a repeat makes sense. */
  retryAfterMs?: number;
} & (
  | {
      kind: "parse";
      /** Where the text stops being JSON, in bytes from the start of the line. */
      position?: number;
    }
  | {
      kind: "invalidRequest";
      /** What is wrong with it. */
      reason: string;
    }
  | {
      kind: "methodNotFound";
      /** The name. */
      method: string;
    }
  | {
      kind: "invalidParams";
      /** Where, as a JSON Pointer into the parameters, such as `/tools/1/nmae`. */
      path: string;
      /** What is wrong there. */
      reason: string;
      /** Further problems, five at most. */
      problems?: Problem[];
    }
  | {
      kind: "internal";
      /** What the log calls this occurrence. */
      reference: string;
    }
  | {
      kind: "overloaded";
      /** The limit. */
      limit: number;
      /** What there are too many of. */
      what: string;
    }
  | {
      kind: "notInitialized";
    }
  | {
      kind: "alreadyInitialized";
    }
  | {
      kind: "unsupportedProtocol";
      /** What we speak. */
      supported: ProtocolRange;
      /** Who we are. */
      daemon: DaemonVersion;
    }
  | {
      kind: "notFound";
      /** What was looked for. */
      noun: string;
      /** Its id as given. */
      id: string;
    }
  | {
      kind: "conflict";
      /** Its revision now. */
      currentRevision?: number;
      /** The thing now. */
      current?: unknown;
    }
  | {
      kind: "idempotencyConflict";
      /** The id. */
      operationId: OperationId;
      /** When it was first used. */
      firstAt: string;
    }
  | {
      kind: "forbidden";
      /** Why: `deny_rule`, `not_owner`, `not_offered`, … */
      reason: string;
      /** The rule that says so. */
      policyId?: PolicyId;
    }
  | {
      kind: "alreadySettled";
      /** Which interaction. */
      interactionId: InteractionId;
      /** Who settled it. */
      by: By;
      /** When. */
      at: string;
      /** How. */
      outcome: Outcome;
      /** The answer that counted; not for tool calls. */
      answer?: unknown;
    }
  | {
      kind: "invalidState";
      /** Its state. */
      state: string;
      /** The states in which it can be done. */
      expected: string[];
    }
  | {
      kind: "tooLarge";
      /** The limit. */
      limit: number;
      /** How much there was; 0 when nobody counted to the end. */
      actual: number;
      /** What is too large: `message`, `depth`, `schema`, `image`, … */
      what: string;
    }
  | {
      kind: "unavailable";
      /** What: `starting`, `storage_full`, `read_only`, `io_error`, `log_damaged`, … */
      reason: string;
      /** How far a start has come, from 0 to 1. */
      progress?: number;
      /** Whose fault it is. */
      party?: string;
      /** Whether anything happened. */
      effect?: Effect;
    }
  | {
      kind: "timeout";
      /** How long was waited. */
      afterMs: number;
      /** Who did not answer. */
      party?: string;
    }
  | {
      kind: "cancelled";
      /** Why. */
      reason?: string;
    }
  | {
      kind: "shuttingDown";
      /** How long it gives to what is under way. */
      graceMs: number;
    }
  | UnlistedMember<"kind">
);
/** How an interaction ended. */
export type Outcome = "answered" | "declined" | "expired" | "undeliverable" | "cancelled" | "outcomeUnknown" | Unlisted;
/** What happened in a thread. */
export type Event =
  | {
      type: "threadUpdated";
      /** The header, whole. */
      thread: Thread;
    }
  | {
      type: "branchUpdated";
      /** The branch, whole. */
      branch: Branch;
    }
  | {
      type: "branchDeleted";
      /** Which one. */
      branchId: BranchId;
    }
  | ({
      type: "queueChanged";
    } & QueueChanged)
  | {
      type: "runStarted";
      /** The run. */
      run: Run;
    }
  | {
      type: "runState";
      /** The run. */
      run: Run;
    }
  | {
      type: "itemStarted";
      /** The item. */
      item: Item;
    }
  | {
      type: "itemCompleted";
      /** The item; authoritative over any delta before it. */
      item: Item;
    }
  | {
      type: "interactionOpened";
      /** The interaction, its request without arguments. */
      interaction: Interaction;
    }
  | {
      type: "interactionSettled";
      /** Which interaction. */
      interactionId: InteractionId;
      /** How it ended. */
      outcome: Outcome;
      /** Who or what ended it. */
      by: By;
      /** The answer; not for tool calls. */
      answer?: unknown;
    }
  | ({
      type: "toolsChanged";
    } & ToolsChanged)
  | {
      type: "runCompleted";
      /** Which run. */
      runId: RunId;
      /** Its branch. */
      branchId: BranchId;
      /** How it ended. */
      outcome: RunOutcome;
      /** What its model requests cost. */
      usage: Usage;
      /** The files it changed. */
      changeSet?: ChangeSet;
    }
  | {
      type: "itemDelta";
      /** The item. */
      itemId: ItemId;
      /** Where the text goes, in UTF-8 bytes from the start of the item's text. */
      offset: number;
      /** The text. */
      text: string;
    }
  | {
      type: "toolProgress";
      /** The item of the call. */
      itemId: ItemId;
      /** The interaction of a client's call. */
      interactionId?: InteractionId;
      /** What it is doing. */
      message?: string;
      /** How far it has come, from 0 to 1. */
      fraction?: number;
    }
  | UnlistedMember<"type">;
/** A project. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type ProjectId = string;
/** What happened to a queue. */
export type QueueChange = "added" | "edited" | "removed" | "moved" | "started" | "held" | "released" | Unlisted;
/** One part of an input, a message or a tool result. */
export type Part =
  | {
      type: "text";
      /** The text itself. */
      text: string;
    }
  | {
      type: "image";
      /** Its media type: `image/png`, `image/jpeg`, `image/gif` or `image/webp`, and what its bytes are. */
      mediaType: string;
      /** Its bytes in base64, with padding. */
      data: string;
    }
  | {
      type: "resource";
      /** Which one. */
      resourceId: ResourceId;
    }
  | {
      type: "review";
      /** Which one. */
      reviewId: ReviewId;
    }
  | {
      type: "audio";
      /** Its media type, such as `audio/wav`. */
      mediaType: string;
      /** Its bytes in base64. */
      data: string;
    }
  | {
      type: "resourceLink";
      /** Where it leads. */
      uri: string;
      /** What it is called. */
      name: string;
    };
/** A resource of a project. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type ResourceId = string;
/** A review of a thread. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type ReviewId = string;
/** How an input enters a branch. */
export type Mode = "queue" | "aside" | "steer" | "fork" | "replace";
/** Where a run is. */
export type RunStatus =
  "queued" | "running" | "waiting" | "paused" | "completed" | "failed" | "stopped" | "interrupted";
/** Kinds of waits of a run. */
export type WaitingKind = "approval" | "input" | "toolCall" | "subtask" | "endpoint" | "source" | Unlisted;
/** The endings of a run. */
export type OutcomeStatus = "completed" | "failed" | "stopped" | "interrupted" | Unlisted;
/** What happens to an approval or question that no attached client can answer. */
export type Unattended = "decline" | "wait";
/** Kinds of callers. */
export type PrincipalKind = "owner" | "app" | "run" | "subtask" | Unlisted;
/** What can be done about a pause or a bad end. */
export type Recovery = "resume" | "retry" | "skip" | "rebase" | Unlisted;
/** A visible unit of a run: a message, reasoning, a tool call, a notice. */
export type Item = {
  /** Its id. */
  itemId: ItemId;
  /** Its run; absent for an aside on an idle branch. */
  runId?: RunId;
  /** Its branch. */
  branchId: BranchId;
  /** Whether it is open, and if not, how it ended. */
  state: ItemState;
  /** When it began. */
  startedAt: string;
  /** When it ended. */
  endedAt?: string;
  /** One line that says what it was, at most 160 characters. */
  summary?: string;
  /** How much attention it deserves. */
  severity?: Severity;
} & (
  | {
      kind: "userMessage";
      /** The message of the chain. */
      messageId: MessageId;
      /** What was said. */
      content: (Part | UnlistedMember<"type">)[];
      /** The run that sent it, where one did. */
      sender?: Sender;
      /** How it was delivered. */
      delivery: Delivery;
    }
  | {
      kind: "assistantMessage";
      /** The message of the chain. */
      messageId: MessageId;
      /** What was said; empty while the item is open. */
      text: string;
      /** Whether it was cut off. */
      incomplete?: boolean;
    }
  | {
      kind: "reasoning";
      /** The message of the chain it belongs to. */
      messageId: MessageId;
      /** What was thought; empty while the item is open. */
      text: string;
      /** Whether it was cut off. */
      incomplete?: boolean;
    }
  | ({
      kind: "toolCall";
    } & ToolCallItem)
  | {
      kind: "notice";
      /** A stable word for it. */
      code: string;
      /** What to show. */
      text: string;
    }
  | UnlistedMember<"kind">
);
/** An item of a run. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type ItemId = string;
/** Whether an item is open, and if not, how it ended. */
export type ItemState =
  "open" | "completed" | "failed" | "refused" | "cancelled" | "expired" | "undeliverable" | "outcomeUnknown" | Unlisted;
/** How much attention an item deserves. */
export type Severity = "info" | "warning" | "error" | Unlisted;
/** The transcript of a subtask. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type TranscriptId = string;
/** One row of the ledger. */
export type Interaction = {
  /** Its id. */
  interactionId: InteractionId;
  /** Whether it is open. */
  state: InteractionState | Unlisted;
  /** Its thread. */
  threadId: ThreadId;
  /** Its run. */
  runId: RunId;
  /** The call it belongs to. */
  callId: CallId;
  /** How often it has been offered. */
  attempt: number;
  /** Who it was offered to. */
  offeredTo: ClientRef[];
  /** When it was opened. */
  openedAt: string;
  /** When it expires: the ceiling of a tool call. */
  expiresAt?: string;
  /** How long a tool call may be silent. */
  silenceMs?: number;
  /** How it was settled. */
  outcome?: Outcome;
  /** The answer that settled it; not for tool calls. */
  answer?: unknown;
  /** Who settled it. */
  by?: By;
  /** When. */
  settledAt?: string;
  /** From the ancestor down, for an interaction of a subtask. */
  path?: PathStep[];
} & (
  | {
      kind: "toolCall";
      request: ToolCallRequest;
    }
  | {
      kind: "approval";
      request: ApprovalRequest;
    }
  | {
      kind: "input";
      request: InputRequest;
    }
  | UnlistedMember<"kind">
);
/** Whether an interaction is open. */
export type InteractionState = "open" | "settled";
/** Why a thread's tools changed. */
export type ToolsCause =
  "declared" | "withdrawn" | "takeover" | "ownerAway" | "ownerBack" | "server" | "policy" | Unlisted;
/** A directory grant of a project. Opaque to clients: compare it, store it, send it back, never take it apart. */
export type GrantId = string;
/** The kinds of interactions. */
export type InteractionKind = "toolCall" | "approval" | "input";
/** An item of a list, with the place of the event that completed it. */
export type ListedItem = {
  /** The event that completed it. */
  seq: number;
  /** Its id. */
  itemId: ItemId;
  /** Its run; absent for an aside on an idle branch. */
  runId?: RunId;
  /** Its branch. */
  branchId: BranchId;
  /** Whether it is open, and if not, how it ended. */
  state: ItemState;
  /** When it began. */
  startedAt: string;
  /** When it ended. */
  endedAt?: string;
  /** One line that says what it was, at most 160 characters. */
  summary?: string;
  /** How much attention it deserves. */
  severity?: Severity;
} & (
  | {
      kind: "userMessage";
      /** The message of the chain. */
      messageId: MessageId;
      /** What was said. */
      content: (Part | UnlistedMember<"type">)[];
      /** The run that sent it, where one did. */
      sender?: Sender;
      /** How it was delivered. */
      delivery: Delivery;
    }
  | {
      kind: "assistantMessage";
      /** The message of the chain. */
      messageId: MessageId;
      /** What was said; empty while the item is open. */
      text: string;
      /** Whether it was cut off. */
      incomplete?: boolean;
    }
  | {
      kind: "reasoning";
      /** The message of the chain it belongs to. */
      messageId: MessageId;
      /** What was thought; empty while the item is open. */
      text: string;
      /** Whether it was cut off. */
      incomplete?: boolean;
    }
  | ({
      kind: "toolCall";
    } & ToolCallItem)
  | {
      kind: "notice";
      /** A stable word for it. */
      code: string;
      /** What to show. */
      text: string;
    }
  | UnlistedMember<"kind">
);
/** Who speaks in a message. */
export type Role = "user" | "assistant" | "tool";
/** Where a rule holds. */
export type PolicyLevel = "global" | "project" | "thread";
/** Kinds of callers a rule can name. */
export type PolicyPrincipalKind = "agent" | "app";
/** How a rule came to be. */
export type PolicyOrigin = "owner" | "approval" | "run" | Unlisted;
/** How an MCP server is reached. */
export type Transport = "inProcess" | "stdio" | "streamableHttp" | Unlisted;
/** A part of a tool's result. Closed: an unknown field makes it an invalid result. */
export type ResultPart =
  | {
      type: "text";
      /** The text itself. */
      text: string;
    }
  | {
      type: "image";
      /** Its media type, such as `image/png`. */
      mediaType: string;
      /** Its bytes in base64. */
      data: string;
    }
  | {
      type: "audio";
      /** Its media type, such as `audio/wav`. */
      mediaType: string;
      /** Its bytes in base64. */
      data: string;
    }
  | {
      type: "resourceLink";
      /** Where it leads. */
      uri: string;
      /** What it is called. */
      name: string;
    };
/** How a tool of a server stands. */
export type ReviewState = "new" | "ok" | "updated" | "changed" | "missing" | "unusable" | "cleared" | Unlisted;
/** Whether a tool of a server only reads. */
export type ServerToolKind = "read" | "write" | Unlisted;
/** What became of an input. */
export type SubmitState = "running" | "queued" | "recorded" | Unlisted;
/** What `run/wait` waits for. */
export type WaitUntil = "terminal" | "blocked";
/** Where keys are kept. */
export type SecretStore = "keyring" | "file" | Unlisted;
/** How a server stands. */
export type ServerState = "starting" | "ready" | "failed" | "stopped" | "needsReview" | Unlisted;
/** Kinds of tool sources. */
export type SourceKind = "app" | "files" | "mcp" | "client" | Unlisted;
/** Whether a tool can be called. */
export type ToolState =
  "ready" | "starting" | "failed" | "bound" | "ownerAway" | "blocked" | "quarantined" | "leftOut" | Unlisted;
/** The order of a list of threads; always newest first. */
export type ThreadSort = "created" | "active";

/** An account at a server. */
export interface Account {
  /** Its id: `mcp-<slug>:local`, or `mcp-<slug>:` and a number. */
  accountId: AccountId;
  /** The server it is at. */
  serverId: ServerId;
  /** Its name: `This computer`, `Server`, `Account 1`, `Token`, … */
  name: string;
  /** What its owner calls it. */
  label?: string;
  /** How it signs in. */
  kind: SignIn;
  /** How it stands. */
  state: AccountState;
  /** Whether calls that name no account use it. */
  isDefault: boolean;
  /** Its revision. */
  revision: number;
}
/** An agent of an app. */
export interface AgentRef {
  /** The app. */
  appId: AppId;
  /** The agent in it. */
  agentId: AgentId;
}
/** What a tool does to the world, as its source says. */
export interface Annotations {
  /** It changes nothing. */
  readOnlyHint?: boolean;
  /** It may destroy something. */
  destructiveHint?: boolean;
  /** Calling it twice has the effect of calling it once. */
  idempotentHint?: boolean;
  /** It reaches beyond this machine. */
  openWorldHint?: boolean;
}
/** The answer to `approval/request`. Closed. */
export interface ApprovalAnswer {
  /** The decision. */
  decision: Decision;
  /** How far `acceptAlways` reaches. */
  scope?: DecisionScope;
  /** What the model is told about a refusal. */
  note?: string;
}
/** Parameters of `approval/request`. */
export interface ApprovalRequest {
  /** The interaction. */
  interactionId: InteractionId;
  /** The thread. */
  threadId: ThreadId;
  /** The run. */
  runId: RunId;
  /** The call. */
  callId: CallId;
  /** How often this interaction has been offered, from 1. */
  attempt: number;
  /** The tool. */
  tool: ApprovalTool;
  /** The exact arguments the call would be made with; absent in events. */
  arguments?: unknown;
  /** The arguments as the model gave them, where they were repaired; absent in events. */
  originalArguments?: unknown;
  /** The account of an MCP server the call would use. */
  connection?: string;
  /** What would change, when the call widens authority or replaces a document. */
  change?: Change;
  /** Which call of the model's message, from 1. */
  index: number;
  /** How many calls that message has. */
  total: number;
  /** One line for the prompt, at most 160 characters. */
  summary: string;
  /** The decisions that count here. */
  choices: (Decision | Unlisted)[];
  /** From the ancestor down, for an approval of a subtask. */
  path?: PathStep[];
  /** When it expires. */
  expiresAt?: string;
}
/** The tool an approval is about. */
export interface ApprovalTool {
  /** Its name; for a client tool its flat name. */
  name: string;
  /** Its source. */
  source: string;
  /** What people call it. */
  title?: string;
  /** What its source says of its effects. */
  annotations: Annotations;
}
/** What a call would change. */
export interface Change {
  /** As it is. */
  before: unknown;
  /** As it would be. */
  after: unknown;
}
/** One step of the way from an ancestor to a descendant that waits. */
export interface PathStep {
  /** The thread. */
  threadId: ThreadId;
  /** The run. */
  runId: RunId;
  /** The call. */
  callId: CallId;
  /** What to show for it. */
  title?: string;
}
/** Parameters of `daemon/backup`. */
export interface BackupParams {
  /** An absolute path, at which there is nothing yet. */
  path: string;
}
/** The answer to `daemon/backup`: how large the file is. */
export interface BackupResult {
  /** Its lines. */
  lines: number;
  /** Its bytes. */
  bytes: number;
  /** Logs that are missing, or in it as they are and cannot be read to their end; absent when there are none. */
  damaged?: string[];
}
/**
 * A part of a payload. What follows it begins at `offset` and the bytes of this part: of `text` those of its UTF-8, of `data` those it decodes to. At the end of the payload `text` is empty.
 */
export interface BlobPart {
  /** The part, where it is text; it never ends within a character. */
  text?: string;
  /** The part in base64, where it is not text or `offset` is within a character. */
  data?: string;
  /** Bytes of the whole payload. */
  totalBytes: number;
}
/** Parameters of `blob/read`. */
export interface BlobReadParams {
  /** Which payload. */
  blobId: BlobId;
  /** The byte to begin with; 0 unless given. */
  offset?: number;
  /** Bytes at most; `pageCharacters` unless given, and a larger one is read as that. */
  limit?: number;
}
/** Payload that was cut from what the model saw, kept whole. */
export interface BlobRef {
  /** What `blob/read` takes. */
  blobId: BlobId;
  /** Its whole length in bytes. */
  totalBytes: number;
}
/** A line of messages in a thread. */
export interface Branch {
  /** Its id. */
  branchId: BranchId;
  /** Its thread. */
  threadId: ThreadId;
  /** Its title. */
  title?: string;
  /** The branch it was forked from; once that is deleted, the one that was forked from. */
  parentBranchId?: BranchId;
  /** The message it was forked from: it follows that one. */
  rootMessageId?: MessageId;
  /** Its last message. */
  headMessageId?: MessageId;
  /** The run under way on it. */
  activeRunId?: RunId;
  /** What waits on it. */
  queue: QueueState;
  /** Its revision: raised by its title, and when its head moves otherwise than by appending. */
  revision: number;
}
/** How much waits on a branch. */
export interface QueueState {
  /** Inputs waiting. */
  length: number;
  /** Whether they wait for somebody's word after a bad end, rather than for a run to complete. */
  held: boolean;
}
/** The answer to `branch/update`. */
export interface BranchChanged {
  /** The branch as it is now. */
  branch: Branch;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** Parameters of `branch/delete`. */
export interface BranchDeleteParams {
  /** The thread. */
  threadId: ThreadId;
  /** The branch; any but the original one, which goes with its thread. */
  branchId: BranchId;
  /** Whether to say only what would go. */
  dryRun?: boolean;
  /** The revision of the branch this is based on. */
  expectedRevision?: number;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** Parameters of `branch/list`. */
export interface BranchListParams {
  /** The thread. */
  threadId: ThreadId;
  /** Where the page begins; absent: at the start. */
  cursor?: string;
  /** How many at most; 100 unless given, 1,000 at most. */
  limit?: number;
}
/** One page of a list. */
export interface BranchPage {
  /** The items, at most `limit` of them and at most 262,144 characters, the first one always included. */
  items: Branch[];
  /** Where the next page begins; absent on the last. */
  nextCursor?: string;
  /** Whether something was left out that no further page has. */
  truncated?: boolean;
}
/** Parameters of `branch/update`. */
export interface BranchUpdateParams {
  /** The thread. */
  threadId: ThreadId;
  /** The branch. */
  branchId: BranchId;
  /** Its title: 1 to 200 characters; null clears it. */
  title?: string | null;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** Who or what settled something. */
export interface By {
  /** What kind. */
  kind: ByKind;
  /** The client's name, where a client did it. */
  clientName?: string;
  /** Which process of that name. */
  instanceId?: InstanceId;
  /** The rule, where one did it. */
  policyId?: PolicyId;
}
/** Who decided about a call, and how. */
export interface CallDecision {
  /** A word of a person (`accept`, `acceptForSession`, …), or `allow` or `deny` of a rule or default. */
  decision: string;
  /** What decided. */
  via: DecidedVia;
  /** The approval, where one was asked for. */
  interactionId?: InteractionId;
  /** The rule, where one decided. */
  policyId?: PolicyId;
  /** Who, where somebody decided. */
  by?: By;
  /** What they said. */
  note?: string;
}
/** What went wrong with a call. */
export interface CallError {
  /** A stable word: ours in lower_snake_case, a client's or server's as it gave it. */
  code: string;
  /** A sentence. */
  message: string;
}
/** How long the parts of a call took. */
export interface CallTiming {
  /** Milliseconds the approval was open. */
  approvalMs?: number;
  /** Milliseconds the call itself took. */
  callMs?: number;
}
/** Parameters of `$/cancelRequest`. */
export interface CancelRequestParams {
  /** The id of the request. */
  id: RequestId;
}
/** What a client can do for the daemon; all false unless claimed. */
export interface Capabilities {
  /** It answers approvals. */
  approvals?: boolean;
  /** It answers questions. */
  input?: boolean;
  /** It shows what `navigate` names. */
  navigation?: boolean;
}
/** The files a run changed. */
export interface ChangeSet {
  /** Its id. */
  changeSetId: ChangeSetId;
  /** Each changed file. */
  files: ChangedFile[];
}
/** A file a run changed. */
export interface ChangedFile {
  /** Where it is. */
  path: string;
  /** What happened to it. */
  change: FileChange;
}
/** The answer to `daemon/check`. */
export interface CheckResult {
  /** What is not as it should be; empty when all is well. */
  differences: Difference[];
  /** Whether there is more than is told. */
  truncated?: boolean;
}
/** Something stored that is not as it should be. */
export interface Difference {
  /** What it is about. */
  kind: DifferenceKind;
  /** Which file, or which row of the index. */
  place: string;
  /** What is wrong. */
  message: string;
  /** What to do about it. */
  remedy: string;
}
/** Who a client is. */
export interface ClientInfo {
  /** Its name, `[A-Za-z0-9._-]{1,64}`; its tools have the source `client:NAME`. */
  name: string;
  /** Its version. */
  version: string;
  /** Which process; stable for its life. Without one nothing of it outlives the connection. */
  instanceId?: InstanceId;
}
/** A client process. */
export interface ClientRef {
  /** Its name. */
  clientName: string;
  /** Which process of that name. */
  instanceId: InstanceId;
}
/** One layer of what stands before the messages. */
export interface ContextLayer {
  /** Which one. */
  name: ContextLayerName;
  /** Its text as it is sent, with a note where it was cut. */
  text: string;
  /** Its tokens, estimated. */
  tokens: number;
  /** The tokens it may have. */
  budgetTokens: number;
  /** Whether it was cut. */
  cut: boolean;
}
/** The messages of a request. */
export interface ContextMessages {
  /** How many there are, a summary included. */
  count: number;
  /** Their tokens, estimated. */
  tokens: number;
  /** How many messages the summary stands for; 0 without one. */
  summarised: number;
}
/** Parameters of `context/preview`. */
export interface ContextPreviewParams {
  /** Which thread. */
  threadId: ThreadId;
  /** Which branch; the original one unless given. */
  branchId?: BranchId;
  /** The endpoint the next run would name; the one it would use by itself unless given. */
  endpointId?: EndpointId;
}
/** What the next request of a branch would be made of. */
export interface ContextPreviewed {
  /** What stands before the messages, in this order; a layer without text is not sent. */
  layers: ContextLayer[];
  /** The definitions of tools. */
  tools: ContextTools;
  /** The messages, which `thread/messages` shows. */
  messages: ContextMessages;
  /**
   * The tokens of the whole request as they are expected: what the provider has counted of the last one of this chain and an estimate of what has come since, else an estimate.
   */
  totalTokens: number;
  /** The window of the model. */
  windowTokens: number;
}
/** The definitions of tools in a request. */
export interface ContextTools {
  /** How many there are. */
  count: number;
  /** Their tokens, estimated. */
  tokens: number;
  /** Flat names of those for which there was no room. */
  leftOut: string[];
}
/** How much there is of everything. */
export interface Counts {
  /** Open connections. */
  connections: number;
  /** Threads in the store. */
  threads: number;
  /** Runs that have not ended, by state. */
  runs: {
    [k: string]: number;
  };
  /** Interactions that are open. */
  openInteractions: number;
  /** Child processes. */
  children: number;
}
/** Who the daemon is. */
export interface DaemonInfo {
  /** `ropewalk`. */
  name: string;
  /** Its version. */
  version: string;
  /** Its process. */
  pid: number;
  /** Which life of the daemon this is. */
  instanceId: InstanceId;
  /** When it began. */
  startedAt: string;
}
/** The answer to `daemon/status`. */
export interface DaemonState {
  /** Its version. */
  version: string;
  /** Which life of the daemon this is. */
  instanceId: InstanceId;
  /** When it began. */
  startedAt: string;
  /** How long ago that was. */
  uptimeMs: number;
  /** Whether it is well. */
  health: Health;
  /** How much there is of everything. */
  counts: Counts;
  /** What is on disk. */
  store: StoreState;
  /** Resident memory. */
  memoryBytes: number;
}
/** Whether the daemon is well. */
export interface Health {
  /** `ok` or `degraded`. */
  state: HealthState;
  /** What is wrong. */
  reason?: string;
}
/** What is on disk. */
export interface StoreState {
  /** The version of the log format. */
  format: number;
  /** Bytes of logs. */
  logBytes: number;
  /** Bytes of payloads out of line. */
  blobBytes: number;
  /** Bytes of the index. */
  indexBytes: number;
  /** Bytes of logs that nothing needs any more. */
  deadBytes: number;
  /** `ok` or `rebuilding`. */
  index: IndexState;
  /** How far the start has come that reads it or makes it anew, from 0 to 1. */
  progress?: number;
}
/** The build of a daemon that refused a handshake. */
export interface DaemonVersion {
  /** Its version. */
  version: string;
}
/** Parameters of `data/changed`. */
export interface DataChangedParams {
  /** Grows with every change in this life of the daemon. */
  seq: number;
  /** What kinds of things changed. */
  kinds: DataKind[];
  /** Their ids, where there are at most 100. */
  ids?: string[];
  /** The client instance behind it, where it is one. */
  origin?: InstanceId;
}
/** What a declaration says a tool does to the world. Closed: an unknown field is an error with its path. */
export interface DeclaredAnnotations {
  /** It changes nothing. */
  readOnlyHint?: boolean;
  /** It may destroy something. */
  destructiveHint?: boolean;
  /** Calling it twice has the effect of calling it once. */
  idempotentHint?: boolean;
  /** It reaches beyond this machine. */
  openWorldHint?: boolean;
}
/** What the rules say of a tool. */
export interface EffectivePolicy {
  /** The decision. */
  decision: PolicyDecision | Unlisted;
  /** Where it comes from. */
  level: EffectiveLevel;
  /** The rule, where one decides. */
  policyId?: PolicyId;
  /** How long a call may be silent. */
  timeoutMs: number;
  /** How many calls one run may make. */
  maxCallsPerRun: number;
}
/** An empty object. */
export interface Empty {}
/** A model the user configured. */
export interface Endpoint {
  /** Its id; the built-in one is `scripted`. */
  endpointId: EndpointId;
  /** Its name. */
  name: string;
  /** What it speaks. */
  provider: Provider | Unlisted;
  /** Its address, where the provider needs or allows one. */
  baseUrl?: string;
  /** The model's name there. */
  model: string;
  /** The model's window in tokens. */
  contextTokens?: number;
  /** Tokens one answer may have; absent: what the provider does by itself. */
  maxOutputTokens?: number;
  /** Headers sent with every request beside our own, none of them secret. */
  headers?: {
    [k: string]: string;
  };
  /** The proxy it is reached through; absent: what the daemon's environment says. */
  proxyUrl?: string;
  /** Whether threads that name no endpoint use it. */
  isDefault: boolean;
  /** Whether subtasks may use it. */
  forSubtasks: boolean;
  /** Whether runs may use it. */
  enabled: boolean;
  /** How able it is, from 1 to 5; null when nobody said. */
  capability: number | null;
  /** What it is good for. */
  goodFor?: string;
  /** What it costs. */
  prices?: Prices;
  /** Whether a key is stored for it. Keys themselves are never read back. */
  hasCredential: boolean;
  /** Whether it is part of the daemon and cannot be removed. */
  builtin: boolean;
  /** Its revision. */
  revision: number;
}
/** What an endpoint costs. */
export interface Prices {
  /** The currency, such as `USD`. */
  currency: string;
  /** For a million tokens read. */
  inputPerMillion: number;
  /** For a million tokens written. */
  outputPerMillion: number;
  /** For a million tokens read from the provider's cache. */
  cachedInputPerMillion?: number;
}
/** An endpoint after a change. */
export interface EndpointChanged {
  /** The endpoint. */
  endpoint: Endpoint;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** One page of a list. */
export interface EndpointPage {
  /** The items, at most `limit` of them and at most 262,144 characters, the first one always included. */
  items: Endpoint[];
  /** Where the next page begins; absent on the last. */
  nextCursor?: string;
  /** Whether something was left out that no further page has. */
  truncated?: boolean;
}
/** Parameters of `endpoint/remove`. */
export interface EndpointRemoveParams {
  /** Which one. */
  endpointId: EndpointId;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The revision this change is based on. */
  expectedRevision?: number;
}
/** Parameters of `endpoint/set`. */
export interface EndpointSetParams {
  /** Which one; absent: a new one. */
  endpointId?: EndpointId;
  /** Its name, 1 to 120 characters. */
  name?: string;
  /** What it speaks. */
  provider?: Provider;
  /** Its address. */
  baseUrl?: string | null;
  /** The model's name there. */
  model?: string;
  /** The model's window in tokens. */
  contextTokens?: number | null;
  /** Tokens one answer may have; below `contextTokens` where that is known. */
  maxOutputTokens?: number | null;
  /**
   * Headers sent with every request beside our own, in place of those there were; at most 32. Keys are no headers: `secret/set` takes them.
   */
  headers?: {
    [k: string]: string;
  } | null;
  /** The proxy it is reached through: `http`, `https`, `socks5` or `socks5h`, without user and password. */
  proxyUrl?: string | null;
  /** Whether threads that name no endpoint use it. */
  isDefault?: boolean;
  /** Whether subtasks may use it. */
  forSubtasks?: boolean;
  /** How able it is, from 1 to 5. */
  capability?: number | null;
  /** What it is good for. */
  goodFor?: string | null;
  /** What it costs. */
  prices?: Prices | null;
  /** Whether runs may use it. */
  enabled?: boolean;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The revision this change is based on. */
  expectedRevision?: number;
}
/** Parameters of `endpoint/test`. */
export interface EndpointTestParams {
  /** Which one. */
  endpointId: EndpointId;
}
/** The answer to `endpoint/test`. */
export interface EndpointTested {
  /** Whether it answered. */
  ok: boolean;
  /** How long that took. */
  latencyMs: number;
  /** What went wrong. */
  error?: RunError;
}
/** Why a run failed. */
export interface RunError {
  /** The kind. */
  kind: RunErrorKind;
  /** One or two sentences for a person. */
  message: string;
  /** Whether the same run may succeed later. */
  retryable: boolean;
  /** The shortest wait before a retry makes sense. */
  retryAfterMs?: number;
  /** The provider whose fault it is. */
  provider?: string;
}
/** One problem of the parameters. */
export interface Problem {
  /** Where, as a JSON Pointer into the parameters. */
  path: string;
  /** What is wrong there; never the refused value. */
  reason: string;
}
/** The protocol versions a side speaks. */
export interface ProtocolRange {
  /** The oldest. */
  min: number;
  /** The newest. */
  max: number;
}
/** A durable conversation. */
export interface Thread {
  /** Its id; also the id of its original branch. */
  threadId: ThreadId;
  /** The project it lives in. */
  projectId: ProjectId;
  /** Its title. Without one, clients show the first line of the first input. */
  title?: string;
  /** Whether a person pinned it. */
  pinned: boolean;
  /** Whether it is archived. */
  archived: boolean;
  /** Whether it has something its readers have not marked read. */
  unread: boolean;
  /** The endpoint of its runs; else its project's, else the default. */
  endpointId?: EndpointId;
  /** The app agent it runs. */
  agent?: AgentRef;
  /** Who started it. Stored, gives no authority. */
  origin: Origin;
  /** The sequence number of its last event. */
  seq: number;
  /** When it was started. */
  createdAt: string;
  /** When it was last active; moves with each run's start and end. */
  updatedAt: string;
  /** The revision of this header; messages do not raise it. */
  revision: number;
  /** Its branches; in `thread/read` only. */
  branches?: Branch[];
}
/** Who started a thread. */
export interface Origin {
  /** The client's name. */
  clientName: string;
  /** The channel it came through, such as a chat service. */
  channel?: string;
  /** Who is behind it there. */
  userId?: string;
}
/** What changed about what waits on a branch. */
export interface QueueChanged {
  /** The branch. */
  branchId: BranchId;
  /** Whether what waits is held. */
  held: boolean;
  /** How much waits now. */
  length: number;
  /** What happened. */
  change: QueueChange;
  /** The entry, when one was added or edited. */
  entry?: QueueEntry;
  /** The entry's message, when one was removed or started. */
  messageId?: MessageId;
  /** The new order, when entries were moved. */
  order?: MessageId[];
}
/** An input that waits on a branch. */
export interface QueueEntry {
  /** The id of the message it becomes. */
  messageId: MessageId;
  /** Its own run; for a steer or an aside the run it waits for. */
  runId: RunId;
  /** What was submitted. */
  input: (Part | UnlistedMember<"type">)[];
  /** How. */
  mode: Mode | Unlisted;
  /** The run that submitted it, where one did. */
  sender?: Sender;
  /** Whether it can still be changed. */
  editable: boolean;
  /** When it was submitted. */
  submittedAt: string;
}
/** The run a message came from. */
export interface Sender {
  /** Its thread. */
  threadId: ThreadId;
  /** Its branch. */
  branchId: BranchId;
  /** The run. */
  runId: RunId;
  /** What it wants. */
  intent?: string;
}
/** The work one submitted input causes on a branch. */
export interface Run {
  /** Its id. */
  runId: RunId;
  /** Its thread. */
  threadId: ThreadId;
  /** Its branch. */
  branchId: BranchId;
  /** The input that caused it. */
  messageId: MessageId;
  /** The operation id of the submit, which tells a waiting client which run is its own. */
  operationId?: OperationId;
  /** How the input was submitted. */
  mode: Mode | Unlisted;
  /** Where it is. */
  state: RunStatus | Unlisted;
  /** What it waits for, while it waits. */
  waitingOn?: WaitingOn;
  /** How it ended. */
  outcome?: RunOutcome;
  /** Why it is paused: `shutdown`, `budget` or `endpoint`. */
  reason?: string;
  /** What its model requests cost so far. */
  usage: Usage;
  /** The endpoint it uses. */
  endpointId: EndpointId;
  /** The model it uses. */
  model: string;
  /** What happens to a question nobody can answer. */
  unattended: Unattended | Unlisted;
  /** On whose behalf it works. */
  principal: Principal;
  /** The call it is a subtask of. */
  parent?: RunParent;
  /** The ended run it continues. */
  previousRunId?: RunId;
  /**
   * What can be done about it now: exactly what would be accepted. Empty unless it is paused, or was the last run of its branch and ended badly.
   */
  recovery: Recovery[];
  /** The files it changed. */
  changeSet?: ChangeSet;
  /** Model requests answered so far. */
  steps: number;
  /** Tool calls made so far. */
  toolCalls: number;
  /** When its input was submitted. */
  submittedAt: string;
  /** When it began. */
  startedAt?: string;
  /** When it ended. */
  endedAt?: string;
}
/** What a run waits for. */
export interface WaitingOn {
  /** What kind of thing. */
  kind: WaitingKind;
  /** The interaction, where there is one. */
  interactionId?: InteractionId;
  /** Since when. */
  since: string;
  /** When the wait ends by itself: the sooner of silence and ceiling. */
  deadlineAt?: string;
  /** The clients that could end it now; empty: nobody. */
  canAnswer: ClientRef[];
  /** From the ancestor down, for a wait of a subtask. */
  path?: PathStep[];
}
/** How a run ended. */
export interface RunOutcome {
  /** The ending. */
  status: OutcomeStatus;
  /** The final answer, for a completed run. */
  text?: string;
  /** The final answer as data, when an output schema was given. */
  structured?: unknown;
  /** Why, in a word, for a stopped or interrupted run. */
  reason?: string;
  /** Who stopped it. */
  by?: By;
  /** What went wrong, for a failed run. */
  error?: RunError;
}
/** Model work counted. */
export interface Usage {
  /** Tokens the model read. */
  inputTokens: number;
  /** Tokens the model wrote. */
  outputTokens: number;
  /** Tokens read from the provider's cache, part of `inputTokens`. */
  cachedInputTokens?: number;
  /** Tokens of reasoning, part of `outputTokens`. */
  reasoningTokens?: number;
  /** Model requests. */
  requests: number;
  /** Whether any of the numbers is an estimate of ours rather than the provider's count. */
  estimated: boolean;
}
/** On whose behalf something is done. */
export interface Principal {
  /** What kind of caller. */
  kind: PrincipalKind;
  /** The app, for an app. */
  appId?: AppId;
}
/** The call a run is a subtask of. */
export interface RunParent {
  /** The thread of the caller. */
  threadId: ThreadId;
  /** The calling run. */
  runId: RunId;
  /** The call. */
  callId: CallId;
}
/** A call of a tool, whatever its source. */
export interface ToolCallItem {
  /** The assistant message that made the call. */
  messageId: MessageId;
  /** Its id. */
  callId: CallId;
  /** The interaction that carries the call itself: for a client tool the call, for `ask_user` the question. */
  interactionId?: InteractionId;
  /** The tool. */
  tool: ToolRef;
  /** The arguments the call is made with. */
  arguments: unknown;
  /** The arguments as the model gave them, where they were repaired. */
  originalArguments?: unknown;
  /** Who decided that it may be made, or may not; absent while open and for a call that was never decided. */
  decision?: CallDecision;
  /** What the model was told; absent while open. */
  content?: (Part | UnlistedMember<"type">)[];
  /** Data for clients; never enters the model's context. */
  structuredContent?: unknown;
  /** Further data of the source for clients. */
  meta?: unknown;
  /** What went wrong. */
  error?: CallError;
  /** What is known of its effect. */
  effect?: Effect;
  /** The whole of what was cut from `content`. */
  blob?: BlobRef;
  /** The transcript of a subtask. */
  transcriptId?: TranscriptId;
  /** How long its parts took. */
  timing?: CallTiming;
}
/** A tool as a call names it. */
export interface ToolRef {
  /** Its model-facing name. */
  flatName: string;
  /** Its name at its source. */
  name: string;
  /** Its namespace, for a client tool that has one. */
  namespace?: string;
  /** Its source: `app`, `files`, a server id, `client:NAME`; empty for a name that is no tool. */
  source: string;
  /** What people call it. */
  title?: string;
  /** SHA-256 of its schemas and annotations; empty for a name that is no tool. */
  digest: string;
}
/** Parameters of `tool/call`. */
export interface ToolCallRequest {
  /** The interaction. A client that has seen this id does not start the work twice. */
  interactionId: InteractionId;
  /** The thread. */
  threadId: ThreadId;
  /** The run. */
  runId: RunId;
  /** The call. */
  callId: CallId;
  /** How often this interaction has been offered, from 1. */
  attempt: number;
  /** The tool's namespace. */
  namespace?: string;
  /** The tool's name. */
  tool: string;
  /** The arguments, checked against the declared schema; absent in events. */
  arguments?: unknown;
  /** The call ends after this long without a result or `tool/progress`. */
  silenceMs: number;
  /** The call ends at this moment whatever happens. */
  deadlineAt?: string;
}
/** Parameters of `input/request`. */
export interface InputRequest {
  /** The interaction. */
  interactionId: InteractionId;
  /** The thread. */
  threadId: ThreadId;
  /** The run. */
  runId: RunId;
  /** The call. */
  callId: CallId;
  /** How often this interaction has been offered, from 1. */
  attempt: number;
  /** One to five questions. */
  questions: Question[];
  /** From the ancestor down, for a question of a subtask. */
  path?: PathStep[];
  /** When it expires. */
  expiresAt?: string;
}
/** One question to a person. */
export interface Question {
  /** What the answer calls it; unique in the request. */
  id: string;
  /** The question, at most 500 characters. */
  text: string;
  /** A chip of at most 24 characters. */
  label?: string;
  /**
   * Up to eight options; none only where free text is allowed.
   *
   * @maxItems 8
   */
  options: QuestionOption[];
  /** Whether more than one may be chosen. */
  multiSelect?: boolean;
  /** Whether free text is allowed; it is, unless this is false. */
  allowOther?: boolean;
}
/** One option of a question. */
export interface QuestionOption {
  /** What is shown, at most 80 characters. */
  label: string;
  /** More about it, at most 160 characters. */
  description?: string;
  /** Whether the asker would choose it. */
  recommended?: boolean;
}
/** What changed about a thread's tools. */
export interface ToolsChanged {
  /** The revision of the tool set. */
  revision: number;
  /** Flat names that are new. */
  added: string[];
  /** Flat names that are gone. */
  removed: string[];
  /** Flat names whose tool or rule is another. */
  changed: string[];
  /** Why. */
  cause: ToolsCause;
  /** The client behind it. */
  clientName?: string;
}
/** Some durable events. */
export interface EventPage {
  /** The events, as `thread/event` would carry them. */
  events: ThreadEvent[];
  /** What to send as `after` next time. */
  nextAfter: number;
}
/** Parameters of `thread/event`. Durable events have `seq`; ephemeral ones have `after` in its place. */
export interface ThreadEvent {
  /** The thread. */
  threadId: ThreadId;
  /** The position of a durable event: from 1, without gaps, on disk before it is sent. */
  seq?: number;
  /** The last durable event an ephemeral one follows. */
  after?: number;
  /** When. */
  at: string;
  /** What happened. */
  event: Event;
}
/** A field before and after. */
export interface FieldDifference {
  /** As it was approved; a long one is said in a sentence. */
  was?: unknown;
  /** As it is now; a long one is said in a sentence. */
  now?: unknown;
}
/** A directory plus what file tools may do beneath it. */
export interface Grant {
  /** Its id. */
  grantId: GrantId;
  /** The project it belongs to. */
  projectId: ProjectId;
  /** Its name; the last part of the path unless given. */
  name: string;
  /** The directory, absolute and with every link resolved. */
  path: string;
  /** What is allowed beneath it; never empty. */
  capabilities: (Capability | Unlisted)[];
  /** When it was made. */
  createdAt: string;
}
/** Parameters of `grant/add`. */
export interface GrantAddParams {
  /** The project. */
  projectId: ProjectId;
  /** An existing directory, absolute. */
  path: string;
  /** What is allowed beneath it; not empty. */
  capabilities: Capability[];
  /** Its name; the last part of the path unless given. */
  name?: string;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The project's revision this change is based on. */
  expectedRevision?: number;
}
/** The answer to `grant/add`. */
export interface GrantChanged {
  /** The grant. */
  grant: Grant;
  /**
   * What whoever granted it should know, as sentences: that it is the whole computer, the system itself, or has the daemon's own home in it, which no grant opens.
   */
  warning?: string;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** Parameters of `grant/list`. */
export interface GrantListParams {
  /** The project. */
  projectId: ProjectId;
  /** Where the page begins; absent: at the start. */
  cursor?: string;
  /** How many at most; 100 unless given, 1,000 at most. */
  limit?: number;
}
/** One page of a list. */
export interface GrantPage {
  /** The items, at most `limit` of them and at most 262,144 characters, the first one always included. */
  items: Grant[];
  /** Where the next page begins; absent on the last. */
  nextCursor?: string;
  /** Whether something was left out that no further page has. */
  truncated?: boolean;
}
/** Parameters of `grant/remove`. */
export interface GrantRemoveParams {
  /** The project. */
  projectId: ProjectId;
  /** The grant. */
  grantId: GrantId;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The project's revision this change is based on. */
  expectedRevision?: number;
}
/** Parameters of `initialize`. */
export interface InitializeParams {
  /** The protocol versions the client speaks. */
  protocol: ProtocolRange;
  /** Who it is. */
  client: ClientInfo;
  /** What it can do for the daemon. */
  capabilities?: Capabilities;
  /** What it does not want to be sent: `itemDelta`, `toolProgress`, `data/changed`. */
  optOut?: string[];
  /** Narrows the session to an app's. */
  appId?: AppId;
  /** Narrows the session to an app's surface. */
  surface?: string;
  /** Proves a narrowed session. */
  token?: string;
}
/** The answer to `initialize`. */
export interface Initialized {
  /** The protocol version of this connection. */
  protocol: number;
  /** Who the daemon is. */
  daemon: DaemonInfo;
  /** Every number a client could run into. */
  limits: Limits;
  /** SHA-256 of the schema bundle in canonical form (RFC 8785); `ropewalk schema --hash` prints it too. */
  schemaHash: string;
}
/** The limits of this daemon, as `initialize` publishes them. */
export interface Limits {
  /** Bytes of one message, its line break not counted; a longer line is skipped and answered with `tooLarge`. */
  maxMessageBytes: number;
  /** Levels of nesting anywhere in a message. */
  maxDepth: number;
  /** Connections open at once; one more gets one `overloaded` line and is closed. */
  maxConnections: number;
  /** Requests of one connection being answered at once, control requests and waits not counted. */
  maxInFlight: number;
  /** Waiting requests of one connection (`run/wait`, `thread/events` with `waitMs`, …) at once. */
  maxWaiting: number;
  /** Members of a batch. */
  maxBatch: number;
  /** Inputs waiting on one branch. */
  queueEntries: number;
  /** Items of one page; a larger `limit` is read as this. */
  pageItems: number;
  /** Characters of one page, its first item always included. */
  pageCharacters: number;
  /** Messages that one page of a search looks at. */
  searchMessages: number;
  /** Characters of a message that a hit of a search shows, around its first match. */
  fragmentCharacters: number;
  /** Parts of one input. */
  inputParts: number;
  /** Bytes of one image, decoded. */
  imageBytes: number;
  /** Tools one client declares for one thread. */
  toolsPerClient: number;
  /** Bytes of one schema of a declaration. */
  schemaBytes: number;
  /** Levels of nesting of one schema of a declaration. */
  schemaLevels: number;
  /** Characters of a description. */
  descriptionCharacters: number;
  /** Tool calls of one message of the model. */
  toolCallsPerMessage: number;
  /** Characters of the arguments of one call. */
  argumentCharacters: number;
  /** Characters of one result that enter the model's context. */
  resultCharacters: number;
  /** Bytes of one stored payload. */
  blobBytes: number;
  /** Threads one connection is subscribed to. */
  subscriptions: number;
  /** Bytes of events waiting in memory for one connection; the rest is served from the log. */
  outboxBytes: number;
  /** Milliseconds for which a repeated operation is recognised, at least. */
  operationRetentionMs: number;
}
/** The answer to `input/request`: exactly one of the three fields. Closed. */
export interface InputAnswer {
  /** The answers by question; questions left out are left to the model. */
  answers?: {
    [k: string]: QuestionAnswer;
  };
  /** `true`: you decide. */
  dismissed?: boolean;
  /** `true`: stop asking. */
  declined?: boolean;
}
/** The answer to one question. */
export interface QuestionAnswer {
  /** Positions of the chosen options, from 0; one out of range is dropped. */
  selected?: number[];
  /** Free text. */
  other?: string;
}
/** The answer to `interaction/settle`. */
export interface InteractionAnswered {
  /** Which interaction. */
  interactionId: InteractionId;
  /** How it ended. */
  outcome: Outcome;
  /** Whether the same client instance had given the same answer before. */
  replayed: boolean;
}
/** Parameters of `interaction/invalidAnswer`. */
export interface InteractionInvalidAnswerParams {
  /** Which interaction; it stays open. */
  interactionId: InteractionId;
  /** Where in the answer, as a JSON Pointer. */
  path: string;
  /** Why: `unknown_field`, `wrong_type`, `unknown_question`, `one_option_only`, `no_free_text`, `unknown_decision`. */
  reason: string;
}
/** Parameters of `interaction/list`. */
export interface InteractionListParams {
  /** Only interactions of this thread. */
  threadId?: ThreadId;
  /** Only interactions of this kind. */
  kind?: InteractionKind;
  /** `open` unless given; settled ones are listed by thread. */
  state?: InteractionState;
  /** Where the page begins; absent: at the start. */
  cursor?: string;
  /** How many at most; 100 unless given, 1,000 at most. */
  limit?: number;
}
/** One page of a list. */
export interface InteractionPage {
  /** The items, at most `limit` of them and at most 262,144 characters, the first one always included. */
  items: Interaction[];
  /** Where the next page begins; absent on the last. */
  nextCursor?: string;
  /** Whether something was left out that no further page has. */
  truncated?: boolean;
}
/** Parameters of `interaction/settle`. */
export interface InteractionSettleParams {
  /** Which interaction. */
  interactionId: InteractionId;
  /** What the JSON-RPC response to its request would have as result. */
  answer: unknown;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** Parameters of `interaction/settled`. */
export interface InteractionSettledParams {
  /** Which interaction. */
  interactionId: InteractionId;
  /** How it ended. */
  outcome: Outcome;
  /** Who or what ended it. */
  by: By;
  /** When. */
  at: string;
  /** The answer; not for tool calls. */
  answer?: unknown;
}
/** Parameters of `item/list`. */
export interface ItemListParams {
  /** Which thread. */
  threadId: ThreadId;
  /** Which branch; the original one unless given or a run is. */
  branchId?: BranchId;
  /** Only items of this run. */
  runId?: RunId;
  /** Only items whose event comes before this one; absent: from the newest on. */
  before?: number;
  /** How many at most; 100 unless given, 1,000 at most. */
  limit?: number;
}
/** One page of items. */
export interface ItemPage {
  /** The items, newest first. There may be none although more follow, where long stretches of the log hold none. */
  items: ListedItem[];
  /** What to send as `before` for the next page; absent: there are no more. */
  nextBefore?: number;
  /** The last event of the thread when this was read. */
  seq: number;
}
/** Parameters of `item/read`. */
export interface ItemReadParams {
  /** Its thread. */
  threadId: ThreadId;
  /** Which item. */
  itemId: ItemId;
}
/** The answer to `item/read`. */
export interface ItemResult {
  /** The item. */
  item: Item;
}
/** Parameters of plain lists. */
export interface ListParams {
  /** Where the page begins; absent: at the start. */
  cursor?: string;
  /** How many at most; 100 unless given, 1,000 at most. */
  limit?: number;
}
/** One node of the chain the model sees. */
export interface Message {
  /** Its id. */
  messageId: MessageId;
  /** Its thread. */
  threadId: ThreadId;
  /** The branch it was added on. */
  branchId: BranchId;
  /** The message before it. */
  parentMessageId?: MessageId;
  /** The run it belongs to. */
  runId?: RunId;
  /** Who speaks. */
  role: Role | Unlisted;
  /** How it was delivered. */
  delivery: Delivery;
  /** What is said. */
  content: (Part | UnlistedMember<"type">)[];
  /** The calls of an assistant message; each has a tool message right after it. */
  toolCalls?: ToolCallRef[];
  /** The call a tool message answers. */
  callId?: CallId;
  /** Whether the call did not succeed; on tool messages only. */
  isError?: boolean;
  /** Whether the model was cut off. */
  incomplete?: boolean;
  /** Whether it stands for older messages that were summarised. */
  summary?: boolean;
  /** The run that sent it, where one did. */
  sender?: Sender;
  /** When it was stored. */
  at: string;
}
/** A call as the model made it. */
export interface ToolCallRef {
  /** Our id of the call. */
  callId: CallId;
  /** The tool's model-facing name. */
  flatName: string;
  /** The arguments. */
  arguments: unknown;
}
/** One page of a chain. */
export interface MessagePage {
  /** The messages, from head to root. */
  items: Message[];
  /** Where the next page begins; absent at the root. */
  nextCursor?: string;
  /** The last event of the thread when this was read. */
  seq: number;
}
/** Parameters of `navigate`. */
export interface NavigateParams {
  /** The project. */
  projectId: ProjectId;
  /** The thread. */
  threadId?: ThreadId;
  /** The branch. */
  branchId?: BranchId;
}
/** Where a thread comes from. */
export interface OriginParams {
  /** The channel, such as a chat service. */
  channel?: string;
  /** Who is behind it there. */
  userId?: string;
}
/** A rule about a tool or a whole source. */
export interface Policy {
  /** Its id; a rule that is replaced keeps it. */
  policyId: PolicyId;
  /** Where it holds. */
  level: PolicyLevel | Unlisted;
  /** The project, at project level. */
  projectId?: ProjectId;
  /** The thread, at thread level. */
  threadId?: ThreadId;
  /** The tool it is about. */
  tool?: PolicyTool;
  /** The source it is about, where it is about no single tool. */
  source?: string;
  /** Whose calls it is about; all, unless given. */
  principal?: ReadPolicyPrincipal;
  /** The account it is about; all, unless given. */
  connection?: string;
  /** What it says. */
  decision: PolicyDecision | Unlisted;
  /** How long a call may be silent, 1,000 to 3,600,000 ms. */
  timeoutMs?: number;
  /** How many calls one run may make. */
  maxCallsPerRun: number;
  /** When it stops to hold. */
  expiresAt?: string;
  /** How it came to be. */
  origin: PolicyOrigin;
  /** Who set it. */
  setBy: By;
  /** When. */
  at: string;
  /** How many tools it applies to now; 0 is worth a look. */
  matches: number;
  /** Its revision. */
  revision: number;
}
/** The tool a rule is about. */
export interface PolicyTool {
  /** Its source. */
  source: string;
  /** Its name; for a client tool its flat name. */
  name: string;
  /** The digest an `allow` holds for; absent for `ask` and `deny`, which hold for any. */
  digest?: string;
}
/** Whose calls a rule is about. */
export interface ReadPolicyPrincipal {
  /** What kind of caller. */
  kind: PolicyPrincipalKind | Unlisted;
  /** The app, for an app. */
  appId?: AppId;
}
/** A rule after a change. */
export interface PolicyChanged {
  /** The rule. */
  policy: Policy;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** Parameters of `policy/list`. */
export interface PolicyListParams {
  /** Only rules of this level. */
  level?: PolicyLevel;
  /** Only rules of this project. */
  projectId?: ProjectId;
  /** Only rules of this thread. */
  threadId?: ThreadId;
  /** Only rules about this source or a tool of it. */
  source?: string;
  /** Where the page begins; absent: at the start. */
  cursor?: string;
  /** How many at most; 100 unless given, 1,000 at most. */
  limit?: number;
}
/** One page of a list. */
export interface PolicyPage {
  /** The items, at most `limit` of them and at most 262,144 characters, the first one always included. */
  items: Policy[];
  /** Where the next page begins; absent on the last. */
  nextCursor?: string;
  /** Whether something was left out that no further page has. */
  truncated?: boolean;
}
/** Whose calls a rule is about. */
export interface PolicyPrincipal {
  /** What kind of caller. */
  kind: PolicyPrincipalKind;
  /** The app, for an app. */
  appId?: AppId;
}
/** Parameters of `policy/remove`. */
export interface PolicyRemoveParams {
  /** Which rule. */
  policyId: PolicyId;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The revision this change is based on. */
  expectedRevision?: number;
}
/** Parameters of `policy/set`. Exactly one of `tool` and `source` is given. */
export interface PolicySetParams {
  /** Where it holds. */
  level: PolicyLevel;
  /** The project, at project level. */
  projectId?: ProjectId;
  /** The thread, at thread level. */
  threadId?: ThreadId;
  /** The tool it is about. */
  tool?: PolicyTool;
  /** The source it is about. */
  source?: string;
  /** Whose calls it is about; all, unless given. */
  principal?: PolicyPrincipal;
  /** The account it is about; all, unless given. */
  connection?: string;
  /** What it says. */
  decision: PolicyDecision;
  /** How long a call may be silent, 1,000 to 3,600,000 ms; null: as without the rule. */
  timeoutMs?: number | null;
  /** How many calls one run may make, 1 to 65,535. */
  maxCallsPerRun?: number;
  /** When it stops to hold. */
  expiresAt?: string;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The revision of the rule this change is based on. */
  expectedRevision?: number;
}
/** What threads live in: instructions, grants, policies and a default endpoint they share. */
export interface Project {
  /** Its id. */
  projectId: ProjectId;
  /** Its name. */
  name: string;
  /** What it is for. */
  description?: string;
  /** What every run in it is told, at most 32,000 characters. */
  instructions?: string;
  /** The endpoint of its threads that name none. */
  defaultEndpointId?: EndpointId;
  /** Whether it is the project of threads that name none. There is exactly one. */
  isDefault: boolean;
  /** Which MCP servers its runs use. */
  servers: ProjectServer[];
  /** When it was made. */
  createdAt: string;
  /** When it last changed. */
  updatedAt: string;
  /** Its revision; a change of its grants or policies raises it too. */
  revision: number;
  /** Its grants; in `project/read` only. */
  grants?: Grant[];
  /** Its policies; in `project/read` only. */
  policies?: Policy[];
}
/** An MCP server as a project uses it. */
export interface ProjectServer {
  /** Which server. */
  serverId: ServerId;
  /** How it is reached. */
  transport: Transport;
  /** Whether the project's runs use it. */
  enabled: boolean;
}
/** A project after a change. */
export interface ProjectChanged {
  /** The project. */
  project: Project;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** Parameters of `project/create`. */
export interface ProjectCreateParams {
  /** Its name, 1 to 120 characters. */
  name: string;
  /** What it is for, at most 2,048 characters. */
  description?: string;
  /** What its runs are told, at most 32,000 characters. */
  instructions?: string;
  /** The endpoint of its threads that name none. */
  defaultEndpointId?: EndpointId;
  /** Which servers its runs use. */
  servers?: ServerChoice[];
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** Whether a project's runs use a server. */
export interface ServerChoice {
  /** Which server. */
  serverId: ServerId;
  /** Whether they use it. */
  enabled: boolean;
}
/** Parameters of `project/delete`. */
export interface ProjectDeleteParams {
  /** Which one; not the default project. */
  projectId: ProjectId;
  /** Whether it is only said what would go; not, unless this is true. */
  dryRun?: boolean;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The revision this change is based on. */
  expectedRevision?: number;
}
/** Parameters of `project/ensure`. */
export interface ProjectEnsureParams {
  /** The directory, absolute. */
  path: string;
  /** The name of a project that has to be made; the last part of the path unless given. */
  name?: string;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** The answer to `project/ensure`. */
export interface ProjectEnsured {
  /** The project. */
  project: Project;
  /** Whether it was made now. */
  created: boolean;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** One page of a list. */
export interface ProjectPage {
  /** The items, at most `limit` of them and at most 262,144 characters, the first one always included. */
  items: Project[];
  /** Where the next page begins; absent on the last. */
  nextCursor?: string;
  /** Whether something was left out that no further page has. */
  truncated?: boolean;
}
/** Names a project. */
export interface ProjectParams {
  /** Which one. */
  projectId: ProjectId;
}
/** The answer to `project/read`. */
export interface ProjectResult {
  /** The project. */
  project: Project;
}
/** Parameters of `project/update`. */
export interface ProjectUpdateParams {
  /** Which one. */
  projectId: ProjectId;
  /** Its name, 1 to 120 characters. */
  name?: string;
  /** What it is for, at most 2,048 characters. */
  description?: string | null;
  /** What its runs are told, at most 32,000 characters. */
  instructions?: string | null;
  /** The endpoint of its threads that name none. */
  defaultEndpointId?: EndpointId | null;
  /** Merged by server id. */
  servers?: ServerChoice[];
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The revision this change is based on. */
  expectedRevision?: number;
}
/** What waits on a branch. */
export interface Queue {
  /** The entries, first in line first. */
  entries: QueueEntry[];
  /** Whether they are held after a bad end. */
  held: boolean;
}
/** Parameters of `queue/clear`. */
export interface QueueClearParams {
  /** The thread. */
  threadId: ThreadId;
  /** The branch; the original one unless given. */
  branchId?: BranchId;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** The answer to a change of what waits on a branch. */
export interface QueueEdited {
  /** The entries that wait now, first in line first. */
  entries: QueueEntry[];
  /** Whether they are held after a bad end. */
  held: boolean;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** Parameters of `queue/list`. */
export interface QueueListParams {
  /** The thread. */
  threadId: ThreadId;
  /** The branch; the original one unless given. */
  branchId?: BranchId;
}
/** Parameters of `queue/remove`. */
export interface QueueRemoveParams {
  /** The thread. */
  threadId: ThreadId;
  /** The branch; the original one unless given. */
  branchId?: BranchId;
  /** The message the input becomes. */
  messageId: MessageId;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** Parameters of `queue/reorder`. */
export interface QueueReorderParams {
  /** The thread. */
  threadId: ThreadId;
  /** The branch; the original one unless given. */
  branchId?: BranchId;
  /** The messages of all that waits, each once, first in line first: at most 1,000. */
  messageIds: MessageId[];
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** Parameters of `queue/update`. */
export interface QueueUpdateParams {
  /** The thread. */
  threadId: ThreadId;
  /** The branch; the original one unless given. */
  branchId?: BranchId;
  /** The message the input becomes. */
  messageId: MessageId;
  /** What is said instead: 1 to 32 parts. */
  input: Part[];
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** What waits on a branch, cut like a page. */
export interface QueueView {
  /** The first entries. */
  entries: QueueEntry[];
  /** How many there are. */
  length: number;
}
/** What a deletion did, or would do. */
export interface Removed {
  /** Whether it happened; not on a dry run, and not when there was nothing. */
  applied: boolean;
  /** Whether it was only rehearsed. */
  dryRun: boolean;
  /** A sentence that says what goes with it. */
  effect: string;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** A tool in a review. */
export interface ReviewTool {
  /** Its name at the server. */
  name: string;
  /** What its other names are made of: at most 32 of `[A-Za-z0-9]`. */
  toolId: string;
  /** What apps declare, `mcp-<slug>.<toolId>`. */
  permission: string;
  /** What apps call, `mcp.<slug>.<toolId>`. */
  function: string;
  /** What models call, `mcp_<slug>_<toolId>`. */
  agentTool: string;
  /** What people call it. */
  title?: string;
  /** What the model is told about it, or would be: the first 2,048 characters of what the server says now. */
  description: string;
  /** Whether the server says that it only reads. */
  kind: ServerToolKind;
  /** How it stands. */
  state: ReviewState;
  /** Why it cannot be used, where it cannot. */
  reason?: string;
  /** Whether its owner has approved it. */
  approved: boolean;
  /**
   * What has changed since it was approved, by field: `inputSchema`, `outputSchema`, `annotations`, `title`, `description`.
   */
  diff?: {
    [k: string]: FieldDifference;
  };
}
/** An error as JSON-RPC carries it. */
export interface RpcError {
  /** The number of the kind, in JSON-RPC's reserved range. */
  code: number;
  /** One or two sentences for a person: what, where, and what to do next. */
  message: string;
  /** What a program reads. */
  data: ErrorData;
}
/** Parameters of `run/list`. */
export interface RunListParams {
  /** Only runs of this thread. */
  threadId?: ThreadId;
  /** Only runs of this project's threads. */
  projectId?: ProjectId;
  /** Only runs in one of these states. */
  states?: RunStatus[];
  /** Where the page begins; absent: at the start. */
  cursor?: string;
  /** How many at most; 100 unless given, 1,000 at most. */
  limit?: number;
}
/** One page of a list. */
export interface RunPage {
  /** The items, at most `limit` of them and at most 262,144 characters, the first one always included. */
  items: Run[];
  /** Where the next page begins; absent on the last. */
  nextCursor?: string;
  /** Whether something was left out that no further page has. */
  truncated?: boolean;
}
/** Names a run. */
export interface RunParams {
  /** Which one. */
  runId: RunId;
}
/** Parameters of `run/resume`, `run/retry` and `run/rebase`. */
export interface RunRecoverParams {
  /** The thread. */
  threadId: ThreadId;
  /** The branch; the original one unless given. */
  branchId?: BranchId;
  /**
   * Which run; unless given, the one of the branch that is paused, else the last one on it, where that ended badly.
   */
  runId?: RunId;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** The answer to `run/resume`, `run/retry` and `run/rebase`. */
export interface RunRecovered {
  /** The run that goes on: the paused one, or a new one whose `previousRunId` is the one that has ended. */
  run: Run;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** The answer to `run/read`. */
export interface RunResult {
  /** The run. */
  run: Run;
}
/** Parameters of `run/skip`. */
export interface RunSkipParams {
  /** The thread. */
  threadId: ThreadId;
  /** The branch; the original one unless given. */
  branchId?: BranchId;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** The answer to `run/skip`. */
export interface RunSkipped {
  /** The run that began because the queue was released. */
  run?: Run;
  /** Whether there was anything to release. */
  released: boolean;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** Parameters of `run/stop`. */
export interface RunStopParams {
  /** The thread. */
  threadId: ThreadId;
  /** The branch; the original one unless given. */
  branchId?: BranchId;
  /** Which run; the active one of the branch unless given. */
  runId?: RunId;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** The answer to `run/stop`. */
export interface RunStopped {
  /** The last event of the stop, or of the thread when there was nothing to stop. */
  seq: number;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** Parameters of `run/submit`. */
export interface RunSubmitParams {
  /** The thread. */
  threadId: ThreadId;
  /** The branch; the original one unless given. For a fork the one it is made from. */
  branchId?: BranchId;
  /** What is said: 1 to 32 parts. */
  input: Part[];
  /** How it enters the branch; `queue` unless given. */
  mode?: Mode;
  /**
   * The message a fork follows, any of the thread, the head of the branch unless given; or the user message of the branch that a replacement takes the place of.
   */
  fromMessageId?: MessageId;
  /** The run a steer is meant for. */
  expectedRunId?: RunId;
  /** The title of a fork's branch: 1 to 200 characters. */
  title?: string;
  /** The endpoint of this run. */
  endpointId?: EndpointId;
  /** JSON Schema of the final answer, of any JSON type. */
  outputSchema?: unknown;
  /** What happens to a question nobody can answer; `decline` unless given. */
  unattended?: Unattended;
  /** Whether the answer comes when the run has ended. */
  wait?: boolean;
  /** How long to wait, 1,000 to 600,000; 60,000 unless given. */
  waitTimeoutMs?: number;
  /** Makes a repeat recognisable, and identifies the message too. */
  operationId?: OperationId;
}
/** The answer to `run/submit`. */
export interface RunSubmitted {
  /** The run; absent for an aside that was just recorded. */
  runId?: RunId;
  /** The message the input is, or becomes. */
  messageId: MessageId;
  /** Its branch; for a fork the new one. */
  branchId: BranchId;
  /** What became of it. */
  state: SubmitState;
  /** With `wait`: the run as it was when the wait ended. */
  run?: Run;
  /** With `wait`: whether the time ran out first. */
  timedOut?: boolean;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** Parameters of `run/wait`. */
export interface RunWaitParams {
  /** Which run. */
  runId: RunId;
  /** Until when; `terminal` unless given. */
  until?: WaitUntil;
  /** How long to wait, 1,000 to 600,000; 60,000 unless given. */
  timeoutMs?: number;
}
/** The answer to `run/wait`. */
export interface RunWaited {
  /** The run. */
  run: Run;
  /** Whether the time ran out first. */
  timedOut: boolean;
  /** The last event of its thread. */
  seq: number;
}
/** A message that has what was looked for. It is not here as a whole: `thread/messages` has it. */
export interface SearchHit {
  /** The project of its thread. */
  projectId: ProjectId;
  /** The name of that project. */
  projectName: string;
  /** Its thread. */
  threadId: ThreadId;
  /** The title of that thread, or the first line of its first input. */
  threadTitle?: string;
  /** The branch it was added on. */
  branchId: BranchId;
  /** The message. */
  messageId: MessageId;
  /** Who speaks in it. */
  role: Role | Unlisted;
  /** When it was stored. */
  at: string;
  /** What it says around the first match, at most 160 characters. */
  fragment: string;
  /** How often the whole message has what was looked for. */
  matchCount: number;
}
/** One page of a list. */
export interface SearchHitPage {
  /** The items, at most `limit` of them and at most 262,144 characters, the first one always included. */
  items: SearchHit[];
  /** Where the next page begins; absent on the last. */
  nextCursor?: string;
  /** Whether something was left out that no further page has. */
  truncated?: boolean;
}
/** Parameters of `secret/remove`. */
export interface SecretRemoveParams {
  /** The endpoint. */
  endpointId: EndpointId;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The endpoint's revision this change is based on. */
  expectedRevision?: number;
}
/** Parameters of `secret/set`. */
export interface SecretSetParams {
  /** The endpoint. */
  endpointId: EndpointId;
  /** The key, 1 to 8,192 characters. */
  value: string;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The endpoint's revision this change is based on. */
  expectedRevision?: number;
}
/** A server whose tools runs can call: one of the two that are part of the daemon, or one the owner added. */
export interface Server {
  /** Its id: `app`, `files`, or one of an added server. Rules and bindings of projects name it. */
  serverId: ServerId;
  /** What the names of its tools are made of: at most 24 of `[a-z0-9]`, a letter first. It never changes. */
  slug: string;
  /** What people call it. */
  name: string;
  /** How it is reached. */
  transport: Transport;
  /** Its address, where it has one. */
  url?: string;
  /** The program that is started, of a `stdio` server. */
  command?: string;
  /** The arguments it is started with. They are shown: secrets belong into its environment. */
  args?: string[];
  /** The names of the variables it gets beside the usual ones; their values are secrets and never shown. */
  envNames?: string[];
  /** Whether it is part of the daemon. */
  builtin: boolean;
  /** Whether name and transport stay as they are. */
  readOnly: boolean;
  /** Whether it can be removed. */
  removable: boolean;
  /** Whether runs may use it. A project can switch it off for its own. */
  enabled: boolean;
  /** Whether its word is taken for which of its tools only read: those are called without asking. */
  trusted: boolean;
  /** Whether its address may be in a private network. */
  privateNetwork: boolean;
  /** The origins it may be reached at. */
  origins: string[];
  /** How one signs in. */
  signIn: SignIn;
  /** How it stands. */
  state: ServerState;
  /** Since when its connection stands so; absent where it was never opened since the daemon started. */
  since?: string;
  /**
   * Why it stands so: `start_failed`, `start_timeout`, `no_usable_tool`, `review_needed`, …; while it is starting, what is waited for: `handshake`, `tools` or `closing`.
   */
  reason?: string;
  /** Whose fault it is, or who is waited for, with what was said, where anything was. */
  party?: string;
  /** Its accounts; a server without sign-in has one. */
  accounts: Account[];
  /** How many of its tools stand how. */
  counts: ServerCounts;
  /** The last of what its process wrote to stderr, at most 64 KiB; in `mcp/server/read` only. */
  stderrTail?: string;
  /** Its revision. */
  revision: number;
}
/** How many tools of a server stand how. */
export interface ServerCounts {
  /** Approved, and to be used as they are. */
  approved: number;
  /** Approved, and out of use until they are reviewed again: they have changed, or cannot be used any more. */
  blocked: number;
  /** Approved, in use, with a new title or description that waits for a review. */
  updates: number;
  /** Not seen by a review yet, and usable. */
  new: number;
  /** Approved, and not on the server any more. */
  missing: number;
  /** Not usable, whoever approves them. */
  unusable: number;
}
/** Parameters of `mcp/server/add`. `command` is needed; a server with a `url` cannot be added in this version. */
export interface ServerAddParams {
  /** The address of a server. Refused in this version, which reaches programs on this computer only. */
  url?: string;
  /** The token of a server with an address. */
  token?: string;
  /** Whether the address may be in a private network. */
  privateNetwork?: boolean;
  /** The program: an absolute path, or a name that is looked up in the daemon's `PATH`. No shell reads it. */
  command?: string;
  /** Its arguments, at most 128. They are shown to whoever reads the server. */
  args?: string[];
  /** Variables it gets beside the usual ones, at most 64. Their values are kept as secrets and never shown. */
  env?: {
    [k: string]: string;
  };
  /** What people call it, 1 to 120 characters; what the server calls itself, else the command's name, unless given. */
  name?: string;
  /** Whether to wait, for 10 s at most, until its tools are listed; so unless given. `false` answers at once. */
  wait?: boolean;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** The answer to `mcp/server/add`. */
export interface ServerAdded {
  /** The server. */
  server: Server;
  /** What it offers, where it was listed in time. */
  review?: ServerReview;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** What a server offers, beside what its owner approved of it. */
export interface ServerReview {
  /** Which server. */
  serverId: ServerId;
  /** SHA-256 of all that is reviewed: `mcp/review/submit` names it, so that nothing is approved that was not seen. */
  digest: string;
  /** The origins the server may be reached at. */
  origins: string[];
  /** How many tools were not looked at: beyond the first 512, or without a name that can be shown. */
  ignoredTools: number;
  /** The tools, in the order of their names. */
  tools: ReviewTool[];
}
/** A server after a change. */
export interface ServerChanged {
  /** The server. */
  server: Server;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** Parameters of `mcp/server/list`. */
export interface ServerListParams {
  /** Where the page begins; absent: at the start. */
  cursor?: string;
  /** How many at most; 100 unless given, 1,000 at most. */
  limit?: number;
}
/** One page of a list. */
export interface ServerPage {
  /** The items, at most `limit` of them and at most 262,144 characters, the first one always included. */
  items: Server[];
  /** Where the next page begins; absent on the last. */
  nextCursor?: string;
  /** Whether something was left out that no further page has. */
  truncated?: boolean;
}
/** Names a server. */
export interface ServerParams {
  /** Which one. */
  serverId: ServerId;
}
/** Parameters of `mcp/server/remove`. */
export interface ServerRemoveParams {
  /** Which one. */
  serverId: ServerId;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The revision this change is based on. */
  expectedRevision?: number;
}
/** Parameters of `mcp/server/restart`. */
export interface ServerRestartParams {
  /** Which one. */
  serverId: ServerId;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** The answer to `mcp/server/read`. */
export interface ServerResult {
  /** The server. */
  server: Server;
}
/** Parameters of `mcp/review/submit`. */
export interface ServerReviewSubmitParams {
  /** Which server. */
  serverId: ServerId;
  /** The digest of the review that was read. */
  digest: string;
  /** The names of the tools to approve, as they are at the server. */
  tools: string[];
  /** Whether the server's word is taken for which of its tools only read; as it was, unless given. */
  trusted?: boolean;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** The answer to `mcp/review/submit`. */
export interface ServerReviewSubmitted {
  /** The server. */
  server: Server;
  /** The review after it. */
  review: ServerReview;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** The answer to `mcp/review/read` and `mcp/review/check`. */
export interface ServerReviewed {
  /** The review. */
  review: ServerReview;
}
/** How a server stands. */
export interface ServerStanding {
  /** Which server. */
  serverId: ServerId;
  /** How it stands. */
  state: ServerState;
  /** Since when, as in the server. */
  since?: string;
  /** Why, as in the server. */
  reason?: string;
  /** How many of its tools stand how. */
  counts: ServerCounts;
}
/** Parameters of `mcp/server/status`. */
export interface ServerStatusParams {
  /** Which one; absent: all. */
  serverId?: ServerId;
}
/** The answer to `mcp/server/status`. */
export interface ServerStatuses {
  /** How each stands, in the order of `mcp/server/list`. */
  items: ServerStanding[];
}
/** Parameters of `mcp/server/update`. */
export interface ServerUpdateParams {
  /** Which one. */
  serverId: ServerId;
  /** What people call it, 1 to 120 characters. The names of its tools stay. */
  name?: string;
  /** Whether runs may use it. */
  enabled?: boolean;
  /** Whether its word is taken for which of its tools only read. */
  trusted?: boolean;
  /** Whether its address may be in a private network; a program has none. */
  privateNetwork?: boolean;
  /** Its arguments, in place of those there were. */
  args?: string[];
  /** Its variables, in place of those there were; `{}` takes all away. */
  env?: {
    [k: string]: string;
  };
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The revision this change is based on. */
  expectedRevision?: number;
}
/** The settings of the daemon. */
export interface Settings {
  /** The endpoint of threads and projects that name none. */
  defaultEndpointId?: EndpointId;
  /** How long a client tool may be silent, unless it says otherwise. */
  toolSilenceMs: number;
  /** How long a tool call may take in all; up to 3,600,000. */
  toolCeilingMs: number;
  /** How long an approval waits; absent: for ever. */
  approvalMs?: number;
  /** How long a question waits; absent: for ever. */
  inputMs?: number;
  /** How long a call waits for its owner to come back. */
  ownerGraceMs: number;
  /** How long a client that lost its connection still counts as attached. */
  approverGraceMs: number;
  /** Tool calls one run may make. */
  runMaxToolCalls?: number;
  /** Tokens one run may use. */
  runMaxTokens?: number;
  /** Milliseconds one run may take. */
  runMaxMs?: number;
  /** Subtasks at work at once. */
  subtaskRuns: number;
  /**
   * After how long without work or clients the daemon exits; absent: as it was started, which is after 15 minutes for one a client started, else never.
   */
  idleExitMs?: number;
  /** Where keys are kept; read only. */
  secretStore: SecretStore;
  /** Why it is the weaker place, or what else is not as it should be, for a person; read only. */
  secretStoreReason?: string;
  /** The revision. */
  revision: number;
}
/** The answer to `settings/update`. */
export interface SettingsChanged {
  /** The settings. */
  settings: Settings;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** The answer to `settings/read`. */
export interface SettingsResult {
  /** The settings. */
  settings: Settings;
}
/** Parameters of `settings/update`: what is named is set, null clears. */
export interface SettingsUpdateParams {
  /** See `Settings`. */
  defaultEndpointId?: EndpointId | null;
  /** 1,000 to 3,600,000. */
  toolSilenceMs?: number;
  /** 1,000 to 3,600,000. */
  toolCeilingMs?: number;
  /** 1,000 to 604,800,000, or null: for ever. */
  approvalMs?: number | null;
  /** 1,000 to 604,800,000, or null: for ever. */
  inputMs?: number | null;
  /** 0 to 600,000. */
  ownerGraceMs?: number;
  /** 0 to 600,000. */
  approverGraceMs?: number;
  /** From 1, or null: no limit. */
  runMaxToolCalls?: number | null;
  /** From 1, or null: no limit. */
  runMaxTokens?: number | null;
  /** From 1,000, or null: no limit. */
  runMaxMs?: number | null;
  /** 1 to 256. */
  subtaskRuns?: number;
  /** From 1,000, or null: as the daemon was started. */
  idleExitMs?: number | null;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The revision this change is based on. */
  expectedRevision?: number;
}
/** Parameters of `daemon/shutdown`. */
export interface ShutdownParams {
  /** How long requests and calls under way may take to end; 10,000 unless given. */
  graceMs?: number;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** A thread as it is at one sequence number, without its past. */
export interface Snapshot {
  /** The thread. */
  thread: Thread;
  /** Its branches. */
  branches: Branch[];
  /** What waits on each of them. */
  queues: {
    [k: string]: QueueView;
  };
  /** Runs that have not ended. */
  runs: Run[];
  /** Items that are open. */
  openItems: Item[];
  /** Interactions that are open. */
  interactions: Interaction[];
  /** The effective tools. */
  tools: Tool[];
}
/** A tool as a thread has it now. */
export interface Tool {
  /** Its model-facing name: one to one, at most 64 of `[A-Za-z0-9_-]`. */
  flatName: string;
  /** Its name at its source. */
  name: string;
  /** Its namespace. */
  namespace?: string;
  /** What people call it. */
  title?: string;
  /** What the model is told about it. */
  description: string;
  /** What it does to the world. */
  annotations: Annotations;
  /** Its source: `app`, `files`, a server id, `client:NAME`. */
  source: string;
  /** What kind of source. */
  sourceKind: SourceKind;
  /** What people call the source. */
  sourceName: string;
  /** The client process that holds its handler. */
  owner?: ClientRef;
  /** Whether it can be called. */
  state: ToolState;
  /** Why not. */
  reason?: string;
  /** SHA-256 over its schemas and annotations; rules and approvals bind to it. */
  digest: string;
  /** What the rules say of it. */
  policy: EffectivePolicy;
  /** Why they say so, in a few words. */
  why: string;
  /** JSON Schema of its arguments; with `schemas: true` only. */
  inputSchema?: unknown;
  /** JSON Schema of its structured results; with `schemas: true` only. */
  outputSchema?: unknown;
}
/** The answer to `thread/subscribe`. */
export interface Subscribed {
  /** The last event of the thread. */
  seq: number;
}
/** Parameters of `thread/archive`. */
export interface ThreadArchiveParams {
  /** Which thread. */
  threadId: ThreadId;
  /** Whether it is archived; it is, unless this is false. */
  archived?: boolean;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The revision this change is based on. */
  expectedRevision?: number;
}
/** A thread after a change. */
export interface ThreadChanged {
  /** The thread. */
  thread: Thread;
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** Parameters of `thread/delete`. */
export interface ThreadDeleteParams {
  /** Which thread. */
  threadId: ThreadId;
  /** Whether it is only said what would go; not, unless this is true. */
  dryRun?: boolean;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The revision this change is based on. */
  expectedRevision?: number;
}
/** Parameters of `thread/events`. */
export interface ThreadEventsParams {
  /** Which thread. */
  threadId: ThreadId;
  /** The last event this client has seen; 0 for none. */
  after: number;
  /** How many at most; 100 unless given, 1,000 at most. */
  limit?: number;
  /** How long to wait for a first event when there is none, at most 600,000. */
  waitMs?: number;
}
/** Parameters of `thread/list`. */
export interface ThreadListParams {
  /** Only threads of this project. */
  projectId?: ProjectId;
  /** The archived ones instead of the others. */
  archived?: boolean;
  /** The order: by last activity unless given. */
  sort?: ThreadSort;
  /** Where the page begins; absent: at the start. */
  cursor?: string;
  /** How many at most; 100 unless given, 1,000 at most. */
  limit?: number;
}
/** Parameters of `thread/markRead`. */
export interface ThreadMarkReadParams {
  /** Which thread. */
  threadId: ThreadId;
  /** Which branch was read; all of them unless given. */
  branchId?: BranchId;
  /** The last event that was read. What nobody has seen after it stays unread. */
  seq: number;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** Parameters of `thread/messages`. */
export interface ThreadMessagesParams {
  /** Which thread. */
  threadId: ThreadId;
  /** Which branch; the original one unless given. */
  branchId?: BranchId;
  /** Where the page begins; absent: at the head. */
  cursor?: string;
  /** How many at most; 100 unless given, 1,000 at most. */
  limit?: number;
}
/** One page of a list. */
export interface ThreadPage {
  /** The items, at most `limit` of them and at most 262,144 characters, the first one always included. */
  items: Thread[];
  /** Where the next page begins; absent on the last. */
  nextCursor?: string;
  /** Whether something was left out that no further page has. */
  truncated?: boolean;
}
/** Names a thread. */
export interface ThreadParams {
  /** Which one. */
  threadId: ThreadId;
}
/** The answer to `thread/read`. */
export interface ThreadResult {
  /** The thread. */
  thread: Thread;
}
/** Parameters of `thread/resume`. */
export interface ThreadResumeParams {
  /** Which thread. */
  threadId: ThreadId;
  /**
   * Tools of this client. Absent keeps what this instance has declared and binds it to this connection, an empty list clears it, any other replaces it.
   */
  tools?: ToolDeclaration[];
  /** The last event this client has seen: it is sent every one after it. Absent: a snapshot. */
  after?: number;
  /** Whether names bound by another client instance are taken over. */
  takeover?: boolean;
  /** Whether this connection is sent its events; it is, unless this is false. */
  subscribe?: boolean;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** A client tool as it is declared. Closed: an unknown field is an error with its path. */
export interface ToolDeclaration {
  /** A group for tools that belong together, `[A-Za-z0-9_-]{1,64}`. */
  namespace?: string;
  /** What the group is for; the same in all declarations of one namespace that have it. */
  namespaceDescription?: string;
  /** The tool's name, `[A-Za-z0-9_-]{1,64}`. The model sees `namespace__name`, or `name` without a namespace. */
  name: string;
  /** What the model is told about it, at most 2,048 characters. */
  description: string;
  /** JSON Schema of its arguments; its type is object. */
  inputSchema: unknown;
  /** JSON Schema of `structuredContent` in its results. */
  outputSchema?: unknown;
  /** What it does to the world. */
  annotations?: DeclaredAnnotations;
  /** What people call it. */
  title?: string;
  /** How long a call may be silent, 1,000 to 3,600,000 ms; 120,000 unless given. */
  timeoutMs?: number;
  /** Whether a person is asked before each call when no rule says otherwise; not asked unless given. */
  approval?: ApprovalWish;
}
/** The answer to `thread/resume`. */
export interface ThreadResumed {
  /** The thread. */
  thread: Thread;
  /** Its last event. */
  seq: number;
  /** The thread as it is at `seq`; only without `after`. */
  snapshot?: Snapshot;
  /** The effective tools, without schemas. */
  tools: Tool[];
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** Parameters of `thread/search`. */
export interface ThreadSearchParams {
  /** What to look for within the text of one message. */
  query: string;
  /**
   * Whether the query is a regular expression, matched in linear time: without lookaround and backreferences. Literal unless given.
   */
  isRegex?: boolean;
  /** Whether letters match whatever their case; they do unless given. */
  ignoreCase?: boolean;
  /** Whose messages are looked at; those of users and of models unless given. */
  roles?: Role[];
  /** Only threads of this project. */
  projectId?: ProjectId;
  /** Only this thread. */
  threadId?: ThreadId;
  /** Only the chain of this branch of the thread. */
  branchId?: BranchId;
  /** Where the search goes on. It is good for the same query, roles and scope only. */
  cursor?: string;
  /** How many hits at most; 100 unless given, 1,000 at most. */
  limit?: number;
}
/** Parameters of `thread/start`. */
export interface ThreadStartParams {
  /** The project it lives in; the default one unless given. */
  projectId?: ProjectId;
  /** Its title, 1 to 200 characters. */
  title?: string;
  /** The endpoint of its runs. */
  endpointId?: EndpointId;
  /** What its runs are told beside the project's instructions, at most 32,000 characters. */
  instructions?: string;
  /** Tools of this client. */
  tools?: ToolDeclaration[];
  /** The app agent it runs. */
  agent?: AgentRef;
  /** Where it comes from. Stored, gives no authority. */
  origin?: OriginParams;
  /** Whether this connection is sent its events; it is, unless this is false. */
  subscribe?: boolean;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
}
/** The answer to `thread/start`. */
export interface ThreadStarted {
  /** The thread. */
  thread: Thread;
  /** Its last event; this connection is sent what comes after. */
  seq: number;
  /** The effective tools, without schemas. */
  tools: Tool[];
  /** Whether this is the stored answer of an operation that was asked for before. */
  replayed: boolean;
}
/** Parameters of `thread/subscribe`. */
export interface ThreadSubscribeParams {
  /** Which thread. */
  threadId: ThreadId;
  /** The last event this client has seen; absent: only what comes now. */
  after?: number;
}
/** Parameters of `thread/tools`. */
export interface ThreadToolsParams {
  /** Which thread. */
  threadId: ThreadId;
  /** Whether schemas are wanted; not, unless this is true. */
  schemas?: boolean;
}
/** Parameters of `thread/unsubscribed`. */
export interface ThreadUnsubscribedParams {
  /** The thread. */
  threadId: ThreadId;
  /** The last durable event that this connection was sent of it, or behind which it began: there may be more. */
  after: number;
  /** Why: `notFound` for a thread that was deleted, `unavailable` with its reason for a log that cannot be read. */
  error: RpcError;
}
/** Parameters of `thread/update`. */
export interface ThreadUpdateParams {
  /** Which thread. */
  threadId: ThreadId;
  /** Its title, 1 to 200 characters. */
  title?: string | null;
  /** Whether it is pinned. */
  pinned?: boolean;
  /** The endpoint of its runs. */
  endpointId?: EndpointId | null;
  /** Makes a repeat recognisable. */
  operationId?: OperationId;
  /** The revision this change is based on. */
  expectedRevision?: number;
}
/** The answer to `tool/call`. Closed: an unknown field makes it an invalid result. */
export interface ToolCallAnswer {
  /** Whether the tool did what it was asked. */
  success: boolean;
  /** What the model is told; at least one item on success. */
  contentItems?: ResultPart[];
  /** Data for clients; never enters the model's context. */
  structuredContent?: unknown;
  /** What went wrong, in a stable word; needed on failure. */
  errorCode?: string;
  /** What went wrong, in a sentence; needed on failure. */
  errorMessage?: string;
}
/** The tools of a thread. */
export interface ToolList {
  /** The tools. */
  items: Tool[];
}
/** Parameters of `tool/progress`. */
export interface ToolProgressParams {
  /** Which call. */
  interactionId: InteractionId;
  /** What it is doing, at most 500 characters. */
  message?: string;
  /** How far it has come, from 0 to 1. */
  fraction?: number;
}

/** What a client asks the daemon. */
export interface DaemonMethods {
  /** The handshake: the first request of every connection. */
  initialize: { params: InitializeParams; result: Initialized };
  /** How the daemon is. */
  "daemon/status": { params: Empty; result: DaemonState };
  /** Stop taking work, park what runs, write everything down and exit. */
  "daemon/shutdown": { params: ShutdownParams; result: Empty };
  /** Write everything but the secrets into one new file, as it is at one moment, while work goes on. */
  "daemon/backup": { params: BackupParams; result: BackupResult };
  /** Hold the index against the logs, and read every log and every payload, while work goes on. */
  "daemon/check": { params: Empty; result: CheckResult };
  /** Make a project. */
  "project/create": { params: ProjectCreateParams; result: ProjectChanged };
  /** A project with its grants and policies. */
  "project/read": { params: ProjectParams; result: ProjectResult };
  /** The projects, in the order of their ids. */
  "project/list": { params: ListParams; result: ProjectPage };
  /** Change a project: what is named is set, null clears. */
  "project/update": { params: ProjectUpdateParams; result: ProjectChanged };
  /** The project of a directory, made with a read and write grant on it if there is none yet. */
  "project/ensure": { params: ProjectEnsureParams; result: ProjectEnsured };
  /** Delete a project for good, with its threads, its grants and its rules. Files in its directories stay. */
  "project/delete": { params: ProjectDeleteParams; result: Removed };
  /** Grant a project a directory. */
  "grant/add": { params: GrantAddParams; result: GrantChanged };
  /** Take a grant back. */
  "grant/remove": { params: GrantRemoveParams; result: Removed };
  /** The grants of a project. */
  "grant/list": { params: GrantListParams; result: GrantPage };
  /** Set a rule. There is one for each level, owner of the level, tool or source, principal and connection: a second one replaces the first under its id. */
  "policy/set": { params: PolicySetParams; result: PolicyChanged };
  /** Take a rule back. */
  "policy/remove": { params: PolicyRemoveParams; result: Removed };
  /** The rules, in the order of their ids. */
  "policy/list": { params: PolicyListParams; result: PolicyPage };
  /** Start a thread, declare tools for it and subscribe to it. */
  "thread/start": { params: ThreadStartParams; result: ThreadStarted };
  /** Attach to a thread: its snapshot, or what came after an event; then live events and open interactions. */
  "thread/resume": { params: ThreadResumeParams; result: ThreadResumed };
  /** The header of a thread and its branches. */
  "thread/read": { params: ThreadParams; result: ThreadResult };
  /** The threads, newest first. */
  "thread/list": { params: ThreadListParams; result: ThreadPage };
  /** Change the header of a thread: what is named is set, null clears. */
  "thread/update": { params: ThreadUpdateParams; result: ThreadChanged };
  /** Archive a thread, or take it back. */
  "thread/archive": { params: ThreadArchiveParams; result: ThreadChanged };
  /** The chain of a branch from head to root: exactly what the model sees. */
  "thread/messages": { params: ThreadMessagesParams; result: MessagePage };
  /** The events of a thread after one: pull what `thread/resume` pushes. */
  "thread/events": { params: ThreadEventsParams; result: EventPage };
  /** Look for a text in the messages of all threads, or of some: one hit for each message that has it, in the order of project, thread and message. A page with `nextCursor` may be empty: it ends after so many messages were looked at. */
  "thread/search": { params: ThreadSearchParams; result: SearchHitPage };
  /** Be sent the events of a thread, without binding tools. */
  "thread/subscribe": { params: ThreadSubscribeParams; result: Subscribed };
  /** Be sent them no more, and no longer count as attached. */
  "thread/unsubscribe": { params: ThreadParams; result: Empty };
  /** The effective tools of a thread, in the order of their flat names. */
  "thread/tools": { params: ThreadToolsParams; result: ToolList };
  /** Delete a thread for good: its runs are stopped, and nothing of it is kept. */
  "thread/delete": { params: ThreadDeleteParams; result: Removed };
  /** Say that somebody has read what happened up to an event. */
  "thread/markRead": { params: ThreadMarkReadParams; result: ThreadChanged };
  /** The completed items of a branch or a run, newest first. Events after `seq` continue it. */
  "item/list": { params: ItemListParams; result: ItemPage };
  /** An item, completed or still open. */
  "item/read": { params: ItemReadParams; result: ItemResult };
  /** Submit input. Durable before the answer, which comes before any event of the run on this connection. */
  "run/submit": { params: RunSubmitParams; result: RunSubmitted };
  /** Stop a run. Idempotent, and always answered. */
  "run/stop": { params: RunStopParams; result: RunStopped };
  /** Wait until a run has ended, or until it needs a person. A timeout is no error. */
  "run/wait": { params: RunWaitParams; result: RunWaited };
  /** A run. */
  "run/read": { params: RunParams; result: RunResult };
  /** The runs, newest first. */
  "run/list": { params: RunListParams; result: RunPage };
  /** Leave a bad end as it is and release what waits behind it. */
  "run/skip": { params: RunSkipParams; result: RunSkipped };
  /** Let a paused run go on under its id, or continue one that has ended badly from its last stored step, by a new run. */
  "run/resume": { params: RunRecoverParams; result: RunRecovered };
  /** The branches of a thread, by id. */
  "branch/list": { params: BranchListParams; result: BranchPage };
  /** Change the title of a branch: null clears it. It compares no revision, since a title conflicts with nothing. */
  "branch/update": { params: BranchUpdateParams; result: BranchChanged };
  /** Delete a branch: its run is stopped, what waits on it is dropped, and branches forked from it stay. */
  "branch/delete": { params: BranchDeleteParams; result: Removed };
  /** Give the input of a run that has ended badly once more, by a new run. What came of it leaves the chain and stays in the log. */
  "run/retry": { params: RunRecoverParams; result: RunRecovered };
  /** Put an input whose parent is gone on the head of its branch, by a new run. */
  "run/rebase": { params: RunRecoverParams; result: RunRecovered };
  /** What waits on a branch. */
  "queue/list": { params: QueueListParams; result: Queue };
  /** Give an input that waits other words. It keeps its place, its message and its run. */
  "queue/update": { params: QueueUpdateParams; result: QueueEdited };
  /** Take back an input that waits. A held branch with nothing waiting any more is released. */
  "queue/remove": { params: QueueRemoveParams; result: QueueEdited };
  /** Take back all that waits and may be changed. */
  "queue/clear": { params: QueueClearParams; result: QueueEdited };
  /** Put what waits into another order, which names each input once. */
  "queue/reorder": { params: QueueReorderParams; result: QueueEdited };
  /** The interactions, oldest first; the open ones unless told otherwise. */
  "interaction/list": { params: InteractionListParams; result: InteractionPage };
  /** Answer an interaction. The first valid answer counts. */
  "interaction/settle": { params: InteractionSettleParams; result: InteractionAnswered };
  /** What the next request of a branch would be made of: every layer, and how much of the window each part takes. */
  "context/preview": { params: ContextPreviewParams; result: ContextPreviewed };
  /** A part of a payload that was cut from what the model saw: the `blob` of an item. */
  "blob/read": { params: BlobReadParams; result: BlobPart };
  /** Make an endpoint (name, provider and model needed), or change what is named of an existing one. A change of provider or address removes its key. */
  "endpoint/set": { params: EndpointSetParams; result: EndpointChanged };
  /** Remove an endpoint and its key. */
  "endpoint/remove": { params: EndpointRemoveParams; result: Removed };
  /** The endpoints, in the order of their ids. */
  "endpoint/list": { params: ListParams; result: EndpointPage };
  /** Send an endpoint a short request and see whether it answers. */
  "endpoint/test": { params: EndpointTestParams; result: EndpointTested };
  /** Store the key of an endpoint. It is never read back. */
  "secret/set": { params: SecretSetParams; result: EndpointChanged };
  /** Forget the key of an endpoint. */
  "secret/remove": { params: SecretRemoveParams; result: Removed };
  /** The settings of the daemon. */
  "settings/read": { params: Empty; result: SettingsResult };
  /** Change settings: what is named is set, null clears. */
  "settings/update": { params: SettingsUpdateParams; result: SettingsChanged };
  /** Add an MCP server that is a program on this computer, connect to it and list its tools. None of them can be used before a review is submitted. A server that cannot be started is added all the same, with its state. */
  "mcp/server/add": { params: ServerAddParams; result: ServerAdded };
  /** The servers: `app` and `files`, which are part of the daemon, then those that were added, in the order of their ids. */
  "mcp/server/list": { params: ServerListParams; result: ServerPage };
  /** A server, with the last of what its process said on stderr. */
  "mcp/server/read": { params: ServerParams; result: ServerResult };
  /** How servers stand: all of them, or one. */
  "mcp/server/status": { params: ServerStatusParams; result: ServerStatuses };
  /** Change what is named of a server. Its command stays: another command is another server. Of the servers that are part of the daemon only `enabled` can be changed. */
  "mcp/server/update": { params: ServerUpdateParams; result: ServerChanged };
  /** Close a server and open it again. The answer says how it stands then; it is waited for, for 10 s at most. Those that are part of the daemon are only closed, and opened by their next use. */
  "mcp/server/restart": { params: ServerRestartParams; result: ServerChanged };
  /** Remove a server, with the values of its environment and every rule about it. Not one that is part of the daemon. */
  "mcp/server/remove": { params: ServerRemoveParams; result: Removed };
  /** What a server offers beside what was approved of it, as it was last listed. */
  "mcp/review/read": { params: ServerParams; result: ServerReviewed };
  /** The same, after asking the server. */
  "mcp/review/check": { params: ServerParams; result: ServerReviewed };
  /** Approve the named tools as the review with this digest shows them, and no others: what is not named is cleared. A tool that has changed goes back to its default level. */
  "mcp/review/submit": { params: ServerReviewSubmitParams; result: ServerReviewSubmitted };
}

/** What the daemon asks a client. */
export interface ClientMethods {
  /** Run a tool whose handler lives in this client. */
  "tool/call": { params: ToolCallRequest; result: ToolCallAnswer };
  /** Ask the person for a decision. */
  "approval/request": { params: ApprovalRequest; result: ApprovalAnswer };
  /** Ask the person questions. */
  "input/request": { params: InputRequest; result: InputAnswer };
}

/** Every method, in both directions. */
export type Methods = DaemonMethods & ClientMethods;

/** What a client tells the daemon. */
export interface DaemonNotifications {
  /** A tool's handler shows life: the silence of its call starts anew. */
  "tool/progress": ToolProgressParams;
  /** End a waiting request with `cancelled`; ignored for the rest. */
  "$/cancelRequest": CancelRequestParams;
}

/** What the daemon tells a client. */
export interface ClientNotifications {
  /** Something happened in a thread this connection is subscribed to. */
  "thread/event": ThreadEvent;
  /** This connection follows a thread no more, without having asked for that: the thread was deleted, or its log cannot be read. No event of it comes after this, unless it is subscribed to again. */
  "thread/unsubscribed": ThreadUnsubscribedParams;
  /** Lists may have changed; at most one per 250 ms and connection. */
  "data/changed": DataChangedParams;
  /** Show something; to clients with the `navigation` capability, newest only. */
  navigate: NavigateParams;
  /** An interaction this client was offered is over: stop working on it, close the prompt. To the one that answered it is the acknowledgement. */
  "interaction/settled": InteractionSettledParams;
  /** The answer this client gave as a response was refused; the same request follows with a higher attempt. */
  "interaction/invalidAnswer": InteractionInvalidAnswerParams;
}

/** Every notification, in both directions. */
export type Notifications = DaemonNotifications & ClientNotifications;

/** The version of the protocol these types describe. */
export const protocolVersion = 1 as const;

/** The digest of the bundle these types were made from: what a daemon of the same version answers in its handshake. */
export const schemaHash = "d2b4c9e877d1461c8fabb6a02466b293bb35ccb0be758548146bebdb3f6f578d" as const;

/** The kinds of errors and their JSON-RPC codes. */
export const errorCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  overloaded: -32001,
  notInitialized: -32002,
  alreadyInitialized: -32003,
  unsupportedProtocol: -32004,
  notFound: -32005,
  conflict: -32006,
  idempotencyConflict: -32007,
  forbidden: -32008,
  alreadySettled: -32009,
  invalidState: -32010,
  tooLarge: -32011,
  unavailable: -32012,
  timeout: -32013,
  cancelled: -32014,
  shuttingDown: -32015,
} as const;

/** The stable name of an error. */
export type ErrorKind = keyof typeof errorCodes;

/** The limits of a daemon of this version; `initialize` tells those of the one at hand. */
export const limits = {
  maxMessageBytes: 16777216,
  maxDepth: 100,
  maxConnections: 256,
  maxInFlight: 64,
  maxWaiting: 64,
  maxBatch: 100,
  queueEntries: 1000,
  pageItems: 1000,
  pageCharacters: 262144,
  searchMessages: 20000,
  fragmentCharacters: 160,
  inputParts: 32,
  imageBytes: 5242880,
  toolsPerClient: 128,
  schemaBytes: 65536,
  schemaLevels: 64,
  descriptionCharacters: 2048,
  toolCallsPerMessage: 1024,
  argumentCharacters: 65536,
  resultCharacters: 262144,
  blobBytes: 67108864,
  subscriptions: 1024,
  outboxBytes: 65536,
  operationRetentionMs: 86400000,
} as const;

/** The methods a client of this version knows. */
export const daemonMethods = [
  "initialize",
  "daemon/status",
  "daemon/shutdown",
  "daemon/backup",
  "daemon/check",
  "project/create",
  "project/read",
  "project/list",
  "project/update",
  "project/ensure",
  "project/delete",
  "grant/add",
  "grant/remove",
  "grant/list",
  "policy/set",
  "policy/remove",
  "policy/list",
  "thread/start",
  "thread/resume",
  "thread/read",
  "thread/list",
  "thread/update",
  "thread/archive",
  "thread/messages",
  "thread/events",
  "thread/search",
  "thread/subscribe",
  "thread/unsubscribe",
  "thread/tools",
  "thread/delete",
  "thread/markRead",
  "item/list",
  "item/read",
  "run/submit",
  "run/stop",
  "run/wait",
  "run/read",
  "run/list",
  "run/skip",
  "run/resume",
  "branch/list",
  "branch/update",
  "branch/delete",
  "run/retry",
  "run/rebase",
  "queue/list",
  "queue/update",
  "queue/remove",
  "queue/clear",
  "queue/reorder",
  "interaction/list",
  "interaction/settle",
  "context/preview",
  "blob/read",
  "endpoint/set",
  "endpoint/remove",
  "endpoint/list",
  "endpoint/test",
  "secret/set",
  "secret/remove",
  "settings/read",
  "settings/update",
  "mcp/server/add",
  "mcp/server/list",
  "mcp/server/read",
  "mcp/server/status",
  "mcp/server/update",
  "mcp/server/restart",
  "mcp/server/remove",
  "mcp/review/read",
  "mcp/review/check",
  "mcp/review/submit",
] as const;

/** The methods that take an `operationId`. */
export const mutatingMethods = [
  "daemon/shutdown",
  "project/create",
  "project/update",
  "project/ensure",
  "project/delete",
  "grant/add",
  "grant/remove",
  "policy/set",
  "policy/remove",
  "thread/start",
  "thread/resume",
  "thread/update",
  "thread/archive",
  "thread/delete",
  "thread/markRead",
  "run/submit",
  "run/stop",
  "run/skip",
  "run/resume",
  "branch/update",
  "branch/delete",
  "run/retry",
  "run/rebase",
  "queue/update",
  "queue/remove",
  "queue/clear",
  "queue/reorder",
  "interaction/settle",
  "endpoint/set",
  "endpoint/remove",
  "secret/set",
  "secret/remove",
  "settings/update",
  "mcp/server/add",
  "mcp/server/update",
  "mcp/server/restart",
  "mcp/server/remove",
  "mcp/review/submit",
] as const;
