// Runs of any thread, by their ids.

import { quiet } from "../base/quiet.js";
import type { Run, RunId } from "../generated/protocol.js";
import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** Runs of any thread. {@link Thread.run} is the pleasant way to make one. */
export class Runs {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Submits input. Durable before the answer. */
  submit(params: Params<"run/submit">, options?: CallOptions): Answer<"run/submit"> {
    return this.#ask("run/submit", params, options);
  }

  /** Stops a run. Idempotent, and always answered. */
  stop(params: Params<"run/stop">, options?: CallOptions): Answer<"run/stop"> {
    return this.#ask("run/stop", params, options);
  }

  /** Waits until a run has ended, or until it needs a person. A timeout is no error. */
  wait(params: Params<"run/wait">, options?: CallOptions): Answer<"run/wait"> {
    return this.#ask("run/wait", params, options);
  }

  /** The runs, newest first. */
  list(params: Params<"run/list"> = {}, options?: CallOptions): Answer<"run/list"> {
    return this.#ask("run/list", params, options);
  }

  /** Leaves a bad end as it is and releases what waits behind it. */
  skip(params: Params<"run/skip">, options?: CallOptions): Answer<"run/skip"> {
    return this.#ask("run/skip", params, options);
  }

  /** Lets a paused run go on under its id, or continues one that has ended badly from its last stored step. */
  resume(params: Params<"run/resume">, options?: CallOptions): Answer<"run/resume"> {
    return this.#ask("run/resume", params, options);
  }

  /** Gives the input of a run that has ended badly once more. What came of it leaves the chain. */
  retry(params: Params<"run/retry">, options?: CallOptions): Answer<"run/retry"> {
    return this.#ask("run/retry", params, options);
  }

  /** Puts an input whose parent is gone on the head of its branch. */
  rebase(params: Params<"run/rebase">, options?: CallOptions): Answer<"run/rebase"> {
    return this.#ask("run/rebase", params, options);
  }

  /** A run. */
  @quiet
  async read(runId: RunId, options?: CallOptions): Promise<Run> {
    return (await this.#ask("run/read", { runId }, options)).run;
  }
}
