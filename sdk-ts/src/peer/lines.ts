// Cuts a stream into lines without ever holding more of it than one line may be long.

/** How much of a line that is too long is kept, to find its id in. */
const HEAD_BYTES = 4_096;
const NEWLINE = 0x0a;

/** One line: whole and without its line break, or how one that is too long began and how long it was. */
export type Frame =
  | { readonly kind: "line"; readonly bytes: Uint8Array }
  | { readonly kind: "tooLong"; readonly head: Uint8Array; readonly actual: number };

/** The lines of a stream. What stands after the last line break when the stream ends is dropped: it may be torn. */
export class Lines {
  readonly #max: number;
  #parts: Uint8Array[] = [];
  #length = 0;
  #skipping: { head: Uint8Array; bytes: number } | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  /** The lines that end in this piece. */
  *take(piece: Uint8Array): Generator<Frame, undefined> {
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, from)) {
      const frame = this.#end(piece.subarray(from, end));
      from = end + 1;
      if (frame) yield frame;
    }
    this.#keep(piece.subarray(from));
  }

  #end(last: Uint8Array): Frame | undefined {
    const actual = this.#length + last.length;
    if (this.#skipping) {
      const { head, bytes } = this.#skipping;
      this.#skipping = undefined;
      return { kind: "tooLong", head, actual: bytes + last.length };
    }
    const bytes = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    this.#length = 0;
    if (actual > this.#max) return { kind: "tooLong", head: headOf(bytes), actual };
    return isBlank(bytes) ? undefined : { kind: "line", bytes };
  }

  #keep(rest: Uint8Array): void {
    if (rest.length === 0) return;
    if (this.#skipping) {
      this.#skipping.bytes += rest.length;
      return;
    }
    this.#parts.push(rest);
    this.#length += rest.length;
    if (this.#length <= this.#max) return;
    this.#skipping = { head: headOf(Buffer.concat(this.#parts)), bytes: this.#length };
    this.#parts = [];
    this.#length = 0;
  }
}

function headOf(line: Uint8Array): Uint8Array {
  return line.slice(0, HEAD_BYTES);
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
