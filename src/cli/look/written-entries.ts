import { idOf } from "../../config/define-server.ts";
import { understand } from "../../config/read/dialect.ts";
import { findServers } from "../../config/read/find-servers.ts";
import { loadText, parseSource } from "../../config/read/read-source.ts";
import { plainValue } from "../../source/source-node.ts";
import { isRecord } from "../../json/is-record.ts";

/** An entry as written in its file, in the keys of Nexus. */
export type WrittenEntry = Readonly<Record<string, unknown>>;

/** The entries of a file by id. Variables are not resolved, so their values cannot be shown by mistake. */
export async function loadWrittenEntries(file: string): Promise<Map<string, WrittenEntry>> {
  const entries = new Map<string, WrittenEntry>();
  try {
    const text = await loadText(file);
    if (text === undefined) return entries;
    for (const found of findServers(await parseSource(text, file), file).servers) {
      const value = plainValue(understand(found.node, found.section.dialect).node);
      entries.set(idOf(found), isRecord(value) ? value : {});
    }
  } catch {
    // Problems of a file are reported when the configuration is loaded.
  }
  return entries;
}
