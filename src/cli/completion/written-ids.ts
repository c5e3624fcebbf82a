import { idOf } from "../../config/define-server.ts";
import { findServers } from "../../config/read/find-servers.ts";
import { loadText, parseSource } from "../../config/read/read-source.ts";

/** The ids of a file's servers. An invalid file has none: pressing Tab shows no errors. */
export async function loadWrittenIds(file: string): Promise<string[]> {
  try {
    const text = await loadText(file);
    return text === undefined ? [] : findServers(await parseSource(text, file), file).servers.map(idOf);
  } catch {
    return [];
  }
}
