// A connected client: typed and raw calls, the nouns, and the one end of it all.

import { resolve } from "node:path";
import { freshId } from "./base/ids.js";
import { quiet, quietly } from "./base/quiet.js";
import { Core } from "./core.js";
import { kindOf } from "./duties/fence.js";
import type { WarningHandler } from "./duties/handlers.js";
import { findPlaces } from "./environment.js";
import { abortedError } from "./errors.js";
import type { DaemonInfo, InstanceId, Limits, Project } from "./generated/protocol.js";
import { call, type CallOptions, send } from "./link/calls.js";
import type { MethodName, MethodParams, MethodResult } from "./link/methods.js";
import { type Connection, overError } from "./link/phase.js";
import { Attentions } from "./nouns/attention.js";
import { Blobs } from "./nouns/blobs.js";
import { Branches } from "./nouns/branches.js";
import { Context } from "./nouns/context.js";
import { Daemon, Settings } from "./nouns/daemon.js";
import { Endpoints, Secrets } from "./nouns/endpoints.js";
import { Interactions } from "./nouns/interactions.js";
import { Items } from "./nouns/items.js";
import { Instructions, Memory } from "./nouns/memory.js";
import type { Ask } from "./nouns/noun.js";
import { Policies } from "./nouns/policies.js";
import { Grants, Projects } from "./nouns/projects.js";
import { Queue } from "./nouns/queue.js";
import { Runs } from "./nouns/runs.js";
import { ServerReviews, Servers } from "./nouns/servers.js";
import { Threads } from "./nouns/threads.js";
import { checkOptions, type ClientOptions, type ConnectOptions, greetingOf, invalid } from "./options.js";
import type { ByteStream } from "./peer/stream.js";
import { close, connect } from "./recovery/recovery.js";
import { type Dial, givenDial, socketDial, throughDial } from "./transport.js";

/**
 * A client of a daemon, made by {@link Ropewalk.connect}.
 *
 * **A connection that is lost is made again**, by itself, to a daemon that was restarted too. Until then calls and streams wait;
 * afterwards every open thread is attached again behind the last event that was seen, with the tools it had, and what was under way
 * when the connection was lost is asked again, changes under the same operation id, so that they happen once. Handlers go on
 * meanwhile: none is called twice for one call, and its answer is kept until the daemon has it. A program notices nothing but the
 * time, unless it looks at {@link connection}. What is given up, and when, says `reconnectForMs`.
 *
 * **The process ends by itself when it is done.** A client keeps it alive while something of it is under way: a call, a run or
 * stream that somebody waits for, a handler at work, an answer that is not written yet, and connecting and closing themselves. A
 * client that is only there does not, connected or not, and neither do its threads and tools: a program that only serves others
 * waits with {@link untilClosed}.
 *
 * **It ends** with {@link close}, at the end of an `await using` block, or when its connection cannot be made again: then the
 * connection is closed, signals of handlers under way fire, streams end, and pending calls fail with `disconnected` or what the
 * connection met. What was submitted goes on at the daemon. A client that has had the daemon stopped with `daemon.shutdown` does
 * not come back to it.
 *
 * **A call that nobody awaits ends no program**: its rejection is not reported as unhandled, since a connection that is lost for good
 * rejects every call that waits, and a program seldom awaits all of them. One that is awaited rejects as ever.
 *
 * Bounds: 4,096 calls without an answer, beyond which a call fails with `backlog`; 32 MiB waiting to be written, beyond which calls
 * wait for room within their time; 256 events or 1 MiB for each reader, beyond which the log is read; 1,024 answers kept until the
 * daemon has acknowledged them.
 */
export class Ropewalk {
  /** Threads: start one, take one up, list them. */
  readonly threads: Threads;
  /** Runs of any thread. */
  readonly runs: Runs;
  /** What waits on a branch. */
  readonly queue: Queue;
  /** Branches of any thread. */
  readonly branches: Branches;
  /** What happened in threads. */
  readonly items: Items;
  /** What waits for the person, over all threads. */
  readonly attention: Attentions;
  /** What waits for somebody, whoever may settle it. */
  readonly interactions: Interactions;
  /** Model endpoints. */
  readonly endpoints: Endpoints;
  /** Keys of endpoints. */
  readonly secrets: Secrets;
  /** Settings of the daemon. */
  readonly settings: Settings;
  /** Projects. */
  readonly projects: Projects;
  /** Directory grants of projects. */
  readonly grants: Grants;
  /** Rules for tools. */
  readonly policies: Policies;
  /** Memory: entries that runs to come are shown. */
  readonly memory: Memory;
  /** The instructions of projects as documents of their own. */
  readonly instructions: Instructions;
  /** MCP servers. */
  readonly servers: Servers;
  /** Reviews of what MCP servers offer. */
  readonly serverReviews: ServerReviews;
  /** The daemon itself. */
  readonly daemon: Daemon;
  /** Payloads that were cut from what the model saw. */
  readonly blobs: Blobs;
  /** What a model is asked with. */
  readonly context: Context;
  /** The client's name; its tools have the source `client:NAME`. */
  readonly name: string;
  /** Which process this client says it is. */
  readonly instanceId: InstanceId;
  /** The project of the workspace it was connected with. */
  readonly workspace: Project | undefined;
  readonly #core: Core;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(core: Core, name: string, workspace: Project | undefined) {
    this.#core = core;
    this.name = name;
    this.instanceId = core.setup.instance;
    this.workspace = workspace;
    const ask: Ask = (method, params, options) => quietly(call(core.link, method, params, options));
    this.threads = new Threads(core, workspace?.projectId, ask);
    this.runs = new Runs(ask);
    this.queue = new Queue(ask);
    this.branches = new Branches(ask);
    this.items = new Items(ask);
    this.attention = new Attentions(ask);
    this.interactions = new Interactions(ask);
    this.endpoints = new Endpoints(ask);
    this.secrets = new Secrets(ask);
    this.settings = new Settings(ask);
    this.projects = new Projects(ask);
    this.grants = new Grants(ask);
    this.policies = new Policies(ask);
    this.memory = new Memory(ask);
    this.instructions = new Instructions(ask);
    this.servers = new Servers(ask);
    this.serverReviews = new ServerReviews(ask);
    this.daemon = new Daemon(ask);
    this.blobs = new Blobs(ask);
    this.context = new Context(ask);
  }

  /**
   * Connects to the daemon of this user, and starts one if none runs.
   *
   * ```ts
   * await using rope = await Ropewalk.connect({
   *   onApproval: async ({ summary }) => ((await ask(summary)) ? "accept" : "decline"),
   * });
   * ```
   *
   * @throws {@link RopewalkError} `notRunning`, `startFailed`, `connectFailed`, `noAnswer`, what the daemon refuses; and, before
   * anything is sent, `invalidOption` and `missingHandler`.
   */
  static async connect(options: ConnectOptions = {}): Promise<Ropewalk> {
    return connected(options, ({ startTimeoutMs }) =>
      socketDial(findPlaces(options), (options.start ?? true) ? startTimeoutMs : undefined),
    );
  }

  /**
   * Connects over a stream that leads to a daemon: a socket or a `Duplex` of Node. It cannot be had a second time, so that the
   * client ends with it: calls fail with `disconnected`, and so do streams.
   */
  static async over(stream: ByteStream, options: ClientOptions = {}): Promise<Ropewalk> {
    return connected(options, () => givenDial(stream));
  }

  /**
   * Connects over streams that a function opens: a socket on another machine, a tunnel. It is called again whenever the connection
   * was lost, and has 10 s each time.
   */
  static async through(dial: () => ByteStream | Promise<ByteStream>, options: ClientOptions = {}): Promise<Ropewalk> {
    return connected(options, () => throughDial(dial));
  }

  /** Calls a method of the wire with typed parameters. The nouns do this with shorter words. */
  call<M extends MethodName>(method: M, params: MethodParams<M>, options?: CallOptions): Promise<MethodResult<M>> {
    return quietly(call(this.#core.link, method, params, options));
  }

  /**
   * Calls a method of the wire by its name, with JSON in and out: for what this SDK has no words for. One it does not know is
   * repeated over a new connection only with an `operationId`; without, a lost connection is `effectUnknown`.
   */
  @quiet
  async raw(method: string, params: unknown = {}, options: CallOptions = {}): Promise<unknown> {
    const given: unknown = method;
    if (typeof given !== "string")
      throw invalid("method", `it is ${kindOf(given)}. Give a name such as "thread/list".`);
    return (await send(this.#core.link, method, params, options)).result;
  }

  /** The daemon as it introduced itself on the newest connection. */
  get daemonInfo(): DaemonInfo {
    const { about } = this.#core.link;
    if (!about) throw overError({ why: "closed" });
    return about.daemon;
  }

  /** Every number a client could run into, as the daemon of the newest connection has them. */
  get limits(): Limits {
    return this.#core.link.limits;
  }

  /** How the client stands with its daemon. Calls and streams wait for the connection by themselves. */
  get connection(): Connection {
    return this.#core.link.shown.value;
  }

  /** Whether the connection stands. */
  get isConnected(): boolean {
    return this.#core.link.isConnected;
  }

  /**
   * How the client stands, now and whenever that changes, the newest only; ends after `closed`. The process stays while a change is
   * waited for.
   */
  async *watchConnection(options: { signal?: AbortSignal } = {}): AsyncGenerator<Connection, void, void> {
    const { shown } = this.#core.link;
    const ends = { signal: options.signal, aborted: (reason: unknown) => abortedError("The next change", reason) };
    let seen = shown.value;
    for (;;) {
      yield seen;
      if (seen.state === "closed") return;
      const last = seen;
      seen = await this.#core.anchor.during(() => shown.until((value) => value !== last, ends));
    }
  }

  /**
   * Waits until the client has ended, and keeps the process alive meanwhile: for a program that only serves tools, approvals or
   * questions of runs that others start. Throws what ended it, unless it was closed from this side.
   */
  @quiet
  async untilClosed(options: { signal?: AbortSignal } = {}): Promise<void> {
    const { phase } = this.#core.link;
    const ends = { signal: options.signal, aborted: (reason: unknown) => abortedError("The end", reason) };
    const end = await this.#core.anchor.during(() => phase.until(({ name }) => name === "over", ends));
    if (end.name === "over" && end.over.why !== "closed") throw overError(end.over);
  }

  /**
   * Ends the client: signals of handlers under way fire, streams end, pending calls fail with `disconnected`. Answers that were
   * given are written first. Resolves when the connection is gone, 5 s at most; a second call waits for the same end.
   */
  close(): Promise<void> {
    return (this.#closing ??= close(this.#core));
  }

  /** As {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

async function connected(
  options: ConnectOptions,
  dialOf: (checked: ReturnType<typeof checkOptions>) => Dial,
): Promise<Ropewalk> {
  const checked = checkOptions(options);
  const instance = options.client?.instanceId ?? freshId();
  const core = new Core({
    ...checked,
    dial: dialOf(checked),
    greeting: greetingOf(options, checked.name, instance),
    instance,
    handlers: {
      approvals: options.onApproval,
      input: options.onInput,
      changes: options.onChange,
      warnings: options.onWarning ?? emitWarning,
    },
  });
  return core.anchor.during(async () => {
    try {
      await connect(core);
      return new Ropewalk(core, checked.name, await workspaceOf(core, options.workspace));
    } catch (error) {
      await close(core);
      throw error;
    }
  });
}

async function workspaceOf(core: Core, directory: string | undefined): Promise<Project | undefined> {
  if (directory === undefined) return undefined;
  return (await call(core.link, "project/ensure", { path: resolve(directory) })).project;
}

const emitWarning: WarningHandler = ({ message }) => process.emitWarning(message, "RopewalkWarning");
