// What stands between a client and its daemon: it passes lines on, and cuts, stalls or swallows where a test says so.
import { type Server, type Socket, connect, createServer } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { folder } from "./daemon.js";
import { type Message, eachLine } from "./lines.js";
import { Inbox, latch, within } from "./waiting.js";

/** A line on its way. */
export interface Line {
  readonly from: "client" | "daemon";
  /** Which line of its connection and side it is, from 0. */
  readonly index: number;
  /** Which connection it is of, from 0. */
  readonly connection: number;
  readonly text: string;
  readonly message: Message;
  /** The method it is, or the one it answers. */
  readonly method: string | undefined;
}

/**
 * What becomes of a line: it passes; it is swallowed; the connection is cut before it, in its middle, or behind it; or
 * from it on nothing passes in either direction until the proxy is released.
 */
export type Fate = "pass" | "swallow" | "cut" | "half" | "passThenCut" | "stall" | "passThenStall";

export type Rule = (line: Line) => Fate;

export class Proxy {
  readonly socket: string;
  /** What decides about each line. */
  rule: Rule = () => "pass";
  /** Every line whose fate was another than to pass. */
  readonly struck = new Inbox<Line>();
  /** The lines that came while nothing passed. */
  readonly held = new Inbox<Line>();
  #watchers: { matches: (line: Line) => boolean; found: (line: Line) => void }[] = [];
  readonly #target: string;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #stalled: (() => void)[] | undefined;
  #connections = 0;

  private constructor(socket: string, target: string) {
    this.socket = socket;
    this.#target = target;
    this.#server = createServer((client) => {
      this.#accept(client);
    });
  }

  static async start(context: TestContext, target: string): Promise<Proxy> {
    const proxy = new Proxy(join(folder(context), "proxy.sock"), target);
    context.after(() => proxy.close());
    await within("the proxy to listen", new Promise<void>((done) => proxy.#server.listen(proxy.socket, done)));
    return proxy;
  }

  /** How many connections were made so far. */
  get connections(): number {
    return this.#connections;
  }

  /** The next line that comes to the proxy and matches, whatever becomes of it. */
  coming(what: string, matches: (line: Line) => boolean): Promise<Line> {
    const found = latch<Line>();
    this.#watchers.push({ matches, found: found.open });
    return within(what, found.done);
  }

  /** Cuts every connection there is. */
  cut(): void {
    for (const pair of this.#pairs) pair.cut();
  }

  /** From now on nothing passes. */
  stall(): void {
    this.#stalled ??= [];
  }

  /** Everything passes again, in the order in which it came. */
  release(): void {
    const waiting = this.#stalled ?? [];
    this.#stalled = undefined;
    for (const pass of waiting) pass();
  }

  async close(): Promise<void> {
    this.#stalled = undefined;
    const closed = new Promise((done) => this.#server.close(done));
    this.cut();
    await within("the proxy to close", closed);
  }

  #accept(client: Socket): void {
    const pair = new Pair(client, connect(this.#target), this.#connections++);
    this.#pairs.add(pair);
    pair.whenOver(() => this.#pairs.delete(pair));
    pair.each((line) => {
      const [met, left] = [
        this.#watchers.filter((it) => it.matches(line)),
        this.#watchers.filter((it) => !it.matches(line)),
      ];
      this.#watchers = left;
      for (const { found } of met) found(line);
      if (this.#stalled) {
        this.held.put(line);
        this.#stalled.push(() => {
          this.#decide(pair, line);
        });
      } else this.#decide(pair, line);
    });
  }

  #decide(pair: Pair, line: Line): void {
    const fate = this.rule(line);
    if (fate === "pass" || fate === "passThenCut" || fate === "passThenStall") pair.pass(line);
    if (fate === "half") pair.passHalf(line);
    if (fate === "stall") {
      this.stall();
      this.#stalled?.push(() => {
        pair.pass(line);
      });
    }
    if (fate === "passThenStall") this.stall();
    if (fate === "cut" || fate === "half" || fate === "passThenCut") pair.cut();
    if (fate !== "pass") this.struck.put(line);
  }
}

/** One connection and what it leads to. */
class Pair {
  readonly #client: Socket;
  readonly #daemon: Socket;
  readonly #number: number;
  #isCut = false;
  readonly #asked = { client: new Map<unknown, string>(), daemon: new Map<unknown, string>() };

  constructor(client: Socket, daemon: Socket, number: number) {
    this.#client = client;
    this.#daemon = daemon;
    this.#number = number;
    for (const [one, other] of [
      [client, daemon],
      [daemon, client],
    ] as const) {
      one.on("error", () => undefined);
      one.on("close", () => other.end());
    }
  }

  whenOver(then: () => void): void {
    this.#client.on("close", then);
  }

  each(take: (line: Line) => void): void {
    for (const from of ["client", "daemon"] as const) {
      let index = 0;
      eachLine(from === "client" ? this.#client : this.#daemon, (text) => {
        if (!this.#isCut) take(this.#line(from, text, index++));
      });
    }
  }

  pass({ from, text }: Line): void {
    if (!this.#isCut) this.#other(from).write(`${text}\n`);
  }

  passHalf({ from, text }: Line): void {
    if (!this.#isCut) this.#other(from).write(text.slice(0, text.length / 2));
  }

  /** What was written to either side still arrives; nothing else does. */
  cut(): void {
    this.#isCut = true;
    this.#client.end(() => this.#client.destroy());
    this.#daemon.end(() => this.#daemon.destroy());
  }

  #other(from: "client" | "daemon"): Socket {
    return from === "client" ? this.#daemon : this.#client;
  }

  #line(from: "client" | "daemon", text: string, index: number): Line {
    const message = JSON.parse(text) as Message;
    const { id, method } = message;
    if (method !== undefined && id !== undefined) this.#asked[from].set(id, method);
    const asked = this.#asked[from === "client" ? "daemon" : "client"];
    return { from, index, connection: this.#number, text, message, method: method ?? asked.get(id) };
  }
}
