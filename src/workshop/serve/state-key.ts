import { createHmac, randomBytes } from "node:crypto";
import { join } from "node:path";
import { withLock, type HeldLock } from "../../auth/file-lock.ts";
import { instanceKey, type ServerInstance } from "../../auth/server-instance.ts";
import { readOwnerOnly, writeOwnerOnly } from "../../auth/owner-only-file.ts";

const KEY_BYTES = 32;

/**
 * Seals what clients carry between the rounds of a call: a key for each server, so that what was agreed to with one is no
 * answer for another. The same for every process of this user: a command may be answered by the next one.
 */
export async function loadStateKey(
  of: ServerInstance,
  stateFolder: string,
  platform: NodeJS.Platform,
): Promise<Uint8Array> {
  const key = await loadKey(stateFolder, platform);
  return createHmac("sha256", key).update(instanceKey(of)).digest();
}

async function loadKey(stateFolder: string, platform: NodeJS.Platform): Promise<Uint8Array> {
  const path = join(stateFolder, "request-state.key");
  const load = async () => {
    const kept = await readOwnerOnly(path, platform);
    return kept?.length === KEY_BYTES ? kept : undefined;
  };
  // Of several who find none, one makes it.
  return (await load()) ?? withLock(path, async ({ check }) => (await load()) ?? makeKey(path, check));
}

async function makeKey(path: string, check: HeldLock["check"]): Promise<Uint8Array> {
  const key = randomBytes(KEY_BYTES);
  await writeOwnerOnly(path, key, check);
  return key;
}
