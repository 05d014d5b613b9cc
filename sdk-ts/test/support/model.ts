// A model of somebody else's over HTTP, which notes what it is asked with and answers what the test says.
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { within } from "./waiting.js";

/** What the model answers: words, or the call of a tool. */
export type Turn = { say: string } | { call: string; args: unknown };

export class Model {
  /** The bodies of all requests so far. */
  readonly requests: any[] = [];
  readonly #server: Server;
  readonly #turns: Turn[];

  private constructor(turns: Turn[]) {
    this.#turns = turns;
    this.#server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => {
        this.requests.push(JSON.parse(body));
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const chunk of chunks(this.#turns.shift() ?? { say: "That is all." })) {
          response.write(`data: ${JSON.stringify(chunk)}\n\n`);
        }
        response.end("data: [DONE]\n\n");
      });
    });
  }

  static async start(context: TestContext, turns: Turn[]): Promise<Model> {
    const model = new Model(turns);
    const listening = new Promise<void>((done) => model.#server.listen(0, "127.0.0.1", done));
    await within("the model to listen", listening);
    context.after(() => {
      model.#server.closeAllConnections();
      model.#server.close();
    });
    return model;
  }

  /** What makes it an endpoint of a daemon. */
  get endpoint(): { name: string; provider: "openaiCompatible"; baseUrl: string; model: string; isDefault: true } {
    const { port } = this.#server.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    return { name: "recorded", provider: "openaiCompatible", baseUrl, model: "recorded", isDefault: true };
  }
}

function chunks(turn: Turn): unknown[] {
  const chunk = (delta: unknown, finish_reason: string | null = null): unknown => ({
    id: "c-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "recorded",
    choices: [{ index: 0, delta, finish_reason }],
  });
  if ("say" in turn) return [chunk({ role: "assistant", content: turn.say }), chunk({}, "stop")];
  const call = { name: turn.call, arguments: JSON.stringify(turn.args) };
  const calls = [{ index: 0, id: "call_1", type: "function", function: call }];
  return [chunk({ role: "assistant", tool_calls: calls }), chunk({}, "tool_calls")];
}
