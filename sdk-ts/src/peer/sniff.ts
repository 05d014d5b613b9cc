// What the text of a message tells without being parsed: for lines that are too long, and ids that numbers cannot hold.

import { stringEnd } from "../base/json.js";

/** What was found in the members of a message. */
export interface Sniffed {
  /** The text of the id, when it stands there whole. */
  readonly id: string | undefined;
  /** Whether it is an answer: a result or an error, and no method so far. */
  readonly isAnswer: boolean;
}

/** Looks at the members of the message whose text begins with `head`. */
export function sniff(head: string): Sniffed {
  let id: string | undefined;
  let has = { answer: false, method: false };
  for (const [key, value] of members(head)) {
    if (key === '"result"' || key === '"error"') has = { ...has, answer: true };
    else if (key === '"method"') has = { ...has, method: true };
    else if (key === '"id"' && value !== undefined) id = value;
  }
  return { id, isAnswer: has.answer && !has.method };
}

/** The members of an object, as text; the value of the last one is missing when it is not there to its end. */
function* members(text: string): Generator<[key: string, value: string | undefined], undefined> {
  let at = skipSpace(text, 0);
  if (text[at] !== "{") return;
  for (;;) {
    at = skipSpace(text, at + 1);
    const keyEnd = valueEnd(text, at);
    if (keyEnd === undefined) return;
    const key = text.slice(at, keyEnd);
    at = skipSpace(text, keyEnd);
    if (text[at] !== ":") return;
    at = skipSpace(text, at + 1);
    const end = valueEnd(text, at);
    yield [key, end === undefined ? undefined : text.slice(at, end)];
    if (end === undefined) return;
    at = skipSpace(text, end);
    if (text[at] !== ",") return;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\r\n".includes(text.charAt(at))) at += 1;
  return at;
}

/** Where the value that begins at `at` ends; nothing when its end is not there. */
function valueEnd(text: string, at: number): number | undefined {
  const first = text[at];
  if (first === undefined) return undefined;
  if (first === '"') {
    const end = stringEnd(text, at);
    return end < text.length ? end + 1 : undefined;
  }
  if (first === "{" || first === "[") return nestedEnd(text, at);
  for (let end = at; end < text.length; end += 1) {
    if (",}] \t\r\n".includes(text.charAt(end))) return end;
  }
  return undefined;
}

function nestedEnd(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = stringEnd(text, at);
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}
