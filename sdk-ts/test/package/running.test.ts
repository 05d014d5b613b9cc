// The packed package in an empty project: it runs from each module system, and the README's script does what it says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks } from "../support/blocks.js";
import { Daemon, environment } from "../support/daemon.js";
import { Project } from "../support/packed.js";
import { type Ended, ended } from "../support/shell.js";

/** How many lines the example may have. */
const lines = 10;

test("k47_the_example_of_the_readme_runs_from_the_packed_package_and_ends_by_itself", async (context) => {
  const [example, ...others] = blocks().filter(({ page, language }) => page === "README.md" && language === "ts");
  assert.ok(example !== undefined && others.length === 0, "the README has one example");
  assert.ok(example.text.split("\n").filter((line) => line.trim() !== "").length <= lines, "it is short");
  for (const word of ["tool(", "onApproval"]) assert.ok(example.text.includes(word), `it has ${word}`);
  const daemon = await Daemon.start(context);
  const project = await Project.start(context);
  const { code, stdout, stderr } = await run(project.write("quickstart.mjs", example.text), daemon);
  assert.deepEqual(
    { code, stdout, stderr },
    { code: 0, stdout: "Allowing get_issue 7\nget_issue: #7 Login fails on Tuesdays\n", stderr: "" },
  );
});

for (const [name, type, code] of [
  ["an_import_in_an_es_module", "module", `import { Ropewalk } from "@ropewalk/sdk";`],
  ["a_dynamic_import_in_commonjs", "commonjs", `(async () => {\nconst { Ropewalk } = await import("@ropewalk/sdk");`],
  [
    "a_require_in_commonjs_where_node_can",
    "commonjs",
    `(async () => {\nconst { Ropewalk } = require("@ropewalk/sdk");`,
  ],
] as const) {
  test(`k47_${name}_gets_the_sdk`, async (context) => {
    // Before 20.19 only an import reaches an ES module.
    if (code.includes("require(") && !("require_module" in process.features)) return;
    const daemon = await Daemon.start(context);
    const project = await Project.start(context, type);
    const body = `
const rope = await Ropewalk.connect();
const thread = await rope.threads.start();
console.log((await thread.run("say hello")).text);
await rope.close();`;
    const file = project.write("script.js", `${code}${body}${type === "module" ? "" : "\n})();"}\n`);
    const { code: ending, stdout, stderr } = await run(file, daemon);
    assert.deepEqual([ending, stdout], [0, "hello\n"], stderr);
  });
}

function run(file: string, daemon: Daemon): Promise<Ended> {
  return ended(process.execPath, [file], { env: environment({ ROPEWALK_HOME: daemon.home }) });
}
