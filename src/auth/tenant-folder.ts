import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../errors/nexus-error.ts";
import type { Logger } from "../text/logger.ts";
import { DEFAULT_TENANT } from "./server-instance.ts";

/** The folder of a tenant on this machine: logs of its servers, and what is remembered of them. */
export function tenantFolder(stateFolder: string, tenant: string): string {
  return tenant === DEFAULT_TENANT ? stateFolder : join(stateFolder, "tenants", tenant);
}

/** Whether it is the folder of another tenant than `default`. */
export function isTenantFolder(folder: string): boolean {
  return basename(dirname(folder)) === "tenants";
}

/** Removes what a removed tenant left on this machine. */
export async function removeTenantFolder(stateFolder: string, tenant: string, logger: Logger): Promise<void> {
  if (tenant === DEFAULT_TENANT) return;
  try {
    await rm(tenantFolder(stateFolder, tenant), { recursive: true, force: true, maxRetries: 5 });
  } catch (error) {
    logger.warn(`the files of the removed tenant "${tenant}" could not be removed: ${messageOf(error)}`);
  }
}
