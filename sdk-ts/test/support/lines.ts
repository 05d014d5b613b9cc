// Lines of a stream, as the protocol frames them.
import type { Socket } from "node:net";

/** Calls `take` for each whole line that comes. */
export function eachLine(socket: Socket, take: (line: string) => void): void {
  let rest = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
}

/** A message of the wire, as far as tests look into it. */
export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: any;
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
