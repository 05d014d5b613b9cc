// What is remembered from one run to the next, and what every run of a project is told.

import { quiet } from "../base/quiet.js";
import type { EntryId, Instructions as Document, MemoryEntry, ProjectId } from "../generated/protocol.js";
import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** Memory: entries that runs to come are shown. */
export class Memory {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** The entries, in the order of their ids, without their texts. */
  list(params: Params<"memory/list"> = {}, options?: CallOptions): Answer<"memory/list"> {
    return this.#ask("memory/list", params, options);
  }

  /** Remembers something. */
  create(params: Params<"memory/create">, options?: CallOptions): Answer<"memory/create"> {
    return this.#ask("memory/create", params, options);
  }

  /** Changes an entry: what is not named stays as it is. */
  update(params: Params<"memory/update">, options?: CallOptions): Answer<"memory/update"> {
    return this.#ask("memory/update", params, options);
  }

  /** Forgets an entry for good. */
  delete(params: Params<"memory/delete">, options?: CallOptions): Answer<"memory/delete"> {
    return this.#ask("memory/delete", params, options);
  }

  /** An entry with its text. */
  @quiet
  async read(entryId: EntryId, options?: CallOptions): Promise<MemoryEntry> {
    return (await this.#ask("memory/read", { entryId }, options)).entry;
  }
}

/** The instructions of projects as documents of their own. */
export class Instructions {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Puts another text in the place of a project's instructions. */
  replace(params: Params<"instructions/replace">, options?: CallOptions): Answer<"instructions/replace"> {
    return this.#ask("instructions/replace", params, options);
  }

  /** What the runs of a project are told, and which files of its directories with it. */
  @quiet
  async read(projectId: ProjectId, options?: CallOptions): Promise<Document> {
    return (await this.#ask("instructions/read", { projectId }, options)).instructions;
  }
}
