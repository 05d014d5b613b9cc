// A socket that is reset while the client is still looking at it: an error of connecting, and not the end of the process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Ropewalk } from "../../dist/index.js";
import { rejects, soon } from "./support.mjs";

/** Listens, says so, and never accepts. */
const busy = (path) => `
  require("node:net").createServer().listen(${JSON.stringify(path)}, () => {
    require("node:fs").writeSync(1, "listening");
    for (;;);
  });`;

test("k45 a socket that is reset before it is used ends nothing", { skip: process.platform === "win32" }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "ropewalk-reset-"));
  const socket = join(directory, "d.sock");
  const child = spawn(process.execPath, ["-e", busy(socket)], { stdio: ["ignore", "pipe", "inherit"] });
  const { stat } = fs.promises;
  // Who owns the socket is looked up when the system has connected: in that moment the one who listens goes.
  fs.promises.stat = async (...given) => {
    child.kill("SIGKILL");
    await once(child, "exit");
    for (let turn = 0; turn < 100; turn += 1) await new Promise((next) => setImmediate(next));
    return stat(...given);
  };
  syncBuiltinESMExports();
  try {
    await soon(once(child.stdout, "data"), "the word that it listens");
    await rejects(Ropewalk.connect({ socket, start: false }), "connectFailed");
  } finally {
    fs.promises.stat = stat;
    syncBuiltinESMExports();
    child.kill("SIGKILL");
    await rm(directory, { recursive: true });
  }
});
