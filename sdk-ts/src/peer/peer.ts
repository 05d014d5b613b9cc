// One end of a connection: lines in and out, and requests in both directions. Nothing here knows a method by name.

import type { Anchor } from "../base/anchor.js";
import { tooDeep } from "../base/json.js";
import { at, now } from "../base/time.js";
import { refusal, RopewalkError, unreadable, wireError, type WireError } from "../errors.js";
import { limits } from "../generated/protocol.js";
import { Batch } from "./batch.js";
import { type IdText, type Message, readMessage } from "./envelope.js";
import { type Frame, Lines } from "./lines.js";
import { Outbox } from "./outbox.js";
import { sniff } from "./sniff.js";
import type { ByteStream } from "./stream.js";

/** The connection ended before the answer came; nobody knows whether the request had an effect. */
export class ConnectionLost extends Error {
  constructor() {
    super("the connection ended before the answer came");
  }
}

/** Takes the answer to a request; the first one counts. */
export interface Responder {
  /** Answers with a result, given as JSON text. */
  ok(result: string): void;
  /** Answers with an error. */
  error(error: WireError): void;
}

/** What one end does with what comes in. It is called in the order of the lines and must not throw. */
export interface Service {
  request(method: string, params: unknown, responder: Responder): void;
  notification(method: string, params: unknown, bytes: number): void;
  /** The connection is over: nothing comes in any more, and what is sent is dropped. Called once. */
  closed(): void;
}

/** A request of ours that was sent. */
export interface Pending {
  readonly id: number;
  readonly answer: Promise<unknown>;
  /** Nobody waits any more: an answer that still comes is ignored and counted. */
  forget(): void;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** One end of a connection. */
export class Peer {
  readonly #stream: ByteStream;
  readonly #service: Service;
  readonly #lines = new Lines(limits.maxMessageBytes);
  readonly #pending = new Map<number, Waiting>();
  readonly outbox: Outbox;
  #nextId = 1;
  #closing = false;
  #ignored = 0;
  readonly #gone: Promise<void>;
  #markGone: () => void = () => undefined;

  constructor(stream: ByteStream, service: Service, anchor: Anchor) {
    this.#stream = stream;
    this.#service = service;
    this.outbox = new Outbox(stream, anchor);
    this.#gone = new Promise((resolve) => (this.#markGone = resolve));
    // A stream whose encoding was set gives text.
    stream.on("data", (piece: Uint8Array | string) =>
      this.#read(typeof piece === "string" ? Buffer.from(piece) : piece),
    );
    stream.on("end", () => this.#lost());
    // What went wrong is said by `close`, which follows; without a listener the process would end.
    stream.on("error", () => undefined);
    stream.on("close", () => this.#lost());
  }

  /** Whether the end of the connection was decided, by either side. */
  get isClosed(): boolean {
    return this.#closing;
  }

  /** How many answers came that nobody waited for. */
  get ignoredAnswers(): number {
    return this.#ignored;
  }

  /** Sends a request, whose parameters are JSON text. */
  start(method: string, params: string): Pending {
    const id = this.#nextId++;
    const answer = new Promise<unknown>((resolve, reject) => {
      if (this.#closing) return reject(new ConnectionLost());
      this.#pending.set(id, { resolve, reject });
      this.#write(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`);
    });
    // Whoever gave the call up does not hear of its end.
    answer.catch(() => undefined);
    return { id, answer, forget: () => void this.#pending.delete(id) };
  }

  /** Sends a notification. */
  notify(method: string, params: unknown): void {
    if (!this.#closing) this.#write(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** Ends the connection: calls that wait fail, and what waits to be written is written within the grace. */
  close(graceMs: number): Promise<void> {
    if (this.#closing) return this.#gone;
    this.#end();
    const cancel = at(now() + graceMs, () => this.#destroy());
    this.#stream.end(() => {
      cancel();
      this.#destroy();
    });
    return this.#gone;
  }

  #read(piece: Uint8Array): void {
    if (this.#closing) return;
    for (const frame of this.#lines.take(piece)) {
      this.#takeFrame(frame);
      if (this.#closing as boolean) return;
    }
  }

  #takeFrame(frame: Frame): void {
    if (frame.kind === "tooLong") return this.#takeTooLong(frame.head, frame.actual);
    let text: string;
    let value: unknown;
    try {
      text = decoder.decode(frame.bytes);
      value = JSON.parse(text);
    } catch {
      const message = "The line is not JSON in UTF-8. Send one JSON-RPC 2.0 message a line.";
      return this.#respond("null").error(refusal({ kind: "parse", retryable: false }, message));
    }
    const depth = tooDeep(text, limits.maxDepth);
    if (!Array.isArray(value)) return this.#take(readMessage(value, text), depth, frame.bytes.length);
    if (value.length === 0 || value.length > limits.maxBatch) {
      return this.#respond("null").error(invalidRequest(value.length === 0 ? "empty_batch" : "batch_too_large"));
    }
    const batch = new Batch((line) => this.#write(line));
    for (const member of value as unknown[])
      this.#take(readMessage(member, undefined), depth, frame.bytes.length, batch);
    batch.complete();
  }

  #takeTooLong(head: Uint8Array, actual: number): void {
    const { id, isAnswer } = sniff(Buffer.from(head).toString("utf8"));
    const problem = tooLarge("message", limits.maxMessageBytes, actual);
    if (!isAnswer) return this.#respond(id ?? "null").error(problem);
    this.#settle(Number(id), (waiting) => waiting.reject(wireError(problem)));
  }

  #take(message: Message, depth: number | undefined, bytes: number, batch?: Batch): void {
    const deep = depth === undefined ? undefined : tooLarge("depth", limits.maxDepth, depth);
    switch (message.kind) {
      case "request": {
        const responder = this.#respond(message.id, batch);
        if (deep) return responder.error(deep);
        return this.#service.request(message.method, message.params, responder);
      }
      case "notification":
        if (!deep) this.#service.notification(message.method, message.params, bytes);
        return;
      case "answer":
        return this.#settle(message.id, (waiting) => {
          if (deep) waiting.reject(wireError(deep));
          else waiting.resolve(message.result);
        });
      case "failure":
        return this.#settle(message.id, (waiting) => waiting.reject(failureOf(message.error)));
      case "invalid":
        return this.#respond(message.id, batch).error(invalidRequest(message.reason));
    }
  }

  #settle(id: unknown, how: (waiting: Waiting) => void): void {
    const waiting = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (!waiting) {
      this.#ignored += 1;
      return;
    }
    this.#pending.delete(id as number);
    how(waiting);
  }

  #respond(id: IdText, batch?: Batch): Responder {
    let answered = false;
    const send = batch ? batch.member() : (text: string) => this.#write(text);
    const answer = (body: string): void => {
      if (answered) return;
      answered = true;
      send(`{"jsonrpc":"2.0","id":${id},${body}}`);
    };
    return {
      ok: (result) => answer(`"result":${result}`),
      error: (error) => answer(`"error":${JSON.stringify(error)}`),
    };
  }

  #write(text: string): void {
    if (this.#closing) return;
    try {
      this.outbox.write(`${text}\n`);
    } catch {
      // A stream of the application that throws is one that is lost.
      this.#lost();
    }
  }

  #lost(): void {
    if (!this.#closing) this.#end();
    this.#destroy();
  }

  /** Decides the end. Waiting calls fail at once. */
  #end(): void {
    this.#closing = true;
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of waiting) call.reject(new ConnectionLost());
    this.#service.closed();
  }

  #destroy(): void {
    this.outbox.abandon();
    this.#stream.destroy();
    this.#markGone();
  }
}

function failureOf(error: WireError | undefined): RopewalkError {
  return error ? wireError(error) : unreadable("An answer", "its error is none");
}

function invalidRequest(reason: string): WireError {
  const message = `This is no JSON-RPC 2.0 request: ${reason.replaceAll("_", " ")}.`;
  return refusal({ kind: "invalidRequest", retryable: false, reason }, message);
}

function tooLarge(what: string, limit: number, actual: number): WireError {
  const message = `The ${what} is too large: ${actual} where ${limit} are allowed.`;
  return refusal({ kind: "tooLarge", retryable: false, limit, actual, what }, message);
}
