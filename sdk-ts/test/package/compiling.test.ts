// The types of the packed package, as projects compile against them: strictly, in each way of resolving modules, with the
// oldest supported and the newest compiler.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { blocks, root } from "../support/blocks.js";
import { Project, compiler } from "../support/packed.js";
import { ended } from "../support/shell.js";

/** The oldest compiler that is supported, for `await using`; `docs/quickstart-typescript.md` says so. */
const oldest = "5.2";

const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  noEmit: true,
  target: "ES2022",
  lib: ["ES2022", "ESNext.Disposable"],
  types: ["node"],
};

const resolutions: [string, object, string[]][] = [
  ["node16", { module: "Node16", moduleResolution: "Node16" }, ["esm.mts", "commonjs.cts", "readme.mts"]],
  ["nodenext", { module: "NodeNext", moduleResolution: "NodeNext" }, ["esm.mts", "commonjs.cts", "readme.mts"]],
  ["bundler", { module: "ESNext", moduleResolution: "Bundler" }, ["esm.mts", "readme.mts"]],
];

for (const version of ["typescript-oldest", "typescript-newest"] as const) {
  test(`k47_strict_projects_compile_with_${version.replace("-", "_the_")}`, async (context) => {
    const project = await Project.start(context);
    project.borrow("@types/node", "undici-types");
    for (const file of ["esm.mts", "commonjs.cts"]) project.take(file);
    const example = blocks().find(({ page, language }) => page === "README.md" && language === "ts");
    project.write("readme.mts", example?.text ?? "");
    for (const [name, options, files] of resolutions) {
      const config = { compilerOptions: { ...strict, ...options }, files };
      project.write("tsconfig.json", JSON.stringify(config));
      const { code, stdout } = await ended(process.execPath, [compiler(version), "-p", "."], { cwd: project.folder });
      assert.equal(code, 0, `${name}: ${stdout}`);
    }
  });
}

before(() => {
  const manifest = JSON.parse(readFileSync(join(root, "sdk-ts/node_modules/typescript-oldest/package.json"), "utf8"));
  assert.match(manifest.version, new RegExp(`^${oldest.replace(".", "\\.")}\\.`));
  const page = readFileSync(join(root, "docs/quickstart-typescript.md"), "utf8");
  assert.ok(
    page.includes(`TypeScript ${oldest}`),
    `docs/quickstart-typescript.md says that TypeScript ${oldest} is the oldest`,
  );
});
