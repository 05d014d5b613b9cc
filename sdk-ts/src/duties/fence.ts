// Where code of the application runs: whatever it does ends as the answer to one request and nothing else.

/** How code of the application ended. */
export type Fenced<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown; readonly why: string };

/** Runs code of the application, and waits for what it promises. Never throws and never rejects. */
export async function fenced<T>(work: () => T | PromiseLike<T>): Promise<Fenced<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error, why: describe(error) };
  }
}

/**
 * A sentence about anything that was thrown, with its causes. Not even a getter that throws gets out of here, and half a
 * character, which no message may hold, is shown as one that is not known.
 */
export function describe(error: unknown): string {
  try {
    return wellFormed(sentence(error, 8));
  } catch {
    return "something that cannot be described was thrown";
  }
}

function sentence(error: unknown, depth: number): string {
  if (!(error instanceof Error)) return shown(error);
  const message = messageOf(error);
  if (depth === 0 || error.cause === undefined || error.cause === null) return message;
  const cause = sentence(error.cause, depth - 1);
  return message.endsWith(cause) ? message : `${message}: ${cause}`;
}

/** What an error says of itself: whatever its author has put there, it is text. */
function messageOf(error: Error): string {
  // A connection that fails at each of its addresses says so in its parts alone.
  if (error instanceof AggregateError && !error.message && error.errors.length > 0) {
    return error.errors.slice(0, 3).map(describe).join("; ");
  }
  const said: unknown = error.message || error.name;
  return typeof said === "string" ? said : shown(said);
}

function shown(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null) {
    const message = "message" in value ? value.message : undefined;
    if (typeof message === "string") return message;
    return writtenOr(value);
  }
  return String(value);
}

/** Its JSON, which an object whose `toJSON` gives nothing has not. */
function writtenOr(value: object): string {
  const text: unknown = JSON.stringify(value);
  return typeof text === "string" ? text : kindOf(value);
}

/** Text in which each half of a character, which JSON for the daemon may not hold, is replaced. */
export function wellFormed(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

/** What a value is, in words for its author: `undefined`, `a Map`, `an Array`, `an object`, `the number NaN`. Never throws. */
export function kindOf(value: unknown): string {
  try {
    return named(value);
  } catch {
    // A proxy, or a class with a getter that throws.
    return "an object";
  }
}

function named(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value === "object") {
    const made = (Object.getPrototypeOf(value) as { constructor?: { name?: unknown } } | null)?.constructor;
    const name = made?.name;
    if (typeof name !== "string" || name === "" || name === "Object") return "an object";
    return /^[AEIOU]/.test(name) ? `an ${name}` : `a ${name}`;
  }
  return `a ${typeof value}`;
}
