// What all nouns are made of: a way to ask the daemon.

import type { CallOptions } from "../link/calls.js";
import type { MethodName, MethodParams, MethodResult } from "../link/methods.js";

/** Calls a method of the wire. */
export type Ask = <M extends MethodName>(
  method: M,
  params: MethodParams<M>,
  options?: CallOptions,
) => Promise<MethodResult<M>>;

/** The parameters of a method. */
export type Params<M extends MethodName> = MethodParams<M>;

/** A promise of the result of a method. */
export type Answer<M extends MethodName> = Promise<MethodResult<M>>;
