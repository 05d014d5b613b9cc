// Requests are closed, and what the daemon sends is open: which definitions are which, and what that makes of them.

/** The type of a value that these types do not list; written into the generated file. */
export const unlisted = `/**
 * A word that a newer daemon may send where these types list the ones they know: write the \`default\` branch of a
 * \`switch\` for it. It is a plain string and has no prefix; only the type has one, since TypeScript narrows by comparison
 * when no listed word can be of it. Nobody can write one down, for requests are closed.
 */
export type Unlisted = \`(unlisted)\${string}\` & { readonly __unlisted: unique symbol };

/** A member of a union that these types do not list: its tag, and whatever else it has. */
export type UnlistedMember<Tag extends string> = { readonly [Key in Tag]: Unlisted } & {
  readonly [field: string]: unknown;
};
`;

/**
 * The definitions with what tolerance takes. A definition that only the daemon sends is open under its own name; one that
 * clients send too stays closed, and is opened at each place where the daemon sends it.
 */
export function tolerant(bundle) {
  const { sent, received } = reachable(bundle);
  const all = bundle.$defs;
  const isSent = (name) => sent.has(name);
  const isOpened = (name) => received.has(name) || !sent.has(name);
  const twice = Object.keys(all).filter((name) => isSent(name) && isOpened(name) && holdsAUnion(all, name));
  const apart = twice.filter((name) => tagOf(all[name]) === undefined);
  const place = (ref) => {
    const name = nameOf(ref);
    if (apart.includes(name)) return { $ref: `${ref.slice(0, -name.length)}Read${name}` };
    if (!twice.includes(name)) return undefined;
    return { anyOf: [{ $ref: ref }, stranger(tagOf(all[name]))] };
  };
  const definitions = {};
  for (const [name, schema] of Object.entries(all)) {
    definitions[name] = isSent(name) ? schema : opened(schema, place);
    if (apart.includes(name)) definitions[`Read${name}`] = opened(schema, place);
  }
  return definitions;
}

/** A schema with a stranger in each of its unions, and every reference as `place` says. */
function opened(schema, place) {
  if (Array.isArray(schema)) return schema.map((part) => opened(part, place));
  if (typeof schema !== "object" || schema === null) return schema;
  if (schema.$ref !== undefined) {
    const other = place(schema.$ref);
    return other === undefined ? schema : { ...schema, $ref: undefined, ...other };
  }
  const parts = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, opened(value, place)]));
  const tag = ownTag(schema);
  if (tag === undefined) return parts;
  if (parts.oneOf === undefined) return { description: parts.description, anyOf: [{ ...parts }, stranger(tag)] };
  const { oneOf, ...rest } = parts;
  return { ...rest, anyOf: [...oneOf, stranger(tag)] };
}

function stranger(tag) {
  return { tsType: tag === "" ? "Unlisted" : `UnlistedMember<"${tag}">` };
}

/** What tells the members of a definition apart: a property, the empty string for plain words, undefined for no union. */
function tagOf(schema) {
  return ownTag(schema) ?? schema.allOf?.map(ownTag).find((tag) => tag !== undefined);
}

function ownTag(schema) {
  if (schema.enum !== undefined) return "";
  if (schema.oneOf === undefined) return undefined;
  if (schema.oneOf.every((member) => typeof member.const === "string")) return "";
  const tags = schema.oneOf.map((member) => tagsOfMember(member));
  const tag = tags[0].find((name) => tags.every((others) => others.includes(name)));
  if (tag === undefined) throw new Error(`nothing tells these apart: ${JSON.stringify(schema).slice(0, 200)}`);
  return tag;
}

function tagsOfMember(member) {
  const own = Object.entries(member.properties ?? {}).filter(([, schema]) => schema.const !== undefined);
  return [...own.map(([name]) => name), ...(member.allOf ?? []).flatMap(tagsOfMember)];
}

function holdsAUnion(all, name) {
  return [...closure(all, [name])].some((reached) => hasUnion(all[reached]));
}

function hasUnion(schema) {
  if (typeof schema !== "object" || schema === null) return false;
  return (!Array.isArray(schema) && ownTag(schema) !== undefined) || Object.values(schema).some(hasUnion);
}

/** The definitions that clients send, and those that they receive. */
function reachable(bundle) {
  const sent = [];
  const received = [];
  for (const { direction, params, result } of [
    ...Object.values(bundle.methods),
    ...Object.values(bundle.notifications),
  ]) {
    const [asked, answered] = direction === "toDaemon" ? [sent, received] : [received, sent];
    asked.push(nameOf(params.$ref));
    if (result !== undefined) answered.push(nameOf(result.$ref));
  }
  return { sent: closure(bundle.$defs, sent), received: closure(bundle.$defs, received) };
}

function closure(all, names) {
  const seen = new Set();
  const left = [...names];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    left.push(...references(all[name]));
  }
  return seen;
}

function references(schema) {
  if (typeof schema !== "object" || schema === null) return [];
  const own = typeof schema.$ref === "string" ? [nameOf(schema.$ref)] : [];
  return [...own, ...Object.values(schema).flatMap(references)];
}

function nameOf(ref) {
  return ref.split("/").at(-1);
}
