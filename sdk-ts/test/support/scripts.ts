// Small programs in a process of their own, for what only a process can show: whether it ends, and what escapes it.
import { fileURLToPath, pathToFileURL } from "node:url";
import { environment } from "./daemon.js";
import { type Ended, ended } from "./shell.js";

const sdk = pathToFileURL(fileURLToPath(new URL("../../src/index.js", import.meta.url))).href;

/** Runs the body of a program that has the SDK's names, a `socket` and an `options` to connect with. */
export function script(body: string, socket: string): Promise<Ended> {
  const text = `import { Ropewalk, RopewalkError, tool } from ${JSON.stringify(sdk)};
const socket = ${JSON.stringify(socket)};
const options = { socket, start: false, client: { name: "bot" } };
${body}`;
  // Strict: a rejection that nobody handles ends the program with a stack and another exit code.
  const words = ["--unhandled-rejections=strict", "--input-type=module", "-e", text];
  return ended(process.execPath, words, { env: environment() });
}
