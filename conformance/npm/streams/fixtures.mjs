// The bodies that the daemon's tests replay, read here by other code: recordings of others, and our own.
import { readdirSync, readFileSync } from "node:fs";

const FOLDER = new URL("../../../daemon/tests/fixtures/streams/", import.meta.url);

/** The shapes of the recordings whose file names do not say them. */
const SHAPES = { anthropic: "anthropic", gemini: "gemini", "openai-responses": "openaiResponses" };

export const read = (path) => readFileSync(new URL(path, FOLDER), "utf8");
export const pathOf = (path) => new URL(path, FOLDER);

/** Every case: its name, its shape, its body, and what is expected where its file says so itself. */
export function cases() {
  return [...recorded(), ...["chat", "anthropic", "responses", "gemini", "ollama"].flatMap(own)];
}

export function recorded() {
  const found = [];
  for (const file of readdirSync(FOLDER).filter((name) => /\.(txt|yaml)$/.test(name)).sort()) {
    const start = Object.keys(SHAPES).find((prefix) => file.startsWith(`${prefix}-`));
    for (const [number, body] of bodies(file, read(file)).entries()) {
      found.push({ name: `${file}#${number}`, shape: SHAPES[start] ?? "openaiCompatible", body });
    }
  }
  for (const file of readdirSync(pathOf("genai/")).sort()) {
    found.push({ name: `${file}#0`, shape: file.split(".").at(-1), body: read(`genai/${file}`) });
  }
  return found;
}

/** The bodies of a cassette or of a text of chunks. */
function bodies(file, content) {
  if (file.endsWith(".txt")) {
    const chunks = content.split("\n").filter((line) => line.trim() !== "");
    return [`${chunks.map((chunk) => `data: ${chunk}\n\n`).join("")}data: [DONE]\n\n`];
  }
  const found = [];
  const lines = content.split("\n");
  for (const [number, line] of lines.entries()) {
    const quoted = /^ *body: (".*")$/.exec(line);
    if (quoted) found.push(JSON.parse(quoted[1]));
    const block = /^( *)(?:body|string): \|/.exec(line);
    if (!block) continue;
    const rest = lines.slice(number + 1);
    const end = rest.findIndex((text) => text.trim() !== "" && text.search(/\S/) <= block[1].length);
    found.push(`${rest.slice(0, end < 0 ? undefined : end).map((text) => text.trimStart()).join("\n")}\n\n`);
  }
  return found;
}

/** Our own bodies of one file; the README beside them describes the format. */
function own(file) {
  const [defaults, ...blocks] = read(`own/${file}.txt`).split("\n== ");
  return blocks.map((block) => {
    const cut = block.indexOf("\n--\n");
    const [name, ...head] = block.slice(0, cut).split("\n");
    const { shape, framing, ...expected } = { ...members(defaults.split("\n")), ...members(head) };
    return { name, shape, expected, body: framed(framing, block.slice(cut + 4).replace(/\n+$/, "").split("\n")) };
  });
}

function members(lines) {
  const written = lines.filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    written.map((line) => {
      const [, name, value] = /^(\w+): (.*)$/.exec(line);
      return [name, /^["[]/.test(value) ? JSON.parse(value) : value];
    }),
  );
}

function framed(framing, lines) {
  const comment = (line) => line.startsWith(":");
  const events = (prefix) => lines.map((line) => (comment(line) ? `${line}\n\n` : `${prefix(line)}${line}\n\n`)).join("");
  const type = (line) => (line.startsWith("{") ? JSON.parse(line).type : undefined);
  const named = () => events((line) => (type(line) ? `event: ${type(line)}\ndata: ` : "data: "));
  const make = {
    events: () => events(() => "data: "),
    tight: () => events(() => "data:"),
    crlf: () => make.events().replaceAll("\n", "\r\n"),
    cr: () => make.events().replaceAll("\n", "\r"),
    unended: () => make.events().trimEnd(),
    named,
    "named-crlf": () => named().replaceAll("\n", "\r\n"),
    raw: () => `${lines.join("\n")}\n\n`,
    lines: () => `${lines.join("\n")}\n`,
    "lines-crlf": () => make.lines().replaceAll("\n", "\r\n"),
    "lines-unended": () => lines.join("\n"),
  };
  return make[framing]();
}
