// Makes src/generated/protocol.ts from protocol/schema.json; with --check it only compares.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { protocolTypes } from "./protocol-types.mjs";

const bundleFile = new URL("../../protocol/schema.json", import.meta.url);
const target = new URL("../src/generated/protocol.ts", import.meta.url);

const expected = await protocolTypes(JSON.parse(await readFile(bundleFile, "utf8")));
if (process.argv.includes("--check")) {
  const current = await readFile(target, "utf8").catch(() => "");
  if (current !== expected) {
    console.error(`${fileURLToPath(target)} is out of date. Run: npm run generate`);
    process.exit(1);
  }
} else {
  await writeFile(target, expected);
}
