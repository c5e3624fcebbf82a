import { storeUnusable } from "./engine/store-failure.ts";
import type { MasterKey, MasterKeyPlace } from "./master-key.ts";

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
