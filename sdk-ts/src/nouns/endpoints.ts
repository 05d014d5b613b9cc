// Model endpoints and their keys.

import type { EndpointId } from "../generated/protocol.js";
import type { CallOptions } from "../link/calls.js";
import type { Answer, Ask, Params } from "./noun.js";

/** Model endpoints. */
export class Endpoints {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Makes an endpoint (name, provider and model needed), or changes what is named of an existing one. A change of provider or
   * address removes its key. */
  set(params: Params<"endpoint/set">, options?: CallOptions): Answer<"endpoint/set"> {
    return this.#ask("endpoint/set", params, options);
  }

  /** Removes an endpoint and its key. */
  remove(params: Params<"endpoint/remove">, options?: CallOptions): Answer<"endpoint/remove"> {
    return this.#ask("endpoint/remove", params, options);
  }

  /** A page of the endpoints, in the order of their ids. */
  list(params: Params<"endpoint/list"> = {}, options?: CallOptions): Answer<"endpoint/list"> {
    return this.#ask("endpoint/list", params, options);
  }

  /** Sends an endpoint a short request and sees whether it answers. One that does not is no error. */
  test(endpointId: EndpointId, options?: CallOptions): Answer<"endpoint/test"> {
    return this.#ask("endpoint/test", { endpointId }, options);
  }
}

/** Keys of endpoints. They can be written and removed, never read. */
export class Secrets {
  readonly #ask: Ask;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Stores the key of an endpoint. */
  set(params: Params<"secret/set">, options?: CallOptions): Answer<"secret/set"> {
    return this.#ask("secret/set", params, options);
  }

  /** Forgets the key of an endpoint. */
  remove(params: Params<"secret/remove">, options?: CallOptions): Answer<"secret/remove"> {
    return this.#ask("secret/remove", params, options);
  }
}
