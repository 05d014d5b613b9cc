// X02 and X01 (K45): a program that is done ends by itself, whatever it has left behind.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Daemon } from "../support/daemon.js";
import { script } from "../support/scripts.js";

const programs: Record<string, [body: string, said: string]> = {
  after_a_run_and_a_close: [
    `const rope = await Ropewalk.connect(options);
     const thread = await rope.threads.start();
     console.log((await thread.run("say hello")).text);
     await rope.close();`,
    "hello\n",
  ],
  after_a_run_without_a_close: [
    `const rope = await Ropewalk.connect(options);
     const thread = await rope.threads.start({ tools: [tool({ name: "a", description: "Work.", run: () => "" })] });
     console.log((await thread.run("say hello")).text);`,
    "hello\n",
  ],
  when_it_has_only_connected: [`await Ropewalk.connect(options);`, ""],
  after_two_closes_at_once: [
    `const rope = await Ropewalk.connect(options);
     await Promise.all([rope.close(), rope.close()]);
     await rope.close();`,
    "",
  ],
  at_the_end_of_an_await_using_block: [
    `{
       const rope = await Ropewalk.connect(options);
       try {
         const thread = await rope.threads.start();
         console.log((await thread.run("say hello")).text);
       } finally {
         await rope[Symbol.asyncDispose]();
       }
     }`,
    "hello\n",
  ],
  after_a_loop_that_was_left: [
    `const rope = await Ropewalk.connect(options);
     const thread = await rope.threads.start();
     for await (const event of thread.run("say a b c\\nsleep 600000")) if (event.type === "text") break;
     for await (const { event } of thread.events({ after: 0 })) { console.log(event.type); break; }`,
    "threadUpdated\n",
  ],
  after_a_close_while_calls_wait: [
    `const rope = await Ropewalk.connect(options);
     const thread = await rope.threads.start();
     const { runId } = await thread.run("sleep 600000").submitted();
     const waiting = rope.runs.wait({ runId, timeoutMs: 600_000 }).catch(({ kind }) => kind);
     const streaming = thread.events().next();
     await rope.close();
     console.log(await waiting, (await streaming).done);`,
    "disconnected true\n",
  ],
  after_a_close_while_a_handler_never_ends: [
    `let rope;
     const never = tool({ name: "never", description: "Wait.", run: () => (rope.close(), new Promise(() => undefined)) });
     rope = await Ropewalk.connect(options);
     const thread = await rope.threads.start({ tools: [never] });
     await thread.run("call never {}").catch(({ kind }) => console.log(kind));`,
    "disconnected\n",
  ],
  after_a_close_while_it_reconnects: [
    `const rope = await Ropewalk.connect(options);
     process.kill(rope.daemonInfo.pid, "SIGKILL");
     for await (const { state } of rope.watchConnection()) if (state === "reconnecting") break;
     const waiting = rope.threads.list().catch(({ kind }) => console.log(kind));
     await rope.close();
     await waiting;`,
    "disconnected\n",
  ],
  when_the_daemon_is_gone_and_nobody_waits: [
    `const rope = await Ropewalk.connect(options);
     process.kill(rope.daemonInfo.pid, "SIGKILL");
     for await (const { state } of rope.watchConnection()) if (state === "reconnecting") break;`,
    "",
  ],
  when_it_could_not_connect: [
    `await Ropewalk.connect({ ...options, socket: "/nowhere/daemon.sock" }).catch(({ kind }) => console.log(kind));`,
    "notRunning\n",
  ],
  after_handlers_that_were_called_long_after_the_input: [
    `const rope = await Ropewalk.connect({ ...options, onApproval: () => (console.log("asked"), "accept") });
     const work = tool({ name: "work", description: "Work.", approval: "ask", run: () => (console.log("called"), "done") });
     const thread = await rope.threads.start({ tools: [work] });
     console.log((await thread.run("sleep 1000\\ncall work {}")).text);`,
    "asked\ncalled\nwork: done\n",
  ],
  when_what_it_does_not_wait_for_fails: [
    `const rope = await Ropewalk.connect(options);
     const thread = await rope.threads.start();
     thread.run("hello", { branchId: "no-such-branch" });
     thread.run("hello", { signal: AbortSignal.abort() });
     await thread.run("say hello");
     await rope.close();`,
    "",
  ],
};

for (const [when, [body, said]] of Object.entries(programs)) {
  test(`x02_a_program_ends_by_itself_${when}`, async (context) => {
    const daemon = await Daemon.start(context);
    const { code, stdout, stderr } = await script(body, daemon.socket);
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: said, stderr: "" });
  });
}

test("x10_nothing_escapes_when_the_daemon_dies_under_calls_streams_and_a_close", async (context) => {
  const daemon = await Daemon.start(context);
  const { code, stdout, stderr } = await script(
    `const rope = await Ropewalk.connect({ ...options, reconnectForMs: 500 });
     const other = await Ropewalk.connect(options);
     const thread = await rope.threads.start();
     const { runId } = await thread.run("sleep 600000").submitted();
     const wait = () => rope.runs.wait({ runId, timeoutMs: 600_000 });
     const calls = [wait(), wait(), wait()];
     // And a caller that looks at some of them only.
     wait(); wait(); thread.read(); thread.tools(); thread.send("hello"); rope.threads.list(); rope.raw("daemon/status");
     rope.threads.start(); rope.threads.resume(thread.id); thread.events().next(); thread.run("hello"); thread.branches.list();
     rope.settings.read(); rope.runs.read(runId); rope.untilClosed(); thread.run("hello").stop();
     const streams = [thread.events().next(), thread.run("hello").result()];
     process.kill(rope.daemonInfo.pid, "SIGKILL");
     other.close();
     const ends = await Promise.allSettled([...calls, ...streams]);
     // An event may have come before the end.
     const failed = ends.filter(({ status }) => status === "rejected");
     console.log([...new Set(failed.map(({ reason }) => reason instanceof RopewalkError && reason.kind))].join());
     await rope.close();`,
    daemon.socket,
  );
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: "reconnectFailed\n", stderr: "" });
});
