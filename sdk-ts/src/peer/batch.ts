// The answers to a batch: sent together when all of its requests have theirs.

/** A batch that is being answered. */
export class Batch {
  readonly #send: (line: string) => void;
  readonly #answers: string[] = [];
  #open = 0;
  #complete = false;

  constructor(send: (line: string) => void) {
    this.#send = send;
  }

  /** A request of the batch; what is returned takes its answer. */
  member(): (answer: string) => void {
    this.#open += 1;
    return (answer) => {
      this.#answers.push(answer);
      this.#open -= 1;
      this.#sendWhenDone();
    };
  }

  /** No further request belongs to it. */
  complete(): void {
    this.#complete = true;
    this.#sendWhenDone();
  }

  #sendWhenDone(): void {
    if (this.#complete && this.#open === 0 && this.#answers.length > 0) this.#send(`[${this.#answers.join(",")}]`);
  }
}
