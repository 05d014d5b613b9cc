// Where a daemon is looked for, which programs may be one, and what becomes of the one that is started.
import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { clientName, daemonPrograms, findPlaces } from "../../dist/environment.js";
import { Ropewalk } from "../../dist/index.js";
import { readReadyLine, startDaemon } from "../../dist/start.js";
import { DEADLINE_MS, rejects, soon } from "./support.mjs";

let directory;
before(async () => (directory = await mkdtemp(join(tmpdir(), "ropewalk-env-"))));
after(() => rm(directory, { recursive: true }));

const socketOf = (given, environment) => findPlaces(given, { HOME: "/u", ...environment }).socket;

test("the socket is looked for in the order of the contract", () => {
  const environment = { XDG_RUNTIME_DIR: "/r", XDG_STATE_HOME: "/st" };
  assert.equal(socketOf({ home: "/h", socket: "/s" }, environment), "/s");
  assert.equal(socketOf({ home: "/h" }, { ...environment, ROPEWALK_SOCKET: "/es" }), "/es");
  assert.equal(socketOf({ home: "/h" }, environment), "/h/daemon.sock");
  assert.equal(socketOf({}, { ...environment, ROPEWALK_HOME: "/eh" }), "/eh/daemon.sock");
  assert.equal(socketOf({}, environment), "/r/ropewalk/daemon.sock");
});

test("without a runtime directory it is in the platform's home", { skip: process.platform !== "linux" }, () => {
  assert.equal(socketOf({}, { XDG_STATE_HOME: "/st" }), "/st/ropewalk/daemon.sock");
  assert.equal(socketOf({}, { XDG_STATE_HOME: "", XDG_RUNTIME_DIR: "" }), "/u/.local/state/ropewalk/daemon.sock");
});

test("a socket path over the limit is refused with length and limit", { skip: process.platform === "win32" }, () => {
  assert.throws(() => findPlaces({ socket: `/tmp/${"x".repeat(120)}` }, {}), /125 bytes, at most 10[37]/);
});

test("the daemon's program is the one that is named, else beside this one, else in the path", () => {
  assert.deepEqual(daemonPrograms({ ROPEWALK_BIN: "/x/ropewalk", PATH: "/a" }), ["/x/ropewalk"]);
  const [beside, ...inPath] = daemonPrograms({ ROPEWALK_BIN: "", PATH: `/a${delimiter}${delimiter}/b` });
  assert.equal(dirname(beside), dirname(process.execPath));
  assert.deepEqual(
    inPath.map((program) => dirname(program)),
    ["/a", "/b"],
  );
});

test("a client is called like its script, as far as that can be a name", () => {
  assert.equal(clientName("/x/my bot (copy).mjs"), "mybotcopy");
  assert.equal(clientName("/x/日本.js"), "ropewalk-sdk");
  assert.equal(clientName(`/x/${"a".repeat(80)}.js`).length, 64);
});

test("a ready line names the socket, or says why there is none", () => {
  assert.deepEqual(readReadyLine('{"ready":true,"socket":"/s","pid":7}'), { kind: "ready", socket: "/s" });
  const failed = readReadyLine('{"ready":false,"error":{"kind":"unavailable","message":"Daemon 4242 has this home."}}');
  assert.deepEqual(failed, { kind: "failed", reason: "Daemon 4242 has this home." });
  assert.match(readReadyLine("").reason, /ended before/);
  assert.match(readReadyLine("hello").reason, /no ready line/);
});

async function script(name, text) {
  const path = join(directory, name);
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o700);
  return path;
}

const places = { home: "/h", socket: "/h/d.sock" };
const unix = { skip: process.platform === "win32" };

test("the first program there is is started with socket, home and idle exit", unix, async () => {
  const program = await script("ready", 'echo "{\\"ready\\":true,\\"socket\\":\\"$*\\"}"');
  const socket = await soon(startDaemon(["/nowhere/ropewalk", program], places, DEADLINE_MS));
  assert.equal(socket, "daemon --socket /h/d.sock --idle-exit-ms 900000 --home /h");
});

test("a failed start names everything that was tried", unix, async () => {
  const none = await rejects(startDaemon(["/nowhere/ropewalk", "/elsewhere/ropewalk"], places, 100), "startFailed");
  assert.match(none.message, /ROPEWALK_BIN.*\/nowhere\/ropewalk, \/elsewhere\/ropewalk/);
  const unready = await script("unready", "exit 3");
  assert.match((await rejects(startDaemon([unready], places, DEADLINE_MS), "startFailed")).message, /ended before/);
  const chatty = await script("chatty", "yes | head -c 100000 | tr -d '\\n'");
  assert.match((await rejects(startDaemon([chatty], places, DEADLINE_MS), "startFailed")).message, /no ready line/);
});

test("k05 a program that never gets ready is waited for until the deadline", unix, async () => {
  const mute = await script("mute", "exec sleep 3");
  const error = await rejects(startDaemon([mute], places, 50), "startFailed");
  assert.match(error.message, /not ready within 50 ms/);
});

test("without a daemon, and none to be started, the error says both ways out", unix, async () => {
  const error = await rejects(Ropewalk.connect({ socket: join(directory, "no.sock"), start: false }), "notRunning");
  assert.match(error.message, /ropewalk daemon.*start: true/);
  assert.equal(error.retryable, true);
});

test("a socket that is none is named with what the system says", unix, async () => {
  const path = join(directory, "file.sock");
  await writeFile(path, "no socket");
  const error = await Ropewalk.connect({ socket: path, start: false }).catch((caught) => caught);
  assert.ok(["notRunning", "connectFailed"].includes(error.kind), error.message);
  assert.match(error.message, /file\.sock/);
});

test("a daemon that listens elsewhere than it says is an error that names the socket", unix, async () => {
  const socket = join(directory, "nowhere.sock");
  const program = await script("liar", `echo '{"ready":true,"socket":"${socket}"}'`);
  const before = process.env.ROPEWALK_BIN;
  process.env.ROPEWALK_BIN = program;
  try {
    const error = await rejects(Ropewalk.connect({ socket }), "connectFailed");
    assert.match(error.message, /nowhere\.sock cannot be used: .*ENOENT/);
  } finally {
    if (before === undefined) delete process.env.ROPEWALK_BIN;
    else process.env.ROPEWALK_BIN = before;
  }
});
