// The one place that holds the connection. Everything that is sent goes through here: while the connection is away it
// waits, and what was under way when it was lost is asked again.

import type { Anchor } from "../base/anchor.js";
import { now } from "../base/time.js";
import { Watch } from "../base/watch.js";
import { localError, type RopewalkError } from "../errors.js";
import { type Initialized, limits, type Limits, type ToolProgressParams } from "../generated/protocol.js";
import type { Peer } from "../peer/peer.js";
import { History, type Outage } from "./outage.js";
import { type Connection, type Over, overError, overShown, type Phase } from "./phase.js";

/** Room for everything of a message that is not its parameters or result. */
const ENVELOPE_BYTES = 4_096;

/** The connection to the daemon, and how long its answers may take. */
export class Link {
  readonly anchor: Anchor;
  /** How long an answer may take, unless its caller says otherwise. */
  readonly patienceMs: number;
  readonly phase = new Watch<Phase>({ name: "away" });
  readonly shown: Watch<Connection>;
  /** What the daemon of the newest connection said of itself. */
  about: Initialized | undefined;
  /** The newest connection that has shaken hands, whether or not calls go through it yet. */
  generation = 0;
  /** The moment something came from the daemon. */
  heardAt = now();
  /** Whether this client has asked the daemon to stop: then a connection that is lost is not made again. */
  stops = false;
  /** Calls that have no answer yet. */
  underWay = 0;
  readonly #isLasting: boolean;
  readonly #history = new History();
  #connectedAt = now();
  #reconnects = 0;

  constructor(anchor: Anchor, patienceMs: number, isLasting: boolean) {
    this.anchor = anchor;
    this.patienceMs = patienceMs;
    this.#isLasting = isLasting;
    const reason = "the first connection";
    this.shown = new Watch<Connection>({ state: "reconnecting", since: new Date(), attempt: 1, reason });
  }

  /** Whether a connection that is lost is made again. */
  get isLasting(): boolean {
    return this.#isLasting && !this.stops;
  }

  /** Whether the client has ended. */
  get isOver(): boolean {
    return this.phase.value.name === "over";
  }

  get isConnected(): boolean {
    const phase = this.phase.value;
    return phase.name === "connected" && !phase.peer.isClosed;
  }

  /** Something came from the daemon. */
  hear(): void {
    this.heardAt = now();
  }

  /** A connection has shaken hands. From here on whoever attaches to a thread through an older one does so again. */
  greeted(generation: number, about: Initialized): void {
    this.about = about;
    this.generation = generation;
    this.hear();
  }

  /** Calls go through this connection from now on. Whoever opens it looks whether it was lost in the same moment. */
  open(peer: Peer, generation: number, outage: Outage | undefined): void {
    this.#connectedAt = now();
    if (outage) {
      this.#history.ended(outage);
      this.#reconnects += 1;
    }
    if (this.isOver) return;
    const daemon = this.about?.daemon.instanceId ?? "";
    this.phase.set({ name: "connected", peer, generation });
    this.shown.set({ state: "connected", daemon, reconnects: this.#reconnects });
  }

  /**
   * The connection of this generation was lost. An outage begins, or the client is over; nothing when it is not the
   * connection that calls go through.
   */
  lost(generation: number): Outage | Over | undefined {
    const phase = this.phase.value;
    if (phase.name !== "connected" || phase.generation !== generation) return undefined;
    if (!this.isLasting) {
      const over: Over = { why: "lost" };
      this.#enterOver(over);
      return over;
    }
    const outage = this.#history.lost(this.#connectedAt);
    this.phase.set({ name: "away" });
    this.tell(outage, "the connection was lost");
    return outage;
  }

  /** Shows how an outage stands. */
  tell(outage: Outage, reason: string): void {
    if (this.isOver) return;
    this.shown.set({ state: "reconnecting", since: outage.sinceDate, attempt: outage.attempts + 1, reason });
  }

  /** The client has ended. The first reason counts. Gives the connection that calls went through. */
  end(over: Over): Peer | undefined {
    const phase = this.phase.value;
    if (phase.name === "over") return undefined;
    this.#enterOver(over);
    return phase.name === "connected" ? phase.peer : undefined;
  }

  /** Why the client has ended; an error that says that it has when nobody has said why. */
  why(): RopewalkError {
    const phase = this.phase.value;
    return overError(phase.name === "over" ? phase.over : { why: "closed" });
  }

  /** The limits of the daemon, or those of this version before it has said. */
  get limits(): Limits {
    return this.about?.limits ?? limits;
  }

  /** The longest parameters or result that fit into a message. */
  get room(): number {
    return this.limits.maxMessageBytes - ENVELOPE_BYTES;
  }

  /**
   * Shows life of a call. Nothing is sent while the connection is away, when the next offer shows it, and while much waits
   * to be written.
   */
  progress(progress: ToolProgressParams): void {
    const phase = this.phase.value;
    if (phase.name === "connected" && phase.peer.outbox.isAtLeisure) phase.peer.notify("tool/progress", progress);
  }

  /** What is said of a request that may not be sent again. */
  interrupted(method: string): RopewalkError {
    const phase = this.phase.value;
    if (phase.name === "over") return overError(phase.over);
    if (method === "daemon/shutdown") return overError({ why: "closed" });
    const message =
      `The connection to the daemon was lost while ${method} was under way. Whether it was carried out is not known; ` +
      "with an operationId it would have been repeated.";
    return localError("effectUnknown", { method }, message);
  }

  #enterOver(over: Over): void {
    this.phase.set({ name: "over", over });
    this.shown.set(overShown(over));
  }
}
