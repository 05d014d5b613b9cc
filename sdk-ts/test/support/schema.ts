// Whether a value fits a definition of the bundle.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { root } from "./blocks.js";

export const bundle = JSON.parse(readFileSync(join(root, "protocol/schema.json"), "utf8"));

const checker = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
checker.addSchema(bundle, "bundle");

/** What is wrong with a value, seen as what a definition of the bundle describes; empty when it fits. */
export function problems(definition: string, value: unknown): string[] {
  const check = checker.getSchema(`bundle#/$defs/${definition}`);
  if (check === undefined) throw new Error(`the bundle has no ${definition}`);
  if (check(value) === true) return [];
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message ?? "does not fit"}`);
}
