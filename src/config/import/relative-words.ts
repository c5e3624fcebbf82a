import { isAbsolute } from "node:path";
import type { ServerEntry } from "../../transport/server-entry.ts";

/**
 * Words of a command that are files in this folder: another folder would not have them, unless the entry has a `cwd`.
 */
export function looksRelative({ command, args, cwd }: ServerEntry): string[] {
  if (cwd !== undefined) return [];
  const words: unknown[] = [command ?? [], args ?? []].flat();
  const texts = words.filter((word) => typeof word === "string");
  return texts.filter((word) => /[\\/]|^\.\.?$|\.(?:[cm]?[jt]s|py|sh|rb|jar|exe)$/.test(word) && isLocal(word));
}

function isLocal(word: string): boolean {
  return !isAbsolute(word) && !/^(?:-|~|@|\$\{)|:\/\//.test(word);
}
