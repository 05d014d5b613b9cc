// The daemon itself and its settings.

import { quiet } from "../base/quiet.js";
import type { Settings as Values } from "../generated/protocol.js";
import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** The daemon itself. */
export class Daemon {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** How the daemon is. */
  status(options?: CallOptions): Answer<"daemon/status"> {
    return this.#ask("daemon/status", {}, options);
  }

  /**
   * Stops the daemon for everybody: it takes no more work, parks what runs, writes everything down and exits. This client does not
   * come back to it.
   */
  @quiet
  async shutdown(params: Params<"daemon/shutdown"> = {}, options?: CallOptions): Promise<void> {
    await this.#ask("daemon/shutdown", params, options);
  }

  /** Writes everything but the secrets into a new file of that absolute path, as it is at one moment. */
  backup(path: string, options?: CallOptions): Answer<"daemon/backup"> {
    return this.#ask("daemon/backup", { path }, options);
  }

  /** Looks whether what is stored is whole, and the index what follows from the logs. */
  check(options?: CallOptions): Answer<"daemon/check"> {
    return this.#ask("daemon/check", {}, options);
  }
}

/** Settings of the daemon. */
export class Settings {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** The settings as they are. */
  @quiet
  async read(options?: CallOptions): Promise<Values> {
    return (await this.#ask("settings/read", {}, options)).settings;
  }

  /** Changes settings: what is named is set, null clears. */
  update(params: Params<"settings/update">, options?: CallOptions): Answer<"settings/update"> {
    return this.#ask("settings/update", params, options);
  }
}
