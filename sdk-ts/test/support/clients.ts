// Clients of the SDK: of a daemon that a test plays, and of a real one.
import type { TestContext } from "node:test";
import { type ConnectOptions, Ropewalk, type Thread, type Tool, tool } from "../../src/index.js";
import { Daemon } from "./daemon.js";
import { type Fake, Fakes } from "./fake.js";
import { started, submitted } from "./shapes.js";
import { within } from "./waiting.js";

export interface Played {
  readonly fakes: Fakes;
  /** The daemon it is connected to; `fakes.next()` makes those to come. */
  readonly fake: Fake;
  readonly rope: Ropewalk;
}

/** A client of a daemon that the test plays. */
export async function connected(context: TestContext, options: ConnectOptions = {}): Promise<Played> {
  const fakes = await Fakes.listen(context);
  const fake = fakes.next();
  const rope = await connect(context, {
    socket: fakes.socket,
    client: { name: "bot", instanceId: "in-A" },
    ...options,
  });
  return { fakes, fake, rope };
}

export interface Attached extends Played {
  readonly thread: Thread;
}

/** The same with a thread `th-1` and these tools; what is submitted there becomes `run-1`. */
export async function attached(
  context: TestContext,
  tools: Iterable<Tool> = [],
  options: ConnectOptions = {},
): Promise<Attached> {
  const played = await connected(context, options);
  played.fake.reply("thread/start", () => started("th-1", 3));
  played.fake.reply("run/submit", () => submitted("run-1"));
  const thread = await within("the thread", played.rope.threads.start({ tools }));
  return { ...played, thread };
}

/** A client of whatever listens at a socket. It is closed when the test is over. */
export async function connect(context: TestContext, options: ConnectOptions): Promise<Ropewalk> {
  const rope = await within(
    "the client to connect",
    Ropewalk.connect({ client: { name: "bot" }, start: false, onWarning: () => undefined, ...options }),
  );
  context.after(() => rope.close());
  return rope;
}

/** A real daemon and a client of it. */
export async function onDaemon(
  context: TestContext,
  options: ConnectOptions = {},
): Promise<{ daemon: Daemon; rope: Ropewalk }> {
  const daemon = await Daemon.start(context);
  return { daemon, rope: await connect(context, { socket: daemon.socket, ...options }) };
}

/** A tool without arguments. */
export function worker(name: string, run: Parameters<typeof tool>[0]["run"], more: object = {}): Tool {
  return tool({ name, description: "Work.", run, ...more });
}

/** The first text of a result. */
export function textOf(answer: { contentItems?: { text?: string }[] }): string {
  return answer.contentItems?.[0]?.text ?? "";
}

/** The calls of tools among the items of a run, from the log. */
export async function callsOf(thread: Thread, rope: Ropewalk): Promise<any[]> {
  const { items } = await rope.call("item/list", { threadId: thread.id });
  return items.filter((item) => item.kind === "toolCall").reverse();
}
