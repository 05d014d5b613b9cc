// Images on their way into an input.

import { readFile, stat } from "node:fs/promises";
import { localError, type RopewalkError } from "../errors.js";
import { limits, type Part } from "../generated/protocol.js";

/**
 * An image as a part of an input: PNG, JPEG, GIF or WebP of at most 5 MiB, told apart by how it begins. Throws `invalidImage`
 * when it is none of these or larger.
 *
 * ```ts
 * await thread.run([{ type: "text", text: "What is wrong here?" }, image(screenshot)]);
 * ```
 */
export function image(bytes: Uint8Array): Part {
  return part(bytes, "The data");
}

/** The same from a file. Throws `invalidImage` also when the file cannot be read. */
export async function imageFile(path: string): Promise<Part> {
  const unreadable = (error: unknown): never => {
    const why = error instanceof Error ? error.message : String(error);
    throw invalid(path, `it cannot be read: ${why}.`, error);
  };
  // Looked at first, so that a film is not read into memory to find that it is too large.
  checkLength((await stat(path).catch(unreadable)).size, path);
  return part(await readFile(path).catch(unreadable), path);
}

function part(bytes: Uint8Array, shown: string): Part {
  if (!(bytes instanceof Uint8Array)) throw invalid(shown, "its bytes are a Uint8Array or a Buffer.");
  checkLength(bytes.length, shown);
  const mediaType = typeOf(bytes);
  if (mediaType === undefined) throw invalid(shown, "it is no PNG, JPEG, GIF or WebP.");
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return { type: "image", mediaType, data };
}

function typeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  return head.startsWith("RIFF") && head.slice(8) === "WEBP" ? "image/webp" : undefined;
}

function checkLength(length: number, shown: string): void {
  if (length <= limits.imageBytes) return;
  throw invalid(shown, `it has ${length} bytes, and at most ${limits.imageBytes} are allowed.`);
}

function invalid(shown: string, reason: string, cause?: unknown): RopewalkError {
  return localError("invalidImage", { image: shown, reason }, `${shown} cannot be sent as an image: ${reason}`, cause);
}
