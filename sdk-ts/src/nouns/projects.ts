// Projects and their grants.

import { quiet } from "../base/quiet.js";
import type { Project, ProjectId } from "../generated/protocol.js";
import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** Projects. */
export class Projects {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Makes a project. */
  create(params: Params<"project/create">, options?: CallOptions): Answer<"project/create"> {
    return this.#ask("project/create", params, options);
  }

  /** The projects, in the order of their ids. */
  list(params: Params<"project/list"> = {}, options?: CallOptions): Answer<"project/list"> {
    return this.#ask("project/list", params, options);
  }

  /** Changes a project: what is named is set, null clears. */
  update(params: Params<"project/update">, options?: CallOptions): Answer<"project/update"> {
    return this.#ask("project/update", params, options);
  }

  /** The project of a directory, made with a read and write grant on it if there is none yet. */
  ensure(params: Params<"project/ensure">, options?: CallOptions): Answer<"project/ensure"> {
    return this.#ask("project/ensure", params, options);
  }

  /** Replaces the grants and the rules of a project, all of them at once, or says what would change. */
  replaceSecurity(
    params: Params<"project/security/replace">,
    options?: CallOptions,
  ): Answer<"project/security/replace"> {
    return this.#ask("project/security/replace", params, options);
  }

  /** Deletes a project with its threads, grants and rules, or says what would go with it. */
  delete(params: Params<"project/delete">, options?: CallOptions): Answer<"project/delete"> {
    return this.#ask("project/delete", params, options);
  }

  /** A project with its grants and policies. */
  @quiet
  async read(projectId: ProjectId, options?: CallOptions): Promise<Project> {
    return (await this.#ask("project/read", { projectId }, options)).project;
  }
}

/** Directory grants of projects. */
export class Grants {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Grants a project a directory. */
  add(params: Params<"grant/add">, options?: CallOptions): Answer<"grant/add"> {
    return this.#ask("grant/add", params, options);
  }

  /** Takes a grant back. */
  remove(params: Params<"grant/remove">, options?: CallOptions): Answer<"grant/remove"> {
    return this.#ask("grant/remove", params, options);
  }

  /** The grants of a project. */
  list(params: Params<"grant/list">, options?: CallOptions): Answer<"grant/list"> {
    return this.#ask("grant/list", params, options);
  }
}
