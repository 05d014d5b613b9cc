// Fresh ids: of a client, and of operations.

import { randomUUID } from "node:crypto";

/** A random id, as the wire takes it for instances and operations. */
export function freshId(): string {
  return randomUUID();
}
