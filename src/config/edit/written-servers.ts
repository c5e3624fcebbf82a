import { isRecord } from "../../json/is-record.ts";
import { understand } from "../read/dialect.ts";
import { idOf } from "../define-server.ts";
import { findServers, type InputDefinition } from "../read/find-servers.ts";
import { trustedContent, type ProjectText } from "../trust/fingerprint.ts";
import { pathOf, projectFolderOf, type ConfigContext } from "../read/places.ts";
import { loadText, parseSource } from "../read/read-source.ts";
import { plainValue } from "../../source/source-node.ts";

/** The content of a file, before variables are resolved. */
export interface WrittenServers {
  /** In the keys of Nexus, and not checked: an entry may be no object. */
  servers: { id: string; name: string; entry: unknown }[];
  inputs: readonly InputDefinition[];
  /** The project files that the servers read. */
  files: readonly ProjectText[];
  /** Of exactly these servers and files; given to the trust store after they were shown. */
  fingerprint: string;
}

/** Reads a file's servers as written; undefined if there is no such file. */
export async function loadWritten(file: string, surroundings: ConfigContext): Promise<WrittenServers | undefined> {
  const text = await loadText(file);
  if (text === undefined) return undefined;
  const found = findServers(await parseSource(text, file), file);
  const folder = projectFolderOf(file, pathOf(surroundings.platform));
  const { fingerprint, files } = await trustedContent(found, { file, folder }, surroundings);
  return {
    servers: found.servers.map((server) => {
      const { node, extra } = understand(server.node, server.section.dialect);
      const entry = plainValue(node);
      const id = idOf(server);
      return { id, name: server.name ?? id, entry: isRecord(entry) ? { ...entry, ...extra } : entry };
    }),
    inputs: found.inputs,
    files,
    fingerprint,
  };
}
