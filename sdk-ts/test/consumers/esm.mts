// What an ES module writes: every part of the package that has types of its own.
import {
  type ApprovalHandler,
  type ConnectOptions,
  type InputHandler,
  type RunEvent,
  type Tool,
  Ropewalk,
  RopewalkError,
  ToolError,
  Tools,
  protocol,
  tool,
} from "@ropewalk/sdk";

const onApproval: ApprovalHandler = async ({ summary, choices }, { signal }) =>
  summary !== "" && choices.includes("accept") && !signal.aborted ? "accept" : { decision: "decline", note: "no" };
const onInput: InputHandler = ({ questions }) => ({
  answers: Object.fromEntries(questions.map(({ id }) => [id, { selected: [0] }])),
});
const options: ConnectOptions = { client: { name: "consumer" }, onApproval, onInput, start: false };

const nothing: Tool = tool({ name: "nothing", description: "Take nothing.", run: () => "done" });
const literal = tool({
  name: "literal",
  description: "Take what a literal JSON Schema says.",
  input: {
    type: "object",
    properties: { id: { type: "string" }, count: { type: "integer" }, kind: { enum: ["a", "b"] } },
    required: ["id", "kind"],
  },
  run: ({ id, count, kind }) => {
    const text: string = id;
    const number: number | undefined = count;
    const word: "a" | "b" = kind;
    if (word === "b") throw new ToolError("There is no b.", "not_found");
    return { content: text, structured: { number } };
  },
});

export async function main(): Promise<string> {
  await using rope = await Ropewalk.connect(options);
  await using thread = await rope.threads.start({ tools: new Tools([nothing, literal]), title: "Consumer" });
  const run = thread.run("hello", {
    outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  });
  for await (const event of run) show(event);
  const { output, text } = (await run).orThrow();
  const n: number = output.n;
  for await (const { seq, event } of thread.events({ after: 0 }))
    if (event.type === "runCompleted") return `${text} ${n} ${seq ?? 0}`;
  const { items } = await rope.call("thread/list", { limit: protocol.limits.pageItems });
  return items.map(({ threadId, title }) => title ?? threadId).join();
}

function show(event: RunEvent): string {
  switch (event.type) {
    case "text":
      return event.text;
    case "completed":
      return event.result.text;
    case "itemCompleted":
      return event.item.kind === "toolCall" ? event.item.tool.flatName : event.item.itemId;
    default:
      return event.type;
  }
}

export function why(error: unknown): string {
  if (!(error instanceof RopewalkError)) return String(error);
  if (error.is("notFound")) return `${error.data.noun} ${error.data.id}`;
  return error.is("noAnswer") ? `${error.data.what} ${error.data.afterMs}` : error.kind;
}

// @ts-expect-error a misspelt option is seen by the compiler
export const misspelt: ConnectOptions = { onAproval: onApproval };
// @ts-expect-error a decision is one of five words
export const undecided: ApprovalHandler = () => "perhaps";
// @ts-expect-error a tool has a description
export const bare = tool({ name: "bare", run: () => "" });
