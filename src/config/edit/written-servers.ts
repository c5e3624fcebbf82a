import { isRecord } from "../../json/is-record.ts";
import { understand } from "../read/dialect.ts";
import { idOf } from "../define-server.ts";
import { findServers, type InputDefinition } from "../read/find-servers.ts";
import { trustedContent, type ProjectText } from "../trust/fingerprint.ts";
import { pathOf, projectFolderOf, type ConfigContext } from "../read/places.ts";
import { loadText, parseSource } from "../read/read-source.ts";
import { plainValue } from "../../source/source-node.ts";

/** What a file says, before anything is looked up or filled in. */
export interface WrittenServers {
  /** In our own words, and whatever it is: an entry may be no object at all. */
  servers: { id: string; name: string; entry: unknown }[];
  inputs: readonly InputDefinition[];
  /** What the servers read in the project. */
  files: readonly ProjectText[];
  /** Of exactly these servers and files: what to hand to the trust store after they were shown. */
  fingerprint: string;
}

/** Reads a file's servers as they are written; undefined where there is no such file. */
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
