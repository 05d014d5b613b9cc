// How a run ended.

import { localError, unreadable } from "../errors.js";
import type { BranchId, ChangeSet, MessageId, OutcomeStatus, RunId, RunOutcome, Usage } from "../generated/protocol.js";
import type { Checked } from "../tools/input.js";

/** What a result is made of. */
export interface RunEnd {
  readonly runId: RunId;
  readonly branchId: BranchId;
  readonly messageId: MessageId;
  readonly outcome: RunOutcome;
  readonly usage: Usage;
  readonly changeSet?: ChangeSet | undefined;
}

/**
 * How a run ended. A run that failed, was stopped or interrupted is such a result too, and no error: {@link orThrow} makes one of
 * it, for those who want an exception.
 *
 * ```ts
 * const answer = (await thread.run("Summarise the open issues.")).orThrow();
 * console.log(answer.text, answer.usage.outputTokens);
 * ```
 */
export class RunResult<Output = unknown> {
  /** The run. */
  readonly runId: RunId;
  /** Its branch; a new one for a fork. */
  readonly branchId: BranchId;
  /** The message the input became. */
  readonly messageId: MessageId;
  /** The ending, with the final answer or what went wrong. */
  readonly outcome: RunOutcome;
  /** What its model requests cost. */
  readonly usage: Usage;
  /** The files it changed. */
  readonly changeSet: ChangeSet | undefined;
  readonly #checked: Checked | undefined;

  /** @internal */
  constructor(end: RunEnd, checked: Checked | undefined) {
    this.runId = end.runId;
    this.branchId = end.branchId;
    this.messageId = end.messageId;
    this.outcome = end.outcome;
    this.usage = end.usage;
    this.changeSet = end.changeSet;
    this.#checked = checked;
  }

  /** The kind of ending: `completed`, `failed`, `stopped` or `interrupted`. */
  get status(): OutcomeStatus {
    return this.outcome.status;
  }

  /** Whether the run ended well. */
  get isCompleted(): boolean {
    return this.outcome.status === "completed";
  }

  /** The final answer; empty when there is none. */
  get text(): string {
    return this.outcome.text ?? "";
  }

  /**
   * The final answer as data, for a run that was given an `outputSchema`. Throws `runNotCompleted` for a run that did not
   * complete, and `unreadable` when there is no data or the schema refuses it.
   */
  get output(): Output {
    this.orThrow();
    if (!this.#checked) throw unreadable("The answer of the run", "it is no data; ask for data with `outputSchema`.");
    if ("problem" in this.#checked) throw unreadable("The answer of the run", this.#checked.problem);
    return this.#checked.value as Output;
  }

  /** Itself if the run completed, else throws `runNotCompleted`, which carries this result. */
  orThrow(): this {
    if (this.isCompleted) return this;
    throw localError("runNotCompleted", { result: this }, this.#why());
  }

  #why(): string {
    const { status, error, reason, by } = this.outcome;
    const why = error?.message ?? reason;
    const rest = why === undefined ? "" : `: ${why}`;
    if (status === "stopped")
      return `The run was stopped${by?.clientName === undefined ? "" : ` by ${by.clientName}`}${rest}`;
    return status === "failed" ? `The run failed${rest}` : `The run was ${status}${rest}`;
  }
}
