// From pipes to an address: `node bridge.mjs URL` is an MCP server over stdin and stdout to whoever starts it, and a client
// of the server at that address. Both ends are the protocol's own SDK; what is said passes through unread and unchanged, so
// that a server over HTTP hears what a client over pipes says.
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

const near = new StdioServerTransport();
const far = new StreamableHTTPClientTransport(new URL(process.argv[2]));

// A handshake tells the version that every later request has to name in a header.
let handshake;

near.onmessage = async (message) => {
  if (message.method === "initialize") handshake = message.id;
  try {
    await far.send(message);
  } catch (error) {
    console.error(error);
    // Whoever asked is told, as nothing else will answer.
    if (message.method && message.id !== undefined) {
      const failure = { code: -32603, message: String(error.message) };
      await near.send({ jsonrpc: "2.0", id: message.id, error: failure });
    }
  }
};
far.onmessage = async (message) => {
  if (handshake !== undefined && message.id === handshake && message.result?.protocolVersion) {
    far.setProtocolVersion(message.result.protocolVersion);
    handshake = undefined;
  }
  await near.send(message);
};
near.onclose = () => far.close();
process.stdin.on("end", () => far.close().then(() => process.exit()));

await far.start();
await near.start();
