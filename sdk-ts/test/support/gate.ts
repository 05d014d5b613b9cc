// Where a program under test stands still until the test lets it go on, and tells the test that it has come so far.
import { type Server, type Socket, connect, createServer } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { folder } from "./daemon.js";
import { eachLine } from "./lines.js";
import { Inbox, within } from "./waiting.js";

/** The test's side. */
export class Gates {
  readonly socket: string;
  /** Whoever came to a gate, in order; each stands there until it is let through. */
  readonly arrived = new Inbox<Arrival>();
  readonly #counts = new Map<string, number>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(socket: string) {
    this.socket = socket;
    this.#server = createServer((stream) => {
      this.#sockets.add(stream);
      stream.on("error", () => undefined).on("close", () => this.#sockets.delete(stream));
      eachLine(stream, (name) => {
        this.#counts.set(name, this.count(name) + 1);
        this.arrived.put({ name, pass: () => stream.end("go\n") });
      });
    });
  }

  static async open(context: TestContext): Promise<Gates> {
    const gates = new Gates(join(folder(context), "gate.sock"));
    await within("the gate to listen", new Promise<void>((done) => gates.#server.listen(gates.socket, done)));
    context.after(async () => {
      const closed = new Promise((done) => gates.#server.close(done));
      for (const stream of gates.#sockets) stream.destroy();
      await within("the gate to close", closed);
    });
    return gates;
  }

  /** How often a gate was come to. */
  count(name: string): number {
    return this.#counts.get(name) ?? 0;
  }
}

export interface Arrival {
  readonly name: string;
  readonly pass: () => void;
}

/** The program's side: comes to a gate and waits there. */
export function passGate(socket: string, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = connect(socket, () => stream.write(`${name}\n`));
    stream.on("error", reject);
    stream.on("data", () => {
      stream.destroy();
      resolve();
    });
  });
}
