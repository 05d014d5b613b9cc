// A server of the protocol's own SDK that speaks 2026-07-28 alone: whoever opens with `initialize` is refused.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const reads = { readOnlyHint: true };

function serve() {
  const server = new McpServer({ name: "modern", version: "1.0.0" }, { capabilities: { tools: {} } });
  const sum = { description: "Adds.", inputSchema: z.object({ a: z.number(), b: z.number() }), annotations: reads };
  server.registerTool("add", sum, async ({ a, b }) => ({ content: [{ type: "text", text: `the sum is ${a + b}` }] }));
  const fails = { description: "Fails.", inputSchema: z.object({}), annotations: reads };
  server.registerTool("fail", fails, async () => {
    throw new Error("it never works");
  });
  return server;
}

serveStdio(serve, { legacy: "reject" });
