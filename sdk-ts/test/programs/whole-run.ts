// A program that knows nothing of connections: it plays one run with everything in it, prints what came of it, and ends.
import { Ropewalk, tool } from "../../src/index.js";
import { passGate } from "../support/gate.js";

const [socket = "", gates = ""] = process.argv.slice(2);

/** Text, a call without and one with an approval, a question, and text again. */
const script = `say Looking at one two three
call look {}
then call write {}
then call ask_user {"questions":[{"id":"q","text":"Which?","options":[{"label":"A"},{"label":"B"}]}]}
then say all of it is done`;

const rope = await Ropewalk.connect({
  socket,
  client: { name: "bot" },
  start: false,
  onApproval: async () => {
    await passGate(gates, "approval");
    return "accept" as const;
  },
  onInput: async () => {
    await passGate(gates, "question");
    return { answers: { q: { selected: [0] } } };
  },
});
const look = tool({
  name: "look",
  description: "Look.",
  run: async (_, { progress }) => {
    await passGate(gates, "look");
    progress("nearly there", 0.9);
    return "seen";
  },
});
const write = tool({
  name: "write",
  description: "Write.",
  approval: "ask",
  run: async () => {
    await passGate(gates, "write");
    return "written";
  },
});

const thread = await rope.threads.start({ tools: [look, write] });
const watching = watch();
const result = await thread.run(script);
const seen = await watching;
process.stdout.write(JSON.stringify({ status: result.outcome.status, text: result.text, ...seen }));
await rope.close();

/** Reads the thread from its first event to the end of its run. */
async function watch(): Promise<{ seqs: number[]; broken: string[] }> {
  const seqs: number[] = [];
  const broken: string[] = [];
  const texts = new Map<string, string>();
  for await (const { seq, event } of thread.events({ after: 0 })) {
    if (event.type === "itemDelta") {
      const soFar = texts.get(event.itemId) ?? "";
      if (event.offset !== Buffer.byteLength(soFar)) broken.push(`${event.itemId}: ${event.offset} after ${soFar}`);
      texts.set(event.itemId, soFar + event.text);
    }
    if (seq !== undefined) seqs.push(seq);
    if (event.type === "runCompleted") break;
  }
  return { seqs, broken };
}
