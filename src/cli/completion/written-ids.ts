import { idOf } from "../../config/define-server.ts";
import { findServers } from "../../config/read/find-servers.ts";
import { loadText, parseSource } from "../../config/read/read-source.ts";

/** Ids of a file's servers. A file with mistakes has none: somebody who presses Tab wants no error. */
export async function loadWrittenIds(file: string): Promise<string[]> {
  try {
    const text = await loadText(file);
    return text === undefined ? [] : findServers(await parseSource(text, file), file).servers.map(idOf);
  } catch {
    return [];
  }
}
