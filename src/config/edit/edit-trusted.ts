import { resolve } from "node:path";
import { editFileThen, type ServerEdit, type TextEdit } from "./edit.ts";
import { findServers, type FoundServers } from "../read/find-servers.ts";
import { fingerprintOfFile } from "../trust/fingerprint.ts";
import { trustKeyOf } from "../load.ts";
import { candidates, pathOf, projectFolderOf, type Candidate, type ConfigContext } from "../read/places.ts";
import { parseSource } from "../read/read-source.ts";
import type { TrustStore } from "../trust/trust-store.ts";

/**
 * Edits a file for the user who asked for it. A project's file that was trusted stays trusted, and a new one is
 * trusted; a file from others that was not trusted stays so.
 */
export async function editTrusted(
  given: string,
  edits: readonly ServerEdit[] | TextEdit,
  { trust, surroundings }: { trust: TrustStore; surroundings: ConfigContext },
): Promise<void> {
  const file = resolve(surroundings.cwd, given);
  const place = placeOf(file, surroundings);
  await editFileThen(file, edits, async ({ before, after }) => {
    if (place?.layer !== "project") return;
    const key = trustKeyOf(place);
    // The written text is trusted, not what the file may contain by now.
    const fingerprint = (servers: FoundServers) => fingerprintOfFile(servers, place, surroundings);
    const known = before === undefined ? undefined : await found(before, file);
    const wasTrusted = !known || isEmpty(known) || (await trust.isTrusted(key, await fingerprint(known)));
    if (wasTrusted) await trust.trust(key, await fingerprint(await found(after, file)));
  });
}

function isEmpty({ servers, inputs }: FoundServers): boolean {
  return servers.length === 0 && inputs.length === 0;
}

async function found(text: string, file: string): Promise<FoundServers> {
  return findServers(await parseSource(text, file), file);
}

/** The kind of a file in its own folder; undefined if Nexus would not look for it. */
function placeOf(file: string, surroundings: ConfigContext): Candidate | undefined {
  const cwd = projectFolderOf(file, pathOf(surroundings.platform));
  return candidates({ ...surroundings, cwd }).find((candidate) => candidate.file === file);
}
