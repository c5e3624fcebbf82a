import type { ProcessLimits } from "../process/process-limits.ts";
import { parseByteSize } from "../text/byte-size.ts";
import { parseDuration } from "../text/duration.ts";
import { plainValue } from "../source/source-node.ts";
import type { SettingsSection } from "./settings-section.ts";

interface LimitKind {
  read: (value: unknown) => number | undefined;
  problem: string;
  hint: string;
}

const COUNT: LimitKind = { read: readCount, problem: "is not a number of processes", hint: "Use a number from 1." };
const BYTES: LimitKind = {
  read: readBytes,
  problem: "is not a size",
  hint: `Use "512MB", "4GB" or a number of bytes.`,
};
const TIME: LimitKind = {
  read: parseDuration,
  problem: "is not a duration",
  hint: `Use "30s", "2m" or a number of milliseconds.`,
};

/** Limits of a gateway that its configuration may have. */
export interface GatewayLimits extends ProcessLimits {
  /** How long a list waits for a server that was never seen, for clients that cannot be told later. */
  firstListMs?: number;
}

const WAIT: LimitKind = {
  read: readWait,
  problem: "is not a duration up to 10 minutes",
  hint: `Use "10s", "0s" or a number of milliseconds.`,
};

const LIMITS: Readonly<Record<string, readonly [keyof GatewayLimits, LimitKind]>> = {
  processes: ["processes", COUNT],
  processesPerTenant: ["processesPerTenant", COUNT],
  processesPerServer: ["processesPerServer", COUNT],
  memory: ["memoryBytes", BYTES],
  memoryPerTenant: ["memoryBytesPerTenant", BYTES],
  memoryPerServer: ["memoryBytesPerServer", BYTES],
  processWait: ["processWaitMs", TIME],
  firstListWait: ["firstListMs", WAIT],
};

/** The limits in "gateway": { "limits": … }. Throws where one of them is not valid. */
export function gatewayLimits(gateway: SettingsSection): GatewayLimits {
  const limits: GatewayLimits = {};
  for (const setting of gateway.membersOf("limits", Object.keys(LIMITS))) {
    const limit = LIMITS[setting.key.slice("limits.".length)];
    if (!limit) continue;
    const [name, { read, problem, hint }] = limit;
    const value = read(plainValue(setting.node));
    if (value === undefined) throw gateway.invalid(setting, problem, hint);
    limits[name] = value;
  }
  return limits;
}

/** A time that a client may have to wait for a list; undefined for anything else. */
export function readWait(value: unknown): number | undefined {
  const ms = parseDuration(value);
  return ms === undefined || ms > 600_000 ? undefined : ms;
}

/** A whole number from 1; undefined for anything else. */
export function readCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1 ? value : undefined;
}

/** A size from one byte; undefined for anything else. */
export function readBytes(value: unknown): number | undefined {
  const bytes = parseByteSize(value);
  return bytes === undefined || bytes < 1 ? undefined : bytes;
}
