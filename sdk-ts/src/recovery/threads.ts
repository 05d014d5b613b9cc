// Taking threads up again: events go on behind the last one that was seen, tools are bound to the new connection.

import type { Core } from "../core.js";
import { localError, RopewalkError } from "../errors.js";
import type {
  ThreadId,
  ThreadResumed,
  ThreadResumeParams,
  Tool as EffectiveTool,
  ToolDeclaration,
} from "../generated/protocol.js";
import { call } from "../link/calls.js";
import { isRefusal, type Wire } from "./wire.js";

/** How many threads are asked for at once; far fewer than a daemon answers at once. */
const AT_ONCE = 16;

type Resume = (params: ThreadResumeParams) => Promise<ThreadResumed>;

/** Attaches to every open thread again. What one of them meets is that thread's own trouble; what the connection meets is thrown. */
export async function takeUpAll(core: Core, wire: Wire): Promise<void> {
  const left = core.attachments.all();
  const worker = async (): Promise<void> => {
    for (let thread = left.shift(); thread !== undefined; thread = left.shift()) await takeUpOver(core, wire, thread);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Attaches to one thread again, through the connection there is: for an attachment that a lost connection took along. */
export async function takeUp(core: Core, thread: ThreadId): Promise<void> {
  await resume(core, thread, (params) => call(core.link, "thread/resume", params));
}

async function takeUpOver(core: Core, wire: Wire, thread: ThreadId): Promise<void> {
  const seen = core.hub.newest(thread);
  try {
    await resume(core, thread, (params) => wire.call("thread/resume", params));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    fail(core, thread, seen, error);
  }
}

async function resume(core: Core, thread: ThreadId, ask: Resume): Promise<void> {
  const resumed = await ask({ threadId: thread, after: core.hub.newest(thread) });
  const again = missing(core, thread, resumed);
  if (again) await ask(again);
}

/** Ends one thread for this client: its streams tell why. */
function fail(core: Core, thread: ThreadId, seen: number, error: RopewalkError): void {
  core.warn({ what: thread, message: `Thread ${thread} could not be taken up again: ${error.message}` });
  core.attachments.remove(thread);
  const isShorter = error.is("invalidParams") && error.data.reason === "after_the_end";
  core.hub.fail(thread, () => {
    const { message, data, code } = error;
    if (isShorter) return logShortened(thread, seen);
    return new RopewalkError(message, data, { ...(code === undefined ? {} : { code }), cause: error });
  });
}

function logShortened(threadId: ThreadId, seen: number): RopewalkError {
  const message =
    `The log of thread ${threadId} ends before event ${seen}, which was seen: it was restored from an older backup. ` +
    "Resume the thread without a position.";
  return localError("logShortened", { threadId, seen }, message);
}

/**
 * Looks at the tools of a thread this client has attached to. What others hold of ours is noted and stays with them; what the
 * daemon knows nothing of, because its log was restored from before, is to be declared again.
 */
export function missing(core: Core, thread: ThreadId, resumed: ThreadResumed): ThreadResumeParams | undefined {
  const declared = core.bindings.thread(thread).declared;
  const there = (declaration: ToolDeclaration): EffectiveTool | undefined =>
    resumed.tools.find((tool) => isOf(tool, declaration));
  const isOurs = (tool: EffectiveTool): boolean =>
    tool.owner === undefined || tool.owner.instanceId === core.setup.instance;
  const known = declared.map(there).filter((tool) => tool !== undefined);
  const taken = known.filter((tool) => !isOurs(tool)).map(({ flatName }) => flatName);
  if (core.attachments.noteTaken(thread, taken)) {
    const message = `Another process holds these tools of thread ${thread} now; they stay with it: ${taken.join(", ")}.`;
    core.warn({ what: thread, message });
  }
  if (known.length === declared.length) return undefined;
  const ours = declared.filter((declaration) => {
    const tool = there(declaration);
    return tool === undefined || isOurs(tool);
  });
  return { threadId: thread, after: core.hub.newest(thread), tools: ours };
}

function isOf(tool: EffectiveTool, declaration: ToolDeclaration): boolean {
  return tool.owner !== undefined && tool.name === declaration.name && tool.namespace === declaration.namespace;
}
