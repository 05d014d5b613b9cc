// Where things are: the only place of the SDK that reads the environment.

import { homedir } from "node:os";
import { basename, delimiter, dirname, extname, join } from "node:path";
import { localError } from "./errors.js";

/** The longest path a Unix socket can have, its terminating zero not counted. */
const SOCKET_PATH_BYTES = process.platform === "linux" ? 107 : 103;
/** The program that is started on demand. */
const PROGRAM = process.platform === "win32" ? "ropewalk.exe" : "ropewalk";
/** What a client is called when its script has no usable name. */
const FALLBACK_NAME = "ropewalk-sdk";

/** Where the daemon is looked for. */
export interface Places {
  /** The home, when the caller or the environment names one. */
  readonly home: string | undefined;
  /** The socket: a path, or the name of a pipe on Windows. */
  readonly socket: string;
}

/** What is looked at of the environment. Empty values count as absent. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Home: as given, else `$ROPEWALK_HOME`, else the platform's state directory. Socket: as given, else `$ROPEWALK_SOCKET`,
 * else in an explicit home, else in `$XDG_RUNTIME_DIR`, else in the home.
 */
export function findPlaces(
  given: { home?: string | undefined; socket?: string | undefined },
  environment: Environment = process.env,
): Places {
  const named = (name: string): string | undefined => (environment[name] === "" ? undefined : environment[name]);
  const home = given.home ?? named("ROPEWALK_HOME");
  const runtime = named("XDG_RUNTIME_DIR");
  const socket =
    given.socket ??
    named("ROPEWALK_SOCKET") ??
    (home === undefined ? undefined : join(home, "daemon.sock")) ??
    (runtime === undefined ? undefined : join(runtime, "ropewalk", "daemon.sock")) ??
    join(stateDirectory(named), "daemon.sock");
  checkLength(socket);
  return { home, socket };
}

/**
 * The programs that may be the daemon, in the order in which they are tried: `$ROPEWALK_BIN` alone where it is set, else
 * `ropewalk` beside the own executable, else every one in `PATH`.
 */
export function daemonPrograms(environment: Environment = process.env): string[] {
  const named = environment.ROPEWALK_BIN;
  if (named) return [named];
  const inPath = (environment.PATH ?? environment.Path ?? "").split(delimiter).filter((directory) => directory !== "");
  return [dirname(process.execPath), ...inPath].map((directory) => join(directory, PROGRAM));
}

/** The name of the own script, as far as it can be a client's name. */
export function clientName(script: string | undefined = process.argv[1]): string {
  const name = script === undefined ? "" : basename(script, extname(script));
  return name.replaceAll(/[^A-Za-z0-9._-]/g, "").slice(0, 64) || FALLBACK_NAME;
}

function stateDirectory(named: (name: string) => string | undefined): string {
  if (process.platform === "win32") {
    const local = named("LOCALAPPDATA");
    if (local !== undefined) return join(local, "ropewalk");
    throw noHome();
  }
  const home = named("HOME") ?? homedir();
  if (!home) throw noHome();
  if (process.platform === "darwin") return join(home, "Library", "Application Support", "ropewalk");
  return join(named("XDG_STATE_HOME") ?? join(home, ".local", "state"), "ropewalk");
}

function noHome(): Error {
  const reason = "no home directory is known; give one, or set ROPEWALK_HOME.";
  return localError("invalidOption", { option: "home", reason }, `home: ${reason}`);
}

function checkLength(socket: string): void {
  const bytes = Buffer.byteLength(socket);
  if (process.platform === "win32" || bytes <= SOCKET_PATH_BYTES) return;
  const reason = `its path has ${bytes} bytes, at most ${SOCKET_PATH_BYTES} are possible here.`;
  const message = `The daemon's socket ${socket} cannot be used: ${reason}`;
  throw localError("connectFailed", { socket, reason }, message);
}
