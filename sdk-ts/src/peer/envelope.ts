// What kind of message a line is, as JSON-RPC 2.0 says.

import { isObject } from "../base/json.js";
import type { WireError } from "../errors.js";
import { sniff } from "./sniff.js";

/** The text of an id, to be echoed as it came. */
export type IdText = string;

/** A message of the other end. */
export type Message =
  | { readonly kind: "request"; readonly id: IdText; readonly method: string; readonly params: unknown }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | { readonly kind: "answer"; readonly id: unknown; readonly result: unknown }
  | { readonly kind: "failure"; readonly id: unknown; readonly error: WireError | undefined }
  | { readonly kind: "invalid"; readonly id: IdText; readonly reason: string };

/** Reads a message; `text` is the text it was parsed from, where there is one. */
export function readMessage(value: unknown, text: string | undefined): Message {
  if (!isObject(value)) return { kind: "invalid", id: "null", reason: "not_an_object" };
  const id = "id" in value ? idText(value.id, text) : undefined;
  const invalid = (reason: string): Message => ({ kind: "invalid", id: id ?? "null", reason });
  if ("method" in value) {
    const { method, params } = value;
    if (value.jsonrpc !== "2.0") return invalid("jsonrpc_is_not_2_0");
    if (typeof method !== "string") return invalid("method_is_no_string");
    if (params !== undefined && typeof params !== "object") return invalid("params_are_no_structure");
    if (!("id" in value)) return { kind: "notification", method, params: params ?? undefined };
    if (id === undefined) return { kind: "invalid", id: "null", reason: "id_is_no_id" };
    return { kind: "request", id, method, params: params ?? undefined };
  }
  if ("error" in value && !("result" in value)) return { kind: "failure", id: value.id, error: errorOf(value.error) };
  if ("result" in value && !("error" in value)) return { kind: "answer", id: value.id, result: value.result };
  if ("result" in value) return { kind: "failure", id: value.id, error: undefined };
  return invalid("no_method");
}

/** The text of an id. A number that JavaScript cannot hold is taken from the text of the message. */
function idText(id: unknown, text: string | undefined): IdText | undefined {
  if (id === null || typeof id === "string") return JSON.stringify(id);
  if (typeof id !== "number") return undefined;
  if (Number.isSafeInteger(id)) return String(id);
  const whole = text === undefined ? undefined : sniff(text).id;
  return whole !== undefined && /^-?\d{1,20}$/.test(whole) ? whole : undefined;
}

function errorOf(error: unknown): WireError | undefined {
  if (!isObject(error) || typeof error.code !== "number") return undefined;
  const message = typeof error.message === "string" ? error.message : "";
  return { code: error.code, message, data: error.data };
}
