// Streams to a daemon: the local socket, or whatever the application brings.

import { stat } from "node:fs/promises";
import { connect as connectSocket, type Socket } from "node:net";
import { isObject } from "./base/json.js";
import { bounded, now, waiting } from "./base/time.js";
import { describe, kindOf } from "./duties/fence.js";
import { daemonPrograms, type Places } from "./environment.js";
import { localError, type RopewalkError } from "./errors.js";
import type { ByteStream } from "./peer/stream.js";
import { startDaemon } from "./start.js";

/** How long the system, or a function of the application, may take to connect. */
const CONNECT_DEADLINE_MS = 10_000;

/** A way to a daemon. */
export interface Dial {
  /** Opens a stream. `mayStart` says whether a daemon that does not run may be started, where that was asked for. */
  open(mayStart: boolean): Promise<ByteStream>;
  /** Whether a stream that is lost can be opened again. */
  readonly isLasting: boolean;
}

/** The socket of a home. A daemon is started when none runs, if it is said how long it may take. */
export function socketDial(places: Places, startTimeoutMs: number | undefined): Dial {
  const open = async (mayStart: boolean): Promise<ByteStream> => {
    try {
      return await connect(places.socket);
    } catch (error) {
      if (!nobodyListens(error)) throw unusable(places.socket, error);
    }
    if (startTimeoutMs === undefined || !mayStart) throw notRunning(places.socket);
    try {
      const socket = await startDaemon(daemonPrograms(), places, startTimeoutMs);
      return await connect(socket).catch((error: unknown) => {
        throw unusable(socket, error);
      });
    } catch (failed) {
      // Another client may have started one in the same moment, which then holds the home.
      return connect(places.socket).catch(() => {
        throw failed;
      });
    }
  };
  return { open, isLasting: true };
}

/** One stream, which cannot be had again. */
export function givenDial(stream: ByteStream): Dial {
  let left: ByteStream | undefined = stream;
  const open = (): Promise<ByteStream> => {
    const taken = left;
    left = undefined;
    const gone = localError("disconnected", {}, "The stream of this client has ended.");
    return taken ? Promise.resolve(taken) : Promise.reject(gone);
  };
  return { open, isLasting: false };
}

/** A function of the application that connects. */
export function throughDial(dial: () => ByteStream | Promise<ByteStream>): Dial {
  const late = (): Error => new Error(`it has not connected within ${CONNECT_DEADLINE_MS} ms`);
  const open = async (): Promise<ByteStream> => {
    const dialled = (async () => dial())();
    try {
      const stream: unknown = await bounded(dialled, { deadline: now() + CONNECT_DEADLINE_MS, late });
      if (isStream(stream)) return stream;
      throw new Error(`it gave ${kindOf(stream)}, which is no stream`);
    } catch (error) {
      // A stream that still comes is nobody's: left open, it would keep the process alive.
      void dialled.then((stream) => stream.destroy()).catch(() => undefined);
      const reason = describe(error);
      throw localError("dialFailed", { reason }, `The daemon cannot be reached: ${reason}.`, error);
    }
  };
  return { open, isLasting: true };
}

function isStream(value: unknown): value is ByteStream {
  if (!isObject(value)) return false;
  return ["on", "write", "end", "destroy"].every((method) => typeof value[method] === "function");
}

async function connect(path: string): Promise<Socket> {
  const late = (): Error => new Error(`the system has not connected within ${CONNECT_DEADLINE_MS} ms`);
  const socket = connectSocket({ path }).unref();
  // It may be reset before the peer has it, and an error nobody listens for would end the process.
  socket.on("error", () => undefined);
  try {
    await waiting<undefined>(
      (resolve, reject) => {
        socket.once("connect", () => resolve(undefined));
        socket.once("error", reject);
        return () => socket.off("error", reject);
      },
      { deadline: now() + CONNECT_DEADLINE_MS, late },
    );
    await checkOwner(path);
    if (socket.destroyed) throw new Error("it closed the connection at once");
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Refuses a socket that another user has made: it would get every prompt and every result. */
async function checkOwner(path: string): Promise<void> {
  const ours = process.geteuid?.();
  if (ours === undefined) return;
  const { uid } = await stat(path);
  if (uid === ours) return;
  const reason = `it belongs to user ${uid}, and this is user ${ours}.`;
  throw localError("connectFailed", { socket: path, reason }, `The daemon's socket ${path} cannot be used: ${reason}`);
}

function nobodyListens(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ECONNREFUSED";
}

function unusable(socket: string, error: unknown): Error {
  if (error instanceof Error && error.name === "RopewalkError") return error;
  const reason = error instanceof Error ? error.message : String(error);
  return localError(
    "connectFailed",
    { socket, reason },
    `The daemon's socket ${socket} cannot be used: ${reason}`,
    error,
  );
}

function notRunning(socket: string): RopewalkError {
  const what = "Start one with `ropewalk daemon`, or connect with `start: true`.";
  return localError("notRunning", { socket }, `No daemon listens at ${socket}. ${what}`);
}
