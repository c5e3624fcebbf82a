import { randomInt } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { readOwnerOnly, writeOwnerOnly } from "../../files/owner-only-file.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import { parseJson } from "../../json/parse-json.ts";
import type { InputRequiredResult } from "../../protocol/mcp.ts";
import { REQUEST_STATE_HOURS } from "../../protocol/modern.ts";

/** A parked call to a modern server, with everything that is needed to continue it. */
export interface SavedCall {
  id: string;
  server: string;
  /** Identifies the server: one that is started or reached in another way is a different one. */
  key: string | undefined;
  method: string;
  params: Params;
  /** The server's questions and state, unchanged. */
  request: InputRequiredResult;
  /** Answers that were already given. */
  given: readonly string[];
}

const LIFE_MS = REQUEST_STATE_HOURS * 3_600_000;
const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const ID = /^[a-z0-9]{4,16}$/;

/** Parked calls, each in an owner-only file, because a state may contain anything. */
export class SavedCalls {
  readonly #folder: string;
  readonly #platform: NodeJS.Platform;

  constructor(folder: string, platform: NodeJS.Platform) {
    this.#folder = folder;
    this.#platform = platform;
  }

  static newId(): string {
    return Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join("");
  }

  async keep(call: SavedCall): Promise<void> {
    await this.#removeOld();
    await writeOwnerOnly(this.#file(call.id), JSON.stringify(call));
  }

  async get(id: string): Promise<SavedCall> {
    await this.#removeOld();
    const data = ID.test(id) ? await readOwnerOnly(this.#file(id), this.#platform) : undefined;
    // A damaged file is ignored.
    const call = data && parseJson(data.toString("utf8"));
    if (isRecord(call) && isRecord(call["request"])) return call as unknown as SavedCall;
    throw new NexusError("NAME_UNKNOWN", `There is no parked call "${id}"`, {
      hint: `Parked calls are kept for ${REQUEST_STATE_HOURS} hours. Make the call again without --continue.`,
      mayHaveReached: false,
    });
  }

  async remove(id: string): Promise<void> {
    await rm(this.#file(id), { force: true });
  }

  async #removeOld(): Promise<void> {
    const files = await readdir(this.#folder).catch(() => []);
    await Promise.all(
      files.map(async (name) => {
        const file = join(this.#folder, name);
        const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }));
        if (Date.now() - mtimeMs > LIFE_MS) await rm(file, { force: true });
      }),
    );
  }

  #file(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}
