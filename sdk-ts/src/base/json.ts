// Small questions about values that came as JSON.

/** Whether a value is an object with named members. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** How deep JSON text is nested, if deeper than `max`; else nothing. */
export function tooDeep(text: string, max: number): number | undefined {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = stringEnd(text, at);
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, (depth += 1));
    else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return deepest > max ? deepest : undefined;
}

/** The position of the quote that closes the string which opens at `at`; the end of the text when none does. */
export function stringEnd(text: string, at: number): number {
  for (let next = at + 1; next < text.length; next += 1) {
    const code = text.charCodeAt(next);
    if (code === 0x5c) next += 1;
    else if (code === 0x22) return next;
  }
  return text.length;
}
