// A small MCP server: it keeps notes in memory, and speaks over stdin and stdout. Run by the tests of docs/mcp-servers.md.
import { createInterface } from "node:readline";

const notes = [];

const tools = [
  {
    name: "list_notes",
    description: "Lists the notes.",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
  },
  {
    name: "add_note",
    description: "Adds a note.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
];

const call = {
  list_notes: () => notes.join("\n") || "There are no notes.",
  add_note: ({ text }) => `There are ${notes.push(text)} notes.`,
};

const methods = {
  initialize: () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "Notes", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: given }) => ({ content: [{ type: "text", text: call[name](given) }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue; // A notification has no answer.
  const answer = methods[method]
    ? { result: methods[method](params) }
    : { error: { code: -32601, message: `There is no method ${method}.` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
