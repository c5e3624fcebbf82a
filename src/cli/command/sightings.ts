import { join } from "node:path";
import { writeAtomicSync } from "../../files/atomic-write.ts";
import { findRegularText } from "../../files/regular-file.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { eraKey } from "../../host/servers/era-cache.ts";
import { isRecord } from "../../json/is-record.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { Era } from "../../protocol/revisions.ts";

/** What was last seen of a server. */
export interface Sighting {
  /** Milliseconds since 1970. */
  at: number;
  /** Identifies the server: one that is started or reached in another way is a different one. */
  key: string;
  outcome?:
    | { kind: "ready"; era: Era; protocolVersion: string; serverInfo: Implementation | undefined }
    | { kind: "failed"; code: string; message: string }
    | undefined;
  tools?: readonly string[];
  prompts?: readonly string[];
  /** Digests of lists that were compared with what was accepted. */
  lists?: Partial<Record<ListKind, string>> | undefined;
}

/** Not written again within this time, for scripts that repeat a command. */
const STILL_TRUE_MS = 60_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** What commands have seen of servers, in one file each, so that they do not overwrite each other. */
export class Sightings {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async find(definition: ServerDefinition): Promise<Sighting | undefined> {
    const seen = await this.last(definition.id);
    return seen && seen.key === keyOf(definition) ? (seen as Sighting) : undefined;
  }

  /** What was last seen under an id, of any server: sufficient for suggestions. */
  async last(id: string): Promise<Partial<Sighting> | undefined> {
    try {
      const seen: unknown = JSON.parse(findRegularText(this.#file(id), MAX_BYTES) ?? "null");
      return isRecord(seen) ? seen : undefined;
    } catch {
      return undefined;
    }
  }

  /** Adds to what was seen before; failures of writing are ignored. */
  async note(definition: ServerDefinition, seen: Omit<Sighting, "at" | "key">): Promise<void> {
    const key = keyOf(definition);
    if (key === undefined) return;
    const before = await this.find(definition);
    const now = { ...before, ...seen, key, at: Date.now() };
    const isRecent = before !== undefined && now.at - before.at < STILL_TRUE_MS;
    if (isRecent && JSON.stringify({ ...now, at: before.at }) === JSON.stringify(before)) return;
    try {
      writeAtomicSync(this.#file(definition.id), JSON.stringify(now));
    } catch {
      // Nothing depends on it.
    }
  }

  #file(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}

function keyOf({ entry }: ServerDefinition): string | undefined {
  return entry && eraKey(entry);
}
