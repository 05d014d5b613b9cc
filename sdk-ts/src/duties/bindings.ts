// Which thread has which handlers of this process.

import { now } from "../base/time.js";
import { Turns } from "../base/turns.js";
import { Watch } from "../base/watch.js";
import type { ThreadId, ToolDeclaration } from "../generated/protocol.js";
import { type Tool, toolKey } from "../tools/tool.js";
import { Tools } from "../tools/registry.js";

/** How long a call of a thread nobody knows waits for the start that is under way. */
const START_PATIENCE_MS = 5_000;

/** One handler's place in a thread, to take it back by. */
export interface Registered {
  readonly key: string;
  readonly tool: Tool;
}

/** The handlers of one thread. */
export class ThreadTools {
  /** Taken while a set is being declared, so that two declarations do not undo each other. */
  readonly declaring = new Turns();
  /** What the daemon was told last; a detached handler's declaration stays until the next time. */
  declared: readonly ToolDeclaration[] = [];
  #bound = new Map<string, Registered>();

  /** Binds a handler in the place of one with the same key. */
  bind(tool: Tool): Registered {
    const registered = { key: toolKey(tool.declaration), tool };
    this.#bound.set(registered.key, registered);
    return registered;
  }

  /** Takes a handler back, unless another has taken its place. */
  unbind(registered: Registered): void {
    if (this.#bound.get(registered.key) === registered) this.#bound.delete(registered.key);
  }

  /** Replaces all handlers. */
  replace(tools: Tools): void {
    this.#bound = new Map();
    for (const tool of tools) this.bind(tool);
  }

  /** Begins a trial: what is returned puts all back as it is now. */
  trial(): () => void {
    const before = new Map(this.#bound);
    return () => (this.#bound = before);
  }

  /** The tools, in the order of their names. */
  tools(): Tools {
    const sorted = [...this.#bound.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
    return new Tools(sorted.map(([, { tool }]) => tool));
  }

  /** Whether the daemon has been told of this very declaration. */
  isDeclared(declaration: ToolDeclaration): boolean {
    const text = JSON.stringify(declaration);
    return this.declared.some((other) => JSON.stringify(other) === text);
  }

  /** The tool with a key. */
  get(key: string): Tool | undefined {
    return this.#bound.get(key)?.tool;
  }
}

/** The handlers of all threads of a client. */
export class Bindings {
  readonly #threads = new Map<ThreadId, ThreadTools>();
  /** How many threads are being started. */
  readonly #starting = new Watch(0);

  /** A thread is being started, until what is returned is called; calls of threads that are not known yet wait meanwhile. */
  starting(): () => void {
    this.#starting.set(this.#starting.value + 1);
    let isOver = false;
    return () => {
      if (!isOver) this.#starting.set(this.#starting.value - 1);
      isOver = true;
    };
  }

  /** The handlers of a thread, made when there are none. */
  thread(thread: ThreadId): ThreadTools {
    const known = this.#threads.get(thread);
    if (known) return known;
    const made = new ThreadTools();
    this.#threads.set(thread, made);
    // Who waits for this very thread looks again.
    this.#starting.set(this.#starting.value);
    return made;
  }

  /** Forgets a thread. */
  forget(thread: ThreadId): void {
    this.#threads.delete(thread);
  }

  /** The tool of a call. */
  async find(thread: ThreadId, key: string): Promise<Tool | undefined> {
    // The answer that names a new thread may still be on its way to whoever started it.
    const known = (count: number): boolean => count === 0 || this.#threads.has(thread);
    await this.#starting.until(known, { deadline: now() + START_PATIENCE_MS }).catch(() => undefined);
    return this.#threads.get(thread)?.get(key);
  }
}
