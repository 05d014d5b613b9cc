// What a CommonJS module writes: an import at run time, with the types of what it gives.
async function main(): Promise<string> {
  const { Ropewalk, RopewalkError, tool } = await import("@ropewalk/sdk");
  const rope = await Ropewalk.connect({ onApproval: ({ summary }) => (summary === "" ? "decline" : "accept") });
  const echo = tool({
    name: "echo",
    description: "Say it again.",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: ({ text }) => text satisfies string,
  });
  try {
    const thread = await rope.threads.start({ tools: [echo] });
    const result = await thread.run("hello");
    const text: string = result.text;
    return text;
  } catch (error) {
    return error instanceof RopewalkError ? error.kind : String(error);
  } finally {
    await rope.close();
  }
}

export = main;
