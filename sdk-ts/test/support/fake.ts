// A daemon played by the test, at the other end of a socket.
import assert from "node:assert/strict";
import { type Server, type Socket, createServer } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { folder } from "./daemon.js";
import { type Message, eachLine } from "./lines.js";
import { Inbox, type Latch, latch, within } from "./waiting.js";

/** How a method is answered: with a result, or with an error that is thrown. */
export type Reply = (params: any) => unknown;

/** A request that nothing answers by itself. */
export interface Asked {
  readonly method: string;
  readonly params: any;
  readonly answer: (result: unknown) => void;
  readonly refuse: (error: unknown) => void;
}

/** A refusal as the wire has it. */
export class Refusal extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data: Record<string, unknown>,
  ) {
    super(message);
  }
}

export const at = "2026-11-30T10:00:00Z";

/** The socket behind which one fake daemon after another is reached. */
export class Fakes {
  readonly socket: string;
  readonly #server: Server;
  readonly #waiting: Fake[] = [];
  readonly #all: Fake[] = [];

  private constructor(socket: string) {
    this.socket = socket;
    this.#server = createServer((stream) => {
      const fake = this.#waiting.shift();
      if (fake === undefined) stream.destroy();
      else fake.attach(stream);
    });
  }

  static async listen(context: TestContext): Promise<Fakes> {
    const fakes = new Fakes(join(folder(context), "fake.sock"));
    await within("the fake to listen", new Promise<void>((done) => fakes.#server.listen(fakes.socket, done)));
    context.after(async () => {
      const closed = new Promise((done) => fakes.#server.close(done));
      for (const fake of fakes.#all) fake.close();
      await within("the fake to close", closed);
    });
    return fakes;
  }

  /** The daemon that is reached next; it answers the handshake. */
  next(): Fake {
    const fake = new Fake();
    fake.reply("initialize", () => initialized());
    this.#waiting.push(fake);
    this.#all.push(fake);
    return fake;
  }
}

export class Fake {
  readonly #replies = new Map<string, Reply>();
  readonly #asked: { method: string; params: unknown }[] = [];
  readonly #unanswered = new Inbox<Asked>();
  readonly #notices = new Inbox<{ method: string; params: any }>();
  readonly #answers = new Map<unknown, Latch<Message>>();
  readonly #attached = latch<Socket>();
  readonly #closed = latch();
  #socket: Socket | undefined;
  #nextId = 1;

  attach(socket: Socket): void {
    this.#socket = socket;
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#closed.open();
      for (const answer of this.#answers.values()) answer.fail(new Error("the connection is over"));
    });
    eachLine(socket, (line) => {
      this.#take(JSON.parse(line) as Message);
    });
    this.#attached.open(socket);
  }

  /** Answers a method from now on. */
  reply(method: string, reply: Reply): void {
    this.#replies.set(method, reply);
  }

  /** No longer answers a method by itself. */
  hold(method: string): void {
    this.#replies.delete(method);
  }

  /** The parameters of every request of a method so far. */
  asked(method: string): any[] {
    return this.#asked.filter((one) => one.method === method).map(({ params }) => params);
  }

  /** How many requests came so far. */
  get requests(): number {
    return this.#asked.length;
  }

  /** The next request that nothing answers by itself. */
  next(): Promise<Asked> {
    return this.#unanswered.next("a request");
  }

  /** The next notification of the client. */
  notice(): Promise<{ method: string; params: any }> {
    return this.#notices.next("a notification");
  }

  /** Asks the client for something. Resolves with the whole answer. */
  begin(method: string, params: unknown): Promise<Message> {
    const id = this.#nextId++;
    const answer = latch<Message>();
    this.#answers.set(id, answer);
    this.#send({ id, method, params });
    return within(`the answer to ${method}`, answer.done);
  }

  /** Asks the client for something that it answers with a result. */
  async ask(method: string, params: unknown): Promise<any> {
    const { result, error } = await this.begin(method, params);
    assert.equal(error, undefined);
    return result;
  }

  /** Tells the client something. */
  tell(method: string, params: unknown): void {
    this.#send({ method, params });
  }

  /** Sends a durable event. */
  event(threadId: string, seq: number, event: unknown): void {
    this.tell("thread/event", { threadId, seq, at, event });
  }

  /** Sends an ephemeral event. */
  ephemeral(threadId: string, after: number, event: unknown): void {
    this.tell("thread/event", { threadId, after, at, event });
  }

  settle(interactionId: string, outcome: string): void {
    const by = { kind: "stop", clientName: "other", instanceId: "in-B" };
    this.tell("interaction/settled", { interactionId, outcome, by, at });
  }

  /** Waits until the client has taken in everything that was sent: it answers in the order of the lines. */
  async fence(): Promise<void> {
    const { error } = await this.begin("test/fence", {});
    assert.equal(error?.code, -32601);
  }

  /** Sends a line as it is. */
  raw(line: string): void {
    this.#socket?.write(`${line}\n`);
  }

  close(): void {
    this.#socket?.destroy();
  }

  get attached(): Promise<unknown> {
    return within("the client to connect", this.#attached.done);
  }

  get closed(): Promise<void> {
    return within("the client to close", this.#closed.done);
  }

  #take({ id, method, params, ...answer }: Message): void {
    if (method === undefined) {
      this.#answers.get(id)?.open(answer);
      this.#answers.delete(id);
    } else if (id === undefined) this.#notices.put({ method, params });
    else this.#serve(id, method, params);
  }

  #serve(id: unknown, method: string, params: unknown): void {
    this.#asked.push({ method, params });
    const answer = (result: unknown): void => {
      this.#send({ id, result });
    };
    const refuse = (error: unknown): void => {
      assert.ok(error instanceof Refusal, String(error));
      this.#send({ id, error: { code: error.code, message: error.message, data: error.data } });
    };
    const reply = this.#replies.get(method);
    if (reply === undefined) {
      this.#unanswered.put({ method, params, answer, refuse });
      return;
    }
    try {
      answer(reply(params));
    } catch (error) {
      refuse(error);
    }
  }

  #send(message: Record<string, unknown>): void {
    this.#socket?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}

export function initialized(): unknown {
  return {
    protocol: 1,
    daemon: { name: "ropewalk", version: "0.1.0", pid: 4242, instanceId: "dm-1", startedAt: at },
    limits: { maxMessageBytes: 16_777_216, maxDepth: 100, maxInFlight: 64, maxWaiting: 64, maxBatch: 100 },
    schemaHash: "1e6ed65d",
  };
}
