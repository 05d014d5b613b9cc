// The code blocks of the README and of the documentation, each with where it stands.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. The tests run from a folder of their own inside the package. */
export const root = fileURLToPath(new URL("../../../..", import.meta.url));

export interface Block {
  readonly page: string;
  /** The line of the fence. */
  readonly line: number;
  /** The first word of the fence's information: `ts`, `sh`, `json`; empty where it has none. */
  readonly language: string;
  readonly text: string;
  /** Why it is not run, where a comment right above it says so: `<!-- not run: why -->`. */
  readonly excuse: string | undefined;
}

/** Every code block there is, in the order of the pages. */
export function blocks(): Block[] {
  return pages(root).flatMap((path) => blocksOf(relative(root, path), readFileSync(path, "utf8")));
}

export function blocksOf(page: string, text: string): Block[] {
  const found: Block[] = [];
  const lines = text.split("\n");
  let open: { line: number; language: string; indent: string; excuse: string | undefined } | undefined;
  let body: string[] = [];
  for (const [index, line] of lines.entries()) {
    const fence = /^( *)```(.*)$/.exec(line);
    if (fence === null) body.push(open === undefined ? line : line.slice(open.indent.length));
    else if (open === undefined) {
      open = {
        line: index + 1,
        language: languageOf(fence[2] ?? ""),
        indent: fence[1] ?? "",
        excuse: excuse(lines, index),
      };
      body = [];
    } else {
      found.push({ page, line: open.line, language: open.language, text: body.join("\n"), excuse: open.excuse });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`${page}:${open.line}: the block does not end`);
  return found;
}

/** Where a block stands, for messages. */
export function at({ page, line }: Block): string {
  return `${page}:${line}`;
}

function languageOf(information: string): string {
  return information.split(/[ ,]/)[0] ?? "";
}

function excuse(lines: readonly string[], fence: number): string | undefined {
  const above =
    lines
      .slice(0, fence)
      .filter((line) => line.trim() !== "")
      .at(-1) ?? "";
  return /^<!-- not run: (.+) -->$/.exec(above.trim())?.[1];
}

const skipped = new Set(["node_modules", "target", "dist"]);

function pages(folder: string): string[] {
  const found = readdirSync(folder, { withFileTypes: true }).filter(
    ({ name }) => !name.startsWith(".") && !skipped.has(name),
  );
  return found.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return pages(path);
    return entry.name.endsWith(".md") ? [path] : [];
  });
}
