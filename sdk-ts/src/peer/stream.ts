// What a connection runs over, said so that a socket of Node is one without this package naming Node's types.

/**
 * A stream of bytes in both directions, as a socket or a `Duplex` of Node is one. It is handed over for good: it is
 * written to, ended and destroyed by the client that has it.
 */
export interface ByteStream {
  /** Emits `data` with bytes, `close` once when nothing comes any more, and `error`. */
  on(event: string, listener: (...args: never[]) => void): unknown;
  /** Writes, and calls back when the bytes were taken by the system. */
  write(data: string, written: (error?: Error | null) => void): boolean;
  /** Says that nothing more will be written, and calls back when all was. */
  end(ended: () => void): unknown;
  /** Ends at once. */
  destroy(): unknown;
}
