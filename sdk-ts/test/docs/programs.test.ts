// The TypeScript and JavaScript of the documentation compiles, strictly, against the packed package; and what is a whole
// program is run with a daemon and ends by itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Block, at, blocks } from "../support/blocks.js";
import { Daemon, environment } from "../support/daemon.js";
import { Project, compiler } from "../support/packed.js";
import { ended } from "../support/shell.js";

const libraries = ["zod", "valibot", "arktype", "@types/node", "undici-types"];

const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitReturns: true,
  allowJs: true,
  checkJs: true,
  skipLibCheck: false,
  target: "ES2022",
  lib: ["ES2022", "ESNext.Disposable"],
  module: "NodeNext",
  types: ["node"],
  outDir: "out",
};

test("typescript_of_the_documentation_compiles_and_whole_programs_run_and_end", async (context) => {
  const shown = blocks().filter(({ language }) => language === "ts" || language === "js");
  assert.ok(shown.length >= 12, `only ${shown.length} blocks`);
  const project = await Project.start(context);
  project.borrow(...libraries);
  const names = shown.map(nameOf);
  for (const [index, block] of shown.entries()) project.write(names[index] ?? "", block.text);
  project.write("tsconfig.json", JSON.stringify({ compilerOptions: strict, files: names }));
  const compiled = await ended(process.execPath, [compiler("typescript-newest"), "-p", "."], { cwd: project.folder });
  assert.equal(
    compiled.code,
    0,
    `${compiled.stdout}\n${shown.map((block, index) => `${names[index] ?? ""} is ${at(block)}`).join("\n")}`,
  );
  const programs = shown.filter(isProgram);
  assert.ok(programs.length >= 5, `only ${programs.length} programs`);
  const daemon = await Daemon.start(context);
  for (const block of programs) {
    const file = `out/${nameOf(block).replace(/mts$/, "mjs")}`;
    const { code, stdout, stderr } = await ended(process.execPath, [file], {
      cwd: project.folder,
      env: environment({ ROPEWALK_HOME: daemon.home }),
    });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: "" }, at(block));
    for (const [, said = ""] of block.text.matchAll(/\); \/\/ (.+)$/gm))
      assert.ok(stdout.includes(said), `${at(block)}: ${stdout}`);
    assert.ok(stdout !== "" && !stdout.includes("undefined"), `${at(block)}: ${stdout}`);
  }
});

function nameOf({ page, line, language }: Block): string {
  return `${page.replaceAll(/[^a-z]+/gi, "-")}-${line}.${language === "ts" ? "mts" : "mjs"}`;
}

/** What connects by itself does something when it is run; all else is a part of a program. */
function isProgram({ text }: Block): boolean {
  return /^(const|await using) rope = await Ropewalk\.connect/m.test(text);
}
