import type { OptionNames } from "../errors/check-options.ts";
/** Limits of child processes. One that is absent does not apply. */
export interface ProcessLimits {
  /** Maximum number of child processes of all servers. */
  processes?: number | undefined;
  processesPerTenant?: number | undefined;
  processesPerServer?: number | undefined;
  /**
   * Maximum memory of the child processes of all servers, in bytes: resident memory, with everything they started.
   * Measured on Linux and macOS.
   */
  memoryBytes?: number | undefined;
  memoryBytesPerTenant?: number | undefined;
  memoryBytesPerServer?: number | undefined;
  /** How long a start waits for a free process; default: 45 seconds. */
  processWaitMs?: number | undefined;
}

export const PROCESS_LIMITS: OptionNames<ProcessLimits> = {
  processes: true,
  processesPerTenant: true,
  processesPerServer: true,
  memoryBytes: true,
  memoryBytesPerTenant: true,
  memoryBytesPerServer: true,
  processWaitMs: true,
};

/** Those of a gateway that are about processes. */
export function processLimitsOf(limits: ProcessLimits): ProcessLimits {
  return Object.fromEntries(Object.entries(limits).filter(([name]) => Object.hasOwn(PROCESS_LIMITS, name)));
}

/** Limits of the processes of one scope; infinite where there is none. */
export interface ScopeLimits {
  processes: number;
  memoryBytes: number;
}

/** Which processes are counted together. */
export type ScopeKind = "all" | "tenant" | "server";
