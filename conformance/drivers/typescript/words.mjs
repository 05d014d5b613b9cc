// Events, results and errors of the SDK in the words of the driver language, which all SDKs share.

/** Kinds of errors that the driver language has another word for. */
const kinds = {
  noAnswer: "timeout",
  notRunning: "unreachable",
  connectFailed: "unreachable",
  dialFailed: "unreachable",
  requestTooLarge: "tooLarge",
};

/** Events of a run, whose types the wire has other words for. */
const types = { started: "runStarted", state: "runState", text: "itemDelta", progress: "toolProgress" };

const known = new Set([
  ...["threadUpdated", "branchUpdated", "branchDeleted", "queueChanged", "runStarted", "runState", "itemStarted"],
  ...["itemCompleted", "interactionOpened", "interactionSettled", "toolsChanged", "runCompleted", "itemDelta"],
  "toolProgress",
]);

/** Whether an event is one that is reported. */
export const shows = ({ type }) => known.has(type);

/** A failure: of the daemon where there is a code, else of the SDK, else of the driver itself. */
export function failure(error) {
  const { name, message, kind, code, retryable, retryAfterMs, data } = error;
  if (name !== "RopewalkError")
    return { origin: "driver", kind: "driver", message: String(error?.stack ?? error), retryable: false };
  if (code !== undefined) return { origin: "daemon", kind, code, message, retryable, retryAfterMs, data };
  return { origin: "sdk", kind: kinds[kind] ?? kind, message, retryable };
}

/** The result of a run. */
export function resultOf({ runId, outcome }) {
  const { status, text, structured, error, by } = outcome;
  return { runId, result: { status, text, structured, errorKind: error?.kind, stoppedBy: by?.clientName } };
}

/** An event of a run. */
export function runEvent(event) {
  if (event.type === "completed") {
    const { runId, outcome } = event.result;
    return brief({ type: "runCompleted", runId, outcome });
  }
  return brief({ ...event, type: types[event.type] ?? event.type });
}

/** Type, ids, texts and states of an event of the wire, where it has them. */
export function brief(event) {
  const { type, itemId, offset, text, message, fraction, interactionId, branchId, runId } = event;
  const said = { type, itemId, offset, text, message, fraction, interactionId, branchId, runId };
  for (const holder of [event.run, event.item, event.interaction]) {
    for (const name of ["runId", "itemId", "interactionId", "kind", "state", "text"]) {
      if (holder?.[name] !== undefined) said[name] = holder[name];
    }
  }
  if (typeof event.outcome === "object") return { ...said, status: event.outcome.status, text: event.outcome.text };
  return { ...said, outcome: event.outcome };
}
