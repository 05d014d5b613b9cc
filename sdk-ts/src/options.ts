// Becoming a client: who it is, what it can do for the daemon, and where the daemon is.

import { isObject } from "./base/json.js";
import { kindOf } from "./duties/fence.js";
import type { ApprovalHandler, ChangeHandler, InputHandler, WarningHandler } from "./duties/handlers.js";
import { clientName } from "./environment.js";
import { localError } from "./errors.js";
import type { InitializeParams, InstanceId } from "./generated/protocol.js";
import { protocolVersion } from "./generated/protocol.js";
import { version } from "./version.js";

/**
 * What a client is, whatever it runs over.
 *
 * **Register `onApproval` in every program that has somebody to ask.** Without it the client does not say that it can approve, and
 * a call that needs approval ends as `undeliverable` when no other client can be asked.
 */
export interface ClientOptions {
  /** Who the client is. */
  client?: {
    /**
     * Its name, `[A-Za-z0-9._-]{1,64}`; that of the script unless given. Its tools have the source `client:NAME`, so a name that
     * stays the same keeps the rules people set for them.
     */
    name?: string;
    /** Its version; that of this SDK unless given. */
    version?: string;
    /**
     * Which process this is; a fresh one for each client unless given. Whoever has the same id and the handlers of the same tools
     * takes up what this client leaves.
     */
    instanceId?: InstanceId;
  };
  /**
   * A directory to work in: threads start in its project unless they name another. The project is made when there is none, with a
   * read and write grant on the directory. A relative path is relative to the current directory.
   */
  workspace?: string;
  /**
   * Decides when a call needs approval. With it the client says that it can approve, without it it does not. It returns a decision,
   * an `ApprovalAnswer` with a note or scope, or nothing, which means that this client cannot decide. A throw counts as nothing; no
   * decision is ever made up.
   *
   * ```ts
   * onApproval: async ({ summary }, { signal }) => ((await ask(`${summary}?`, signal)) ? "accept" : "decline"),
   * ```
   */
  onApproval?: ApprovalHandler;
  /** Answers when a tool asks questions. As `onApproval`. */
  onInput?: InputHandler;
  /** Makes connecting fail with `missingHandler`, before anything is sent, when there is no `onApproval`. */
  requireApprovals?: boolean;
  /** Makes connecting fail with `missingHandler`, before anything is sent, when there is no `onInput`. */
  requireInput?: boolean;
  /**
   * Is told that lists may have changed, at most every 250 ms. After a lost connection was made again it is called for all kinds,
   * without ids and with `seq` 0, since nobody knows what changed meanwhile. The daemon sends this to those alone who ask.
   */
  onChange?: ChangeHandler;
  /**
   * Is told what went wrong without anybody waiting for it: a handler that threw, an answer that was refused, a thread that could
   * not be taken up again, tools that another process took. Unless given, `process.emitWarning` is.
   */
  onWarning?: WarningHandler;
  /** What the daemon does not send. */
  optOut?: readonly ("itemDelta" | "toolProgress")[];
  /**
   * How long a call waits for its answer, beside the waiting it asks for itself and the time without a connection; 60,000 unless
   * given.
   */
  callTimeoutMs?: number;
  /** How long the handshake may take; 10,000 unless given. */
  initializeTimeoutMs?: number;
  /**
   * For how long a connection that was lost is tried to be made again; 120,000 unless given. 0 does not try, `Infinity` does not
   * give up.
   *
   * The first attempt comes at once, the others after pauses from 50 ms that grow to 5 s. From the second on a daemon is started
   * where `start` allows it. When the time is over the client has ended, and whatever waits fails with `reconnectFailed`; it ends
   * at once when the daemon that is there now refuses it, with `unsupportedProtocol` for instance. A connection that is lost again
   * within 10 s does not begin the time anew.
   */
  reconnectForMs?: number;
}

/** How the daemon of this user is reached. */
export interface ConnectOptions extends ClientOptions {
  /** The daemon's home; `$ROPEWALK_HOME`, else the platform's state directory, unless given. */
  home?: string;
  /**
   * The daemon's socket, on Windows its pipe (`\\.\pipe\…`); `$ROPEWALK_SOCKET`, else the one that belongs to the home, unless
   * given.
   */
  socket?: string;
  /**
   * Whether a daemon is started when none runs; it is, unless this is false. `$ROPEWALK_BIN` is started, else `ropewalk` beside the
   * own executable, else the one in `PATH`. It ends after 15 minutes without work.
   */
  start?: boolean;
  /** How long a started daemon may take to be ready; 30,000 unless given. */
  startTimeoutMs?: number;
}

/** Options that were looked at. */
export interface Checked {
  readonly name: string;
  readonly callTimeoutMs: number;
  readonly initializeTimeoutMs: number;
  readonly reconnectForMs: number;
  readonly startTimeoutMs: number;
}

/** What can be known to be wrong before anything is sent is thrown: `missingHandler` and `invalidOption`. */
export function checkOptions(options: ConnectOptions): Checked {
  checkNames(options, known);
  if (options.requireApprovals && !options.onApproval) throw missingHandler("approvals", "onApproval");
  if (options.requireInput && !options.onInput) throw missingHandler("input", "onInput");
  for (const option of ["onApproval", "onInput", "onChange", "onWarning"] as const) {
    if (options[option] !== undefined && typeof options[option] !== "function")
      throw invalid(option, `it is ${kindOf(options[option])}. Give a function.`);
  }
  checkValues(options);
  const name = options.client?.name ?? clientName();
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) {
    throw invalid("client.name", `\`${name}\` is not 1 to 64 of A to Z, a to z, 0 to 9, \`.\`, \`_\` and \`-\`.`);
  }
  return {
    name,
    callTimeoutMs: duration(options, "callTimeoutMs", 60_000),
    initializeTimeoutMs: duration(options, "initializeTimeoutMs", 10_000),
    reconnectForMs: duration(options, "reconnectForMs", 120_000),
    startTimeoutMs: duration(options, "startTimeoutMs", 30_000),
  };
}

/** Every option there is: a misspelt handler would never be called, and the compiler is not there for everybody. */
const known: Record<keyof ConnectOptions, true> = {
  client: true,
  workspace: true,
  onApproval: true,
  onInput: true,
  requireApprovals: true,
  requireInput: true,
  onChange: true,
  onWarning: true,
  optOut: true,
  callTimeoutMs: true,
  initializeTimeoutMs: true,
  reconnectForMs: true,
  home: true,
  socket: true,
  start: true,
  startTimeoutMs: true,
};

const knownOfClient: Record<keyof NonNullable<ClientOptions["client"]>, true> = {
  name: true,
  version: true,
  instanceId: true,
};

/** Throws `invalidOption` for options that are no object, and for the first that nobody would read. */
export function checkNames(options: unknown, names: Readonly<Record<string, true>>, of = ""): void {
  const itself = of || "options";
  if (!isObject(options)) throw invalid(itself, `they are ${kindOf(options)}. Give an object, or nothing.`);
  const unknown = Object.keys(options).find((option) => !Object.hasOwn(names, option));
  if (unknown === undefined) return;
  const path = of === "" ? unknown : `${of}.${unknown}`;
  throw invalid(path, `there is no such option; there are ${Object.keys(names).join(", ")}.`);
}

function checkValues(options: ConnectOptions): void {
  for (const option of ["home", "socket", "workspace"] as const) {
    const path: unknown = options[option];
    if (path === "") throw invalid(option, "it is empty. Leave it out, or give a path.");
    if (path !== undefined && typeof path !== "string") throw invalid(option, `it is ${kindOf(path)}. Give a path.`);
  }
  for (const option of ["start", "requireApprovals", "requireInput"] as const) {
    const value: unknown = options[option];
    if (value !== undefined && typeof value !== "boolean")
      throw invalid(option, `it is ${kindOf(value)}. Give true or false.`);
  }
  if (options.client !== undefined) checkNames(options.client, knownOfClient, "client");
}

/** What a client says of itself on every connection. */
export function greetingOf(options: ClientOptions, name: string, instanceId: InstanceId): InitializeParams {
  const optOut = [...(options.optOut ?? []), ...(options.onChange ? [] : ["data/changed"])];
  return {
    protocol: { min: protocolVersion, max: protocolVersion },
    client: { name, version: options.client?.version ?? version, instanceId },
    capabilities: { approvals: options.onApproval !== undefined, input: options.onInput !== undefined },
    optOut,
  };
}

type Durations = "callTimeoutMs" | "initializeTimeoutMs" | "reconnectForMs" | "startTimeoutMs";

function duration(options: ConnectOptions, option: Durations, otherwise: number): number {
  const value = options[option] ?? otherwise;
  if (typeof value === "number" && value >= 0) return value;
  throw invalid(option, `${String(value)} is no number of milliseconds from 0 on.`);
}

function missingHandler(capability: "approvals" | "input", option: "onApproval" | "onInput"): Error {
  const message = `The capability ${capability} is required, but there is no \`${option}\`. Give one, or do not require it.`;
  return localError("missingHandler", { capability, option }, message);
}

/** What is said of an option that cannot be used. */
export function invalid(option: string, reason: string): Error {
  return localError("invalidOption", { option, reason }, `${option}: ${reason}`);
}
