// One after another: work that would undo each other if it overlapped.

/** Runs work in the order in which it came, one piece at a time. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when all that came before has ended. Every piece of work has a deadline of its own. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
