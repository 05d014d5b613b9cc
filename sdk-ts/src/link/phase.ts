// How a client stands with its daemon: what it shows to its users, and what its calls go by.

import { localError, RopewalkError } from "../errors.js";
import type { InstanceId } from "../generated/protocol.js";
import type { Peer } from "../peer/peer.js";

/** How a client stands with its daemon, as {@link Ropewalk.connection} shows it. */
export type Connection =
  | {
      /** The connection stands, and every open thread is attached. */
      readonly state: "connected";
      /** The life of the daemon: another one means that the daemon was started anew. */
      readonly daemon: InstanceId;
      /** How often the connection was made again. */
      readonly reconnects: number;
    }
  | {
      /** The connection was lost and is being made again. Calls and streams wait meanwhile. */
      readonly state: "reconnecting";
      /** When it was lost. */
      readonly since: Date;
      /** Which attempt is next or under way; the first is 1. */
      readonly attempt: number;
      /** Why the attempt before failed, or that the connection was lost. */
      readonly reason: string;
    }
  | {
      /** Nothing comes any more. */
      readonly state: "closed";
      /** What ended it; none when it was closed from this side. */
      readonly error?: RopewalkError;
    };

/** What calls go by. */
export type Phase =
  | { readonly name: "connected"; readonly peer: Peer; readonly generation: number }
  | { readonly name: "away" }
  | { readonly name: "over"; readonly over: Over };

/** Why a client has ended. */
export type Over =
  | { readonly why: "closed" | "lost" }
  | { readonly why: "gaveUp"; readonly attempts: number; readonly afterMs: number; readonly reason: string }
  | { readonly why: "refused"; readonly error: RopewalkError };

/** What whoever waits is told: an error of its own each, and the same one for all in what it says. */
export function overError(over: Over): RopewalkError {
  switch (over.why) {
    case "closed":
    case "lost":
      return localError("disconnected", {}, "The connection to the daemon is over. Connect anew to go on.");
    case "gaveUp": {
      const { attempts, reason } = over;
      const afterMs = Math.round(over.afterMs);
      const tries = `${attempts} ${attempts === 1 ? "attempt" : "attempts"} in ${afterMs} ms, the last one: ${reason}`;
      const message = `The connection to the daemon was lost and could not be made again: ${tries}`;
      return localError("reconnectFailed", { attempts, afterMs, reason }, message);
    }
    case "refused": {
      const { message, data, code } = over.error;
      return new RopewalkError(message, data, { ...(code === undefined ? {} : { code }), cause: over.error });
    }
  }
}

/** How the end is shown. */
export function overShown(over: Over): Connection {
  return over.why === "closed" ? { state: "closed" } : { state: "closed", error: overError(over) };
}
