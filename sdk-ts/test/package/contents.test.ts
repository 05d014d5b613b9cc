// What is in the package, and what it needs: nothing.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../support/blocks.js";
import { packed } from "../support/packed.js";
import { ended } from "../support/shell.js";

const home = join(root, "sdk-ts");
const manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));

test("the_package_needs_nothing_at_run_time", () => {
  for (const kind of ["dependencies", "peerDependencies", "optionalDependencies", "bundleDependencies"]) {
    assert.equal(manifest[kind], undefined, kind);
  }
});

test("the_package_imports_nothing_but_itself_and_node", async () => {
  const { files } = await packed();
  const code = files.filter((file) => /\.(js|d\.ts)$/.test(file));
  assert.ok(code.length > 20, `only ${code.length} files`);
  for (const file of code) {
    const text = readFileSync(join(home, file), "utf8");
    for (const [, from = ""] of text.matchAll(/(?:^|[^.\w])(?:from|import|import\()\s*["']([^"']+)["']/gm)) {
      assert.match(from, /^(\.\.?\/.*\.js|node:[a-z_/]+)$/, `${file} imports ${from}`);
    }
  }
});

test("the_package_has_its_code_its_types_its_readme_and_its_licence_and_nothing_else", async () => {
  const { files } = await packed();
  for (const needed of ["dist/index.js", "dist/index.d.ts", "README.md", "LICENSE", "package.json"]) {
    assert.ok(files.includes(needed), `${needed} is missing`);
  }
  const others = files.filter((file) => !/^(dist\/.*\.(js|d\.ts)|README\.md|LICENSE|package\.json)$/.test(file));
  assert.deepEqual(others, []);
  assert.equal(readFileSync(join(home, "LICENSE"), "utf8"), readFileSync(join(root, "LICENSE"), "utf8"));
});

test("k47_the_linters_of_packages_find_nothing", async () => {
  const { tarball } = await packed();
  const bin = join(home, "node_modules", ".bin");
  const lint = await ended(join(bin, "publint"), ["run", tarball, "--strict"], { cwd: home });
  assert.equal(lint.code, 0, lint.stdout + lint.stderr);
  const types = await ended(join(bin, "attw"), [tarball, "--profile", "esm-only", "--no-emoji", "--no-color"], {
    cwd: home,
  });
  assert.equal(types.code, 0, types.stdout + types.stderr);
});
