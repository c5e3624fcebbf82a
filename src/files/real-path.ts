import { readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Where a path leads, also where nothing is there yet. */
export function realPath(path: string, steps = 40): string {
  try {
    return realpathSync(path);
  } catch {
    const next = linkAt(path);
    return next === undefined || steps === 0 ? path : realPath(next, steps - 1);
  }
}

function linkAt(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
}
