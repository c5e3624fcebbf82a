import { fileURLToPath } from "node:url";
import { realPath } from "../files/paths.ts";
import type { TrustStore } from "../config/trust/trust-store.ts";
import type { CompiledApi } from "./compile/compile.ts";
import { readLock } from "./review/lock.ts";

/**
 * Whether this user has accepted what a tool file compiles to. The lock does not prove it: whoever writes the file can
 * also write the lock. Files of the package are accepted like the program itself.
 */
export async function isAccepted(toolFile: string, api: CompiledApi, trust?: TrustStore): Promise<boolean> {
  return (await trust?.isTrusted(realPath(toolFile), api.hash)) === true || isPackaged(api);
}

/** Accepts this version of the file; any other version has to be accepted again. */
export function accept(toolFile: string, { hash }: Pick<CompiledApi, "hash">, trust: TrustStore): Promise<void> {
  return trust.trust(realPath(toolFile), hash);
}

export function revokeAcceptance(toolFile: string, trust: TrustStore): Promise<void> {
  return trust.revoke(realPath(toolFile));
}

/** The folder `api` is beside both `src` and `dist`; this file is two folders down in either. */
async function isPackaged({ file: { api }, hash }: CompiledApi): Promise<boolean> {
  const example = fileURLToPath(new URL(`../../api/${api}/${api}.nexus.yaml`, import.meta.url));
  const lock = await readLock(example).catch(() => undefined);
  return lock?.compiled.hash === hash;
}
