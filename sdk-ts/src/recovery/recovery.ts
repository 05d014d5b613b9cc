// The life of a client's connection: made, lost, made again, and given up.
//
// Whoever is told that the connection was lost starts one row of attempts, which goes on until it stands or the patience is at
// its end: a stream, the handshake, every open thread behind its last seen event, and what was settled in the meantime. Only
// then calls go through it.

import { bounded, now, sleepUntil } from "../base/time.js";
import type { Core } from "../core.js";
import { incoming } from "../duties/incoming.js";
import { localError } from "../errors.js";
import type { DataChangedParams } from "../generated/protocol.js";
import { type Outage, pauseMs } from "../link/outage.js";
import type { Over } from "../link/phase.js";
import { Peer } from "../peer/peer.js";
import { forgetSettled } from "./interactions.js";
import { takeUpAll } from "./threads.js";
import { isRefusal, reasonOf, Wire } from "./wire.js";

/** How long what waits to be written may take when a connection is given up. */
const GIVE_UP_GRACE_MS = 1_000;
/** How long the last answers may take to be written when a client is closed. */
const CLOSE_GRACE_MS = 5_000;

/** Makes the first connection, once. */
export async function connect(core: Core): Promise<void> {
  const { wire, generation } = await shakeHands(core, true);
  open(core, wire, generation, undefined);
}

/** Ends a client from this side, and waits until what was to be written is, 5 s at most. */
export async function close(core: Core): Promise<void> {
  core.hub.end({ why: "closed" });
  const peer = core.link.end({ why: "closed" });
  const gone = peer?.close(CLOSE_GRACE_MS);
  // After the connection, so that work that is given up is not answered as if it had failed.
  core.ledger.cancelAll();
  if (gone) await core.anchor.during(() => gone);
}

/** The connection of this generation is over. */
function lost(core: Core, generation: number): void {
  const loss = core.link.lost(generation);
  if (!loss) return;
  if ("why" in loss) return end(core);
  core.ledger.disconnected();
  void reconnect(core, loss);
}

function end(core: Core): void {
  core.hub.end({ why: "lost" });
  core.ledger.cancelAll();
}

/** Tries until the connection stands or is given up. Never fails: how it ends is for whoever waits. */
async function reconnect(core: Core, outage: Outage): Promise<void> {
  const ended = endOf(core);
  try {
    const how = await attempts(core, outage, ended.signal);
    if (how) over(core, how);
  } finally {
    ended.forget();
  }
}

/** Attempts, until one succeeds or the client has ended; how it is given up when none did. */
async function attempts(core: Core, outage: Outage, ended: AbortSignal): Promise<Over | undefined> {
  const deadline = outage.since + core.setup.reconnectForMs;
  let reason = "the connection was lost";
  for (;;) {
    const next = now() + pauseMs(outage.attempts + 1, Math.random());
    await sleepUntil(Math.min(next, deadline), ended);
    if (core.link.isOver) return undefined;
    if (now() >= deadline) return { why: "gaveUp", attempts: outage.attempts, afterMs: now() - outage.since, reason };
    outage.attempts += 1;
    try {
      await attempt(core, outage, deadline);
      return undefined;
    } catch (error) {
      if (isRefusal(error) && !error.retryable) return { why: "refused", error };
      reason = reasonOf(error);
      core.link.tell(outage, reason);
    }
  }
}

/** A signal that fires when the client has ended. */
function endOf(core: Core): { signal: AbortSignal; forget: () => void } {
  const control = new AbortController();
  const forget = core.link.phase.listen((phase) => {
    if (phase.name === "over") control.abort();
  });
  return { signal: control.signal, forget };
}

function over(core: Core, how: Over): void {
  core.link.end(how);
  end(core);
}

/** One attempt, whole: afterwards everything is as it was before the connection was lost. */
async function attempt(core: Core, outage: Outage, deadline: number): Promise<void> {
  // Whoever is just starting the daemon anew gets the first moment.
  const hands = shakeHands(core, outage.attempts > 1);
  const late = (): Error => localError("noAnswer", { what: "reconnecting", afterMs: 0 }, "the time was over");
  const ended = endOf(core);
  const ends = { deadline, late, signal: ended.signal, aborted: late };
  let peer: Peer | undefined;
  try {
    const { wire, generation } = await bounded(hands, ends);
    peer = wire.peer;
    await bounded(takeUpAll(core, wire), ends);
    await bounded(forgetSettled(core, wire, generation), ends);
    open(core, wire, generation, outage);
    core.tell(everything());
  } catch (error) {
    // A connection that comes too late is not kept.
    if (peer) void peer.close(GIVE_UP_GRACE_MS);
    else void hands.then(({ wire }) => wire.peer.close(GIVE_UP_GRACE_MS)).catch(() => undefined);
    throw error;
  } finally {
    ended.forget();
  }
}

async function shakeHands(core: Core, mayStart: boolean): Promise<{ wire: Wire; generation: number }> {
  const stream = await core.setup.dial.open(mayStart);
  const generation = (core.connections += 1);
  const peer = new Peer(
    stream,
    incoming(core, generation, () => lost(core, generation)),
    core.anchor,
  );
  try {
    const wire = new Wire(peer, core.link.patienceMs);
    const about = await wire.greet(core.setup.greeting, core.setup.initializeTimeoutMs);
    core.link.greeted(generation, about);
    return { wire, generation };
  } catch (error) {
    void peer.close(GIVE_UP_GRACE_MS);
    throw error;
  }
}

function open(core: Core, { peer }: Wire, generation: number, outage: Outage | undefined): void {
  core.link.open(peer, generation, outage);
  // It may have been lost before anybody was told; and a client that has ended keeps none.
  if (peer.isClosed) lost(core, generation);
  else if (core.link.isOver) void peer.close(GIVE_UP_GRACE_MS);
}

/** Word of a change of everything, which no daemon sent: what lists may have missed while the connection was away. */
function everything(): DataChangedParams {
  const kinds: Record<string, true> = {
    ...{
      project: true,
      thread: true,
      run: true,
      queue: true,
      interaction: true,
      attention: true,
      tool: true,
      policy: true,
      grant: true,
    },
    ...{
      endpoint: true,
      settings: true,
      server: true,
      account: true,
      memory: true,
      instructions: true,
      resource: true,
    },
    ...{ review: true, app: true },
  };
  return { seq: 0, kinds: Object.keys(kinds) as DataChangedParams["kinds"] };
}
