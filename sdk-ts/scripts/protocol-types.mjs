// The TypeScript of the wire, as text, from the schema bundle.
import { compile } from "json-schema-to-typescript";
import { createHash } from "node:crypto";
import { normalised } from "./normalise.mjs";
import { tolerant, unlisted } from "./tolerant.mjs";

const banner = `// Everything on the wire of Ropewalk. Made from protocol/schema.json by scripts/generate.mjs; edit neither by hand.
`;

/** @param {any} bundle @returns {Promise<string>} */
export async function protocolTypes(bundle) {
  const types = await compile(
    { title: "Root", type: "object", properties: {}, $defs: normalised(tolerant(bundle)) },
    "Root",
    {
      additionalProperties: false,
      bannerComment: "",
      // A list of at most eight is a list; the tuples of all lengths are no use to anybody.
      ignoreMinAndMaxItems: true,
      unreachableDefinitions: true,
      format: false,
    },
  );
  const all = [
    banner,
    unlisted,
    withoutRoot(types),
    methodMap(bundle, "toDaemon", "DaemonMethods", "What a client asks the daemon."),
    methodMap(bundle, "toClient", "ClientMethods", "What the daemon asks a client."),
    "/** Every method, in both directions. */\nexport type Methods = DaemonMethods & ClientMethods;\n",
    notificationMap(bundle, "toDaemon", "DaemonNotifications", "What a client tells the daemon."),
    notificationMap(bundle, "toClient", "ClientNotifications", "What the daemon tells a client."),
    "/** Every notification, in both directions. */\nexport type Notifications = DaemonNotifications & ClientNotifications;\n",
    constant("protocolVersion", bundle.protocolVersion, "The version of the protocol these types describe."),
    constant(
      "schemaHash",
      schemaHash(bundle),
      "The digest of the bundle these types were made from: what a daemon of the same version answers in its handshake.",
    ),
    constant("errorCodes", bundle.errors, "The kinds of errors and their JSON-RPC codes."),
    "/** The stable name of an error. */\nexport type ErrorKind = keyof typeof errorCodes;\n",
    constant(
      "limits",
      bundle.limits,
      "The limits of a daemon of this version; `initialize` tells those of the one at hand.",
    ),
    constant(
      "daemonMethods",
      entries(bundle.methods, "toDaemon").map(([name]) => name),
      "The methods a client of this version knows.",
    ),
    constant("mutatingMethods", mutating(bundle), "The methods that take an `operationId`."),
  ];
  const { format } = await import("prettier");
  return format(all.join("\n"), { parser: "typescript", printWidth: 120 });
}

/** The compiler wants a root type, and says of every other one that it belongs to it; nobody else cares. */
function withoutRoot(text) {
  const root = /export interface Root \{\s*\}\n/;
  if (!root.test(text)) throw new Error("the compiler wrote its root type in another form");
  return text
    .replace(root, "")
    .replace(
      /(\s*\*)*\s*\* This interface was referenced by `Root`'s JSON-Schema\s*\* via the `definition` "\w+"\./g,
      "",
    )
    .replace(/\/\*\*\s*\* ([^\n]{1,110})\n\s*\*\//g, "/** $1 */");
}

/** SHA-256 over the canonical form of RFC 8785. The bundle has no number that JSON writes in two ways. */
function schemaHash(bundle) {
  return createHash("sha256")
    .update(JSON.stringify(sorted(bundle)))
    .digest("hex");
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

function methodMap(bundle, direction, name, about) {
  const lines = entries(bundle.methods, direction).map(
    ([method, { description, params, result }]) =>
      `  /** ${description} */\n  ${JSON.stringify(method)}: { params: ${typeOf(params)}; result: ${typeOf(result)} };`,
  );
  return `/** ${about} */\nexport interface ${name} {\n${lines.join("\n")}\n}\n`;
}

function notificationMap(bundle, direction, name, about) {
  const lines = entries(bundle.notifications, direction).map(
    ([method, { description, params }]) => `  /** ${description} */\n  ${JSON.stringify(method)}: ${typeOf(params)};`,
  );
  return `/** ${about} */\nexport interface ${name} {\n${lines.join("\n")}\n}\n`;
}

function entries(table, direction) {
  return Object.entries(table).filter(([, entry]) => entry.direction === direction);
}

function typeOf(schema) {
  return schema.$ref.split("/").at(-1);
}

function constant(name, value, about) {
  return `/** ${about} */\nexport const ${name} = ${JSON.stringify(value)} as const;\n`;
}

function mutating(bundle) {
  return Object.entries(bundle.methods)
    .filter(([, entry]) => entry.mutates)
    .map(([name]) => name);
}
