// The lines for the scripted model do what the documentation says: each block of them is a prompt that makes a run.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Block, at, blocks } from "../support/blocks.js";
import { Daemon } from "../support/daemon.js";
import { Ropewalk, tool } from "../../src/index.js";

/** Pages whose lines of text are checked elsewhere or are pictures. */
const elsewhere: Record<string, string> = {
  "docs/protocol.md": "protocol/tests/it/story.rs holds each line against the types",
  "docs/architecture.md": "the paths of a request and of a step, as pictures",
};

test("text_of_the_documentation_is_a_prompt_that_the_scripted_model_understands", async (context) => {
  const prompts = blocks().filter(({ language, page }) => language === "text" && !(page in elsewhere));
  assert.ok(prompts.length >= 5, `only ${prompts.length} prompts`);
  const daemon = await Daemon.start(context);
  const rope = await Ropewalk.connect({ socket: daemon.socket, onInput: () => ({ dismissed: true }) });
  context.after(() => rope.close());
  const called: string[] = [];
  const getIssue = tool({
    name: "get_issue",
    description: "Read an issue.",
    inputSchema: { type: "object", properties: { id: { type: "string" } } },
    run: () => (called.push("get_issue"), "#7 Login fails"),
  });
  const thread = await rope.threads.start({ tools: [getIssue] });
  for (const block of prompts) {
    const result = await thread.run(block.text);
    assert.equal(result.outcome.status, expected(block), at(block));
  }
  const calls = prompts.flatMap(({ text }) => text.match(/^call get_issue/gm) ?? []);
  assert.equal(called.length, calls.length);
});

function expected({ text }: Block): string {
  return /^fail /m.test(text) ? "failed" : "completed";
}
