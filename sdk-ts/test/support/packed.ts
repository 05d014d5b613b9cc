// The package as others get it: packed, and installed into an empty project.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { root } from "./blocks.js";
import { folder } from "./daemon.js";
import { ended } from "./shell.js";

const home = join(root, "sdk-ts");

export interface Packed {
  readonly tarball: string;
  /** The files in it. */
  readonly files: readonly string[];
}

/** Where the package is packed to and installed from: once for each process of tests. */
const place = mkdtempSync(join(tmpdir(), "ropewalk-packed-"));
process.once("exit", () => {
  rmSync(place, { recursive: true, force: true });
});

let packing: Promise<Packed> | undefined;
let installing: Promise<string> | undefined;

/** Packs the package, as it was built. */
export function packed(): Promise<Packed> {
  return (packing ??= pack());
}

async function pack(): Promise<Packed> {
  const words = ["pack", "--json", "--ignore-scripts", "--pack-destination", place];
  const { code, stdout, stderr } = await ended("npm", words, { cwd: home });
  assert.equal(code, 0, stderr);
  const [{ filename, files }] = JSON.parse(stdout);
  return { tarball: join(place, filename), files: files.map((file: { path: string }) => file.path) };
}

/** Installs the package into an empty project, and gives what came of it. Nothing is fetched. */
async function install(): Promise<string> {
  const { tarball } = await packed();
  const folder = join(place, "project");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", version: "1.0.0", private: true }));
  const words = ["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts", tarball];
  const { code, stderr } = await ended("npm", words, { cwd: folder });
  assert.equal(code, 0, stderr);
  return join(folder, "node_modules");
}

/** A project that has nothing but the package and, for its compiler, the types of Node. */
export class Project {
  readonly folder: string;

  private constructor(path: string) {
    this.folder = path;
  }

  static async start(context: TestContext, type: "module" | "commonjs" = "module"): Promise<Project> {
    const modules = await (installing ??= install());
    const project = new Project(folder(context));
    cpSync(modules, join(project.folder, "node_modules"), { recursive: true });
    project.write("package.json", JSON.stringify({ name: "consumer", version: "1.0.0", private: true, type }));
    return project;
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  /** Makes a package of ours one of the project's, as if it had been installed. */
  borrow(...names: string[]): void {
    for (const name of names) {
      const path = join(this.folder, "node_modules", name);
      mkdirSync(join(path, ".."), { recursive: true });
      symlinkSync(join(home, "node_modules", name), path);
    }
  }

  /** Copies what consumers of a kind write. */
  take(name: string): void {
    cpSync(join(home, "test", "consumers", name), join(this.folder, name));
  }
}

/** A compiler among our development dependencies. */
export function compiler(name: "typescript-oldest" | "typescript-newest"): string {
  return join(home, "node_modules", name, "bin", "tsc");
}
