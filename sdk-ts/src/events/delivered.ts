// An event as it arrived, shared by all its readers: its position is known even when its type is not.

import { isObject } from "../base/json.js";
import type { ThreadEvent } from "../generated/protocol.js";

/** An event of a thread. */
export interface Delivered {
  readonly event: ThreadEvent;
  /** How many bytes it had on the wire. */
  readonly bytes: number;
}

/** Reads the parameters of `thread/event`; nothing when not even its position can be read. */
export function readDelivered(params: unknown, bytes: number): Delivered | undefined {
  if (!isObject(params) || typeof params.threadId !== "string") return undefined;
  if (!isObject(params.event) || typeof params.event.type !== "string") return undefined;
  const isPosition = (value: unknown): boolean => value === undefined || Number.isSafeInteger(value);
  if (!isPosition(params.seq) || !isPosition(params.after)) return undefined;
  return { event: params as unknown as ThreadEvent, bytes };
}

/** The last durable position an event tells of. */
export function positionOf({ event }: Delivered): number {
  return event.seq ?? event.after ?? 0;
}

/** The event with the text of the delta that follows it directly; nothing when that is not what follows. */
export function merged(first: Delivered, next: Delivered): Delivered | undefined {
  const [one, two] = [first.event.event, next.event.event];
  if (one.type !== "itemDelta" || two.type !== "itemDelta") return undefined;
  const follows = one.itemId === two.itemId && one.offset + Buffer.byteLength(one.text) === two.offset;
  if (!follows || first.event.after !== next.event.after) return undefined;
  const event = { ...first.event, event: { ...one, text: one.text + two.text } };
  return { event, bytes: first.bytes + Buffer.byteLength(two.text) };
}
