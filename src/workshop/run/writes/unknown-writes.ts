import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { defaultInstance, instanceFileName } from "../../../auth/server-instance.ts";
import { FileWriteLedger } from "./file-write-ledger.ts";

/** The writes that one server has recorded. */
export interface ServerWrites {
  server: string;
  ledger: Pick<FileWriteLedger, "unknown" | "findId" | "resolve">;
}

/** The folder of a user's recorded writes. */
export function writesFolder(stateFolder: string): string {
  return join(stateFolder, "writes");
}

/** Every server with writes that are recorded in files, configured or not, sorted by name. */
export async function recordedWrites(stateFolder: string, platform: NodeJS.Platform): Promise<ServerWrites[]> {
  const folder = writesFolder(stateFolder);
  const names: string[] = await readdir(folder).catch(() => []);
  return names.toSorted().flatMap((name) => {
    const [, server] = /^(.+)-[0-9a-f]{16}\.jsonl$/.exec(name) ?? [];
    if (server === undefined || `${instanceFileName(defaultInstance(server))}.jsonl` !== name) return [];
    return [{ server, ledger: new FileWriteLedger({ file: join(folder, name), platform }) }];
  });
}

/** The id of a write that its caller got, and the replacement address, if there was one. */
export function partsOfKey(key: string): { id: string; upstream?: string } {
  const [id = "", upstream] = key.split(" ");
  return upstream === undefined ? { id } : { id, upstream };
}
