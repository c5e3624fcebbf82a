import { storeUnusable } from "./engine/store-failure.ts";
import { findKeyCheck, recordKeyCheck } from "./keep/key-check.ts";
import type { MasterKey, MasterKeyPlace } from "./master-key.ts";
import type { StoreEngine } from "./tables/migrate.ts";

/** Loads the master key of a store, or creates it for a new store. Throws if it is missing or does not match. */
export async function openKey(engine: StoreEngine, place: MasterKeyPlace): Promise<MasterKey> {
  const known = await findKeyCheck(engine.db);
  if (known !== undefined) return requireKey(known, await place.find(), { what: `The store ${engine.shown}`, place });
  const key = await place.findOrCreate();
  await recordKeyCheck(engine.db, key.checkValue);
  // Another process may have recorded a different key at the same time.
  const recorded = (await findKeyCheck(engine.db)) ?? key.checkValue;
  return requireKey(recorded, key, { what: `The store ${engine.shown}`, place });
}

/** Throws unless the check value was computed from this key. */
export function requireKey(
  checkValue: string,
  key: MasterKey | undefined,
  { what, place }: { what: string; place: MasterKeyPlace },
): MasterKey {
  if (key?.checkValue === checkValue) return key;
  const hint = `Set NEXUS_MASTER_KEY to the key that it was created with, or copy that key to ${place.file}.`;
  throw storeUnusable(
    key
      ? `${what} was created with another master key than the one in ${key.origin}`
      : `The master key of ${what.charAt(0).toLowerCase()}${what.slice(1)} is missing`,
    hint,
  );
}
