import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { readEnvironment } from "../environment.ts";
import { userFolders } from "../files/user-folders.ts";

/**
 * Lets Node keep what it compiled, so that the next command starts faster. What is in that folder is run as code: it has to
 * be one that only its owner can write to, never a shared or relative one. Node 20 has no such cache.
 */
export async function useCompileCache(): Promise<void> {
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
    // Without it everything is compiled again; an unusable home folder is reported where it is needed.
  }
}

/** Windows has no such bits: folders of the user's profile are the user's own there. */
function isOwn(folder: string): boolean {
  const facts = lstatSync(folder);
  if (process.getuid === undefined) return true;
  return facts.isDirectory() && facts.uid === process.getuid() && (facts.mode & 0o022) === 0;
}
