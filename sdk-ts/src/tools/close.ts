// Closes a JSON Schema that was made from a type: what it does not declare is refused, before a handler runs.

import { isObject } from "../base/json.js";

type Schema = Record<string, unknown>;

/** A copy in which every object level that says itself what it consists of refuses anything else. */
export function closed(schema: Schema): Schema {
  const copy = structuredClone(schema);
  delete copy.$schema;
  close(copy);
  openExtended(copy, copy);
  return copy;
}

/** Maps, and objects that say what else they take, stay as they are. */
function close(schema: unknown): void {
  if (!isObject(schema)) return;
  for (const keyword of ["properties", "$defs", "definitions", "patternProperties"]) {
    if (isObject(schema[keyword])) Object.values(schema[keyword]).forEach(close);
  }
  for (const keyword of ["items", "additionalProperties", "contains", "not"]) close(schema[keyword]);
  for (const keyword of ["prefixItems", "anyOf", "oneOf", "allOf"]) {
    if (Array.isArray(schema[keyword])) schema[keyword].forEach(close);
  }
  const saysWhatElse = ["additionalProperties", "unevaluatedProperties", "patternProperties"];
  if (!describesObject(schema) || saysWhatElse.some((keyword) => keyword in schema)) return;
  schema[compose(schema) ? "unevaluatedProperties" : "additionalProperties"] = false;
}

function describesObject(schema: Schema): boolean {
  if ("properties" in schema) return true;
  return Array.isArray(schema.type) ? schema.type.includes("object") : schema.type === "object";
}

/** Opens the parts a composed object consists of, as each knows only its own properties. Says whether there are any. */
function compose(schema: Schema): boolean {
  let composed = "$ref" in schema;
  for (const keyword of ["anyOf", "oneOf", "allOf"]) {
    const parts = schema[keyword];
    if (!Array.isArray(parts)) continue;
    composed = true;
    for (const part of parts.filter(isObject)) {
      for (const closing of ["additionalProperties", "unevaluatedProperties"]) {
        if (part[closing] === false) Reflect.deleteProperty(part, closing);
      }
    }
  }
  return composed;
}

/**
 * Opens the definitions that some object extends by a reference beside its own properties: closed, each would refuse what the
 * other declares.
 */
function openExtended(schema: unknown, root: Schema): void {
  if (Array.isArray(schema)) return schema.forEach((member) => openExtended(member, root));
  if (!isObject(schema)) return;
  if (typeof schema.$ref === "string" && schema.$ref.startsWith("#/") && describesObject(schema)) {
    const definition = resolve(root, schema.$ref.slice(2));
    if (isObject(definition) && definition.additionalProperties === false) {
      Reflect.deleteProperty(definition, "additionalProperties");
    }
  }
  Object.values(schema).forEach((member) => openExtended(member, root));
}

function resolve(root: Schema, pointer: string): unknown {
  const parts = pointer.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return parts.reduce<unknown>((at, part) => (isObject(at) ? at[part] : undefined), root);
}
