import { createHmac, randomBytes } from "node:crypto";
import { join } from "node:path";
import { withLock, type HeldLock } from "./file-lock.ts";
import { readOwnerOnly, writeOwnerOnly } from "./owner-only-file.ts";

const KEY_BYTES = 32;

/**
 * The key that seals state which clients carry between two requests. Each purpose has its own key, so that state sealed
 * for one cannot be used for another. All processes of this user share it, because another one may have to open the
 * seal.
 */
export async function loadStateKey(stateFolder: string, platform: NodeJS.Platform, purpose: string): Promise<Buffer> {
  const key = await loadKey(stateFolder, platform);
  return createHmac("sha256", key).update(purpose).digest();
}

async function loadKey(stateFolder: string, platform: NodeJS.Platform): Promise<Uint8Array> {
  const path = join(stateFolder, "request-state.key");
  const load = async () => {
    const kept = await readOwnerOnly(path, platform);
    return kept?.length === KEY_BYTES ? kept : undefined;
  };
  // If several processes find no key, one creates it.
  return (await load()) ?? withLock(path, async ({ check }) => (await load()) ?? makeKey(path, check));
}

async function makeKey(path: string, check: HeldLock["check"]): Promise<Uint8Array> {
  const key = randomBytes(KEY_BYTES);
  await writeOwnerOnly(path, key, check);
  return key;
}
