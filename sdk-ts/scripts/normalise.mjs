// What the schemas need before the type generator reads them right.

/** Keywords that say something to people only. */
const comments = new Set(["description", "default"]);

/**
 * Definitions whose every part becomes a type: a reference loses its neighbours, and an empty schema says that
 * anything may stand there.
 */
export function normalised(definitions) {
  return mapped(definitions, visit);
}

/** A schema, and every schema in it. */
function visit(schema) {
  if (typeof schema !== "object") return schema;
  if (!Object.keys(schema).some((key) => !comments.has(key))) return { ...schema, tsType: "unknown" };
  const { $ref, ...rest } = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, inside(key, value)]));
  if ($ref === undefined) return rest;
  // The generator drops what stands beside a reference, so only a comment may; anything else belongs into an allOf.
  const lost = Object.keys(rest).filter((key) => !comments.has(key));
  if (lost.length > 0) throw new Error(`${$ref} stands beside ${lost.join(", ")}, which would be lost`);
  return rest.description === undefined ? { $ref } : { description: rest.description, allOf: [{ $ref }] };
}

/** The value of a keyword, with the schemas in it visited. */
function inside(key, value) {
  if (key === "properties") return mapped(value, visit);
  if (key === "items" || key === "additionalProperties") return visit(value);
  if (key === "oneOf" || key === "anyOf" || key === "allOf") return value.map(visit);
  return value;
}

function mapped(object, change) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}
