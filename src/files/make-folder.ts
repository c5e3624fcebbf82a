import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder with those above it. One after the other: `recursive` of Node never ends in folders that have no real
 * entries, such as /proc.
 */
export async function makeFolder(path: string): Promise<void> {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.push(at);
  for (const folder of missing.toReversed()) await mkdir(folder).catch(unlessThere(folder));
}

/** Another process may have made it in the meantime. */
function unlessThere(folder: string): (error: unknown) => void {
  return (error) => {
    if (!existsSync(folder)) throw error;
  };
}
