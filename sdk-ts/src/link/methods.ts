// What this version of the SDK knows of the methods of the wire.

import { type DaemonMethods, daemonMethods, mutatingMethods } from "../generated/protocol.js";

/** The name of a method that a client may call. */
export type MethodName = keyof DaemonMethods;

/** The parameters of a method. */
export type MethodParams<M extends MethodName> = DaemonMethods[M]["params"];

/** The result of a method. */
export type MethodResult<M extends MethodName> = DaemonMethods[M]["result"];

const known: ReadonlySet<string> = new Set(daemonMethods);
const mutating: ReadonlySet<string> = new Set(mutatingMethods);

/** Whether this version knows a method. */
export function isKnown(method: string): boolean {
  return known.has(method);
}

/** Whether a method changes something, and so takes an `operationId`. */
export function isMutating(method: string): boolean {
  return mutating.has(method);
}
