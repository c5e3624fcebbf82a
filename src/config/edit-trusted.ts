import { basename, dirname } from "node:path";
import { editFileThen, type ServerEdit } from "./edit.ts";
import { findServers, type FoundServers } from "./find-servers.ts";
import { fingerprintOfFile, trustKeyOf } from "./load.ts";
import { candidates, type Candidate, type Surroundings } from "./places.ts";
import { parseSource } from "./read-source.ts";
import type { TrustStore } from "./trust-store.ts";

/**
 * Edits a file for the user who asked for it. A project's file that was trusted stays so, and a new one is trusted; one that
 * others wrote and nobody trusted does not become trusted by the way.
 */
export async function editTrusted(
  file: string,
  edits: readonly ServerEdit[],
  { trust, surroundings }: { trust: TrustStore; surroundings: Surroundings },
): Promise<void> {
  const place = placeOf(file, surroundings);
  await editFileThen(file, edits, async ({ before, after }) => {
    if (place?.layer !== "project") return;
    const key = trustKeyOf(place);
    // What is trusted is the text that was written, not what the file may hold by now.
    const wasTrusted = before === undefined || (await isEmptyOrTrusted(await found(before, file), key, trust));
    if (wasTrusted) await trust.trust(key, fingerprintOfFile(await found(after, file)));
  });
}

async function isEmptyOrTrusted(before: FoundServers, key: string, trust: TrustStore): Promise<boolean> {
  const isEmpty = before.servers.length === 0 && before.inputs.length === 0;
  return isEmpty || trust.isTrusted(key, fingerprintOfFile(before));
}

async function found(text: string, file: string): Promise<FoundServers> {
  return findServers(await parseSource(text, file), file);
}

/** Which of the places of its own folder a file is; undefined where Nexus would not look for it by itself. */
function placeOf(file: string, surroundings: Surroundings): Candidate | undefined {
  const folder = dirname(file);
  const cwd = basename(folder) === ".nexus" ? dirname(folder) : folder;
  return candidates({ ...surroundings, cwd }).find((candidate) => candidate.file === file);
}
