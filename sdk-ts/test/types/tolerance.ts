// Who reads is ready for a daemon that is newer, and who asks cannot ask for what there is not. It only has to compile.
import type {
  Decision,
  ErrorData,
  Event,
  Item,
  Methods,
  Outcome,
  Part,
  Run,
  Unlisted,
} from "../../src/generated/protocol.js";

/** Each branch has the fields of its own member, and the last one is for members of tomorrow. */
export function shown(event: Event): string {
  switch (event.type) {
    case "itemDelta":
      return event.text;
    case "runCompleted":
      return `${event.outcome.status} after ${String(event.usage.requests)} requests`;
    case "itemCompleted":
      return named(event.item);
    case "queueChanged":
    case "threadUpdated":
    case "branchUpdated":
    case "branchDeleted":
    case "runStarted":
    case "runState":
    case "itemStarted":
    case "interactionOpened":
    case "interactionSettled":
    case "toolsChanged":
    case "toolProgress":
      return event.type;
    default: {
      const type: Unlisted = event.type;
      const anything: unknown = event.anything;
      return `${type} ${String(anything)}`;
    }
  }
}

function named(item: Item): string {
  if (item.kind === "toolCall") return item.tool.flatName;
  return item.kind === "assistantMessage" ? item.text : item.kind;
}

export function why(error: ErrorData): string {
  return error.kind === "notFound" ? `${error.noun} ${error.id}` : `${error.kind} ${String(error.retryable)}`;
}

export const word: string = "completed" satisfies Run["state"];
export const known: Outcome = "answered";

/** A value that was read is asked with only after it was compared. */
export function asked(choices: Methods["approval/request"]["params"]["choices"]): Decision {
  const [first] = choices;
  return first === "accept" || first === "decline" ? first : "cancel";
}

// @ts-expect-error without its last branch a function does not answer for every event
export function forgetful(state: Run["state"]): string {
  switch (state) {
    case "queued":
    case "running":
    case "waiting":
    case "paused":
    case "completed":
    case "failed":
    case "stopped":
    case "interrupted":
      return "known";
  }
}

// @ts-expect-error a made up value is none that a daemon may have sent
export const invented: Run["state"] = "sleeping";
// @ts-expect-error requests are closed
export const mode: NonNullable<Methods["run/submit"]["params"]["mode"]> = "sideways";
// @ts-expect-error and so is every part of an input
export const part: Part = { type: "video", text: "" };
export const unknownField: Methods["run/submit"]["params"] = {
  threadId: "th-1",
  input: [{ type: "text", text: "hello" }],
  // @ts-expect-error a misspelt option is seen before it is sent
  operatonId: "bot:7",
};
