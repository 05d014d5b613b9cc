// DYN-15 and DYN-26: what the documentation and the types say, where a program's author meets it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../support/blocks.js";

test("dyn_15_where_tools_are_introduced_the_pages_and_the_types_say_that_nothing_sandboxes_them", () => {
  for (const page of ["README.md", "docs/tools.md", "docs/quickstart-typescript.md", "sdk-ts/README.md"]) {
    assert.match(read(page), /sandbox/, page);
    assert.match(read(page), /permissions/, page);
    assert.match(read(page), /check|validate/i, page);
  }
  assert.match(read("sdk-ts/dist/tools/tool.d.ts"), /not sandboxed/);
});

test("dyn_26_every_production_client_is_told_to_register_an_approval_handler", () => {
  for (const page of ["docs/tools.md", "docs/approvals.md", "docs/quickstart-typescript.md"]) {
    assert.match(read(page), /every production client/i, page);
  }
  assert.match(read("sdk-ts/dist/options.d.ts"), /Register `onApproval` in every program/);
});

function read(path: string): string {
  return readFileSync(join(root, path), "utf8").replace(/\s+(\* )?/g, " ");
}
