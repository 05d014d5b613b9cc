// MCP servers, and the reviews that decide which of their tools may be used.

import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** MCP servers. */
export class Servers {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /**
   * Adds a server that is a program on the daemon's computer. None of its tools can be used before a review of them is
   * submitted.
   */
  add(params: Params<"mcp/server/add">, options?: CallOptions): Answer<"mcp/server/add"> {
    return this.#ask("mcp/server/add", params, options);
  }

  /** The servers: those that are part of the daemon, then those that were added. */
  list(params: Params<"mcp/server/list"> = {}, options?: CallOptions): Answer<"mcp/server/list"> {
    return this.#ask("mcp/server/list", params, options);
  }

  /** A server, with the last of what its process wrote to stderr. */
  read(params: Params<"mcp/server/read">, options?: CallOptions): Answer<"mcp/server/read"> {
    return this.#ask("mcp/server/read", params, options);
  }

  /** How servers stand. */
  status(params: Params<"mcp/server/status"> = {}, options?: CallOptions): Answer<"mcp/server/status"> {
    return this.#ask("mcp/server/status", params, options);
  }

  /** Changes what is named of a server. */
  update(params: Params<"mcp/server/update">, options?: CallOptions): Answer<"mcp/server/update"> {
    return this.#ask("mcp/server/update", params, options);
  }

  /** Closes a server and opens it again. */
  restart(params: Params<"mcp/server/restart">, options?: CallOptions): Answer<"mcp/server/restart"> {
    return this.#ask("mcp/server/restart", params, options);
  }

  /** Removes a server, with the values of its environment and every rule about it. */
  remove(params: Params<"mcp/server/remove">, options?: CallOptions): Answer<"mcp/server/remove"> {
    return this.#ask("mcp/server/remove", params, options);
  }
}

/** Reviews of what MCP servers offer. */
export class ServerReviews {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** What a server offers beside what was approved of it, as it was last listed. */
  read(params: Params<"mcp/review/read">, options?: CallOptions): Answer<"mcp/review/read"> {
    return this.#ask("mcp/review/read", params, options);
  }

  /** The same, after asking the server. */
  check(params: Params<"mcp/review/check">, options?: CallOptions): Answer<"mcp/review/check"> {
    return this.#ask("mcp/review/check", params, options);
  }

  /** Approves the named tools of the review with this digest, and no others. */
  submit(params: Params<"mcp/review/submit">, options?: CallOptions): Answer<"mcp/review/submit"> {
    return this.#ask("mcp/review/submit", params, options);
  }
}
