#!/usr/bin/env node
import { join } from "node:path";
import { mkdirSync, lstatSync } from "node:fs";
import { readEnvironment } from "../environment.ts";
import { VERSION } from "../protocol/version.ts";
import { ownTypedName, withTypedName } from "./output/typed-name.ts";
import { overview } from "./overview.ts";
import { userFolders } from "../files/user-folders.ts";

// Nothing else is loaded for the two most frequent options.
const args = process.argv.slice(2);
const [first, ...others] = args;
const isAlone = others.length === 0;
if (isAlone && (first === "--version" || first === "-v")) process.stdout.write(`${VERSION}\n`);
else if (first === undefined || (isAlone && (first === "--help" || first === "-h" || first === "help")))
  process.stdout.write(withTypedName(overview(), ownTypedName(readEnvironment())));
else {
  await useCompileCache();
  const { run } = await import("./run.ts");
  process.exitCode = await run(args);
}

/**
 * Enables Node's compile cache, so that the next command starts faster. Code in that folder is executed, so only its
 * owner may write to it, and it must not be shared or relative. Node 20 has no such cache.
 */
async function useCompileCache(): Promise<void> {
  if (Number.parseInt(process.versions.node, 10) < 22) return;
  try {
    const { state } = userFolders(readEnvironment());
    const folder = join(state, "compile-cache");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isOwn(state) || !isOwn(folder)) return;
    const { default: module } = await import("node:module");
    if ("enableCompileCache" in module && typeof module.enableCompileCache === "function")
      module.enableCompileCache(folder);
  } catch {
    // Without the cache everything is compiled again; an unusable home folder is reported where it is needed.
  }
}

/** Windows has no such bits: folders in the user's profile are private. */
function isOwn(folder: string): boolean {
  const facts = lstatSync(folder);
  if (process.getuid === undefined) return true;
  return facts.isDirectory() && facts.uid === process.getuid() && (facts.mode & 0o022) === 0;
}
