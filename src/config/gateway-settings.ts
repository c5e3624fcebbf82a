import { dirname } from "node:path";
import { boolean, choice, custom, record, text, whole, type Infer } from "../format/form.ts";
import { byteCount, milliseconds } from "../format/quantities.ts";
import { readValue } from "../format/read-form.ts";
import type { ProcessLimits } from "../process/process-limits.ts";
import { parseByteSize } from "../text/byte-size.ts";
import { parseDuration } from "../text/duration.ts";
import { loadSection } from "./load-section.ts";
import type { ConfigContext } from "./read/places.ts";
import type { SettingsSection } from "./settings-section.ts";

const DETAILS = ["none", "hashed", "redacted", "full"] as const;
/** What the audit contains of arguments or results. */
export type AuditDetail = (typeof DETAILS)[number];

const DAY_MS = 86_400_000;
const FOREVER = "forever";

const RETENTION = custom<number | typeof FOREVER>({
  read(part) {
    const value = part.value();
    const ms = value === FOREVER ? FOREVER : parseDuration(value);
    if (ms === FOREVER || (ms !== undefined && ms >= 1000)) return ms;
    part.error("is not a duration", `Use "90d", at least "1s", or "${FOREVER}".`);
    return undefined;
  },
  fallback: FOREVER,
  schema: {
    anyOf: [
      { type: "string", pattern: String.raw`^(forever|\d+(\.\d+)?\s*(s|m|h|d))$` },
      { type: "number", minimum: 1000 },
    ],
  },
});

const AUDIT = record({
  enabled: boolean().advice("Use true or false.").default(true).says("False: nothing is recorded."),
  onFailure: choice(["open", "closed"])
    .default("open")
    .says("`open`: calls are answered before their record is durable; `closed`: after."),
  arguments: choice(DETAILS).default("none").says("What is recorded of arguments."),
  results: choice(DETAILS).default("none").says("What is recorded of results."),
  retention: RETENTION.default(90 * DAY_MS).says('How long records are kept: "90d", or "forever".'),
});

/** `"gateway": { "audit": … }`. */
export interface AuditSettings extends Omit<Infer<typeof AUDIT>, "retention"> {
  /** How long records are kept; undefined: for ever. */
  retentionMs: number | undefined;
}

/** The audit where the configuration says nothing about it. */
export const DEFAULT_AUDIT: AuditSettings = toAuditSettings(readValue(AUDIT, {}).value);

function toAuditSettings({ retention, ...settings }: Infer<typeof AUDIT>): AuditSettings {
  return { ...settings, retentionMs: retention === FOREVER ? undefined : retention };
}

const COUNT = whole({ least: 1 }).advice("Use a number from 1.");
const BYTES = byteCount(`Use "512MB", "4GB" or a number of bytes.`);
const MAX_WAIT_MS = 600_000;

const LIMITS = record({
  processes: COUNT.says("Child processes of all servers.").optional(),
  processesPerTenant: COUNT.optional(),
  processesPerServer: COUNT.optional(),
  memory: BYTES.says("Memory of all child processes.").optional(),
  memoryPerTenant: BYTES.optional(),
  memoryPerServer: BYTES.optional(),
  processWait: milliseconds().says("How long a call waits for a place for a process.").optional(),
  firstListWait: milliseconds({
    most: MAX_WAIT_MS,
    not: "is not a duration up to 10 minutes",
    hint: `Use "10s", "0s" or a number of milliseconds.`,
  })
    .says("How long a list waits for a server that was never seen, for clients that cannot be told later.")
    .optional(),
});

/** What the configuration may say about the gateway. */
export const GATEWAY = record({
  database: text({ hint: "Use the path of a file, or postgres://user@host/database." })
    .advice("Use the path of a file, or postgres://user@host/database.")
    .says("The database: the path of a file, or the address of a PostgreSQL database.")
    .optional(),
  audit: AUDIT.filled(),
  limits: LIMITS.filled(),
});

/** `"gateway": { "database": … }` and its file. */
interface DatabaseSetting {
  value: string;
  file: string;
  /** The base of relative paths. */
  folder: string;
}

/** The database in the configuration. */
export async function findDatabaseSetting(
  context: ConfigContext,
  explicit: string | undefined,
): Promise<DatabaseSetting | undefined> {
  const found = (await loadSection("gateway", context, explicit)).read(GATEWAY, "database");
  return found && { value: found.value, file: found.file, folder: dirname(found.file) };
}

/** The audit in the configuration. Throws where a setting is not valid: an audit that is misconfigured must not be missed. */
export async function loadAuditSettings(context: ConfigContext, explicit: string | undefined): Promise<AuditSettings> {
  const found = (await loadSection("gateway", context, explicit)).read(GATEWAY, "audit");
  return found ? toAuditSettings(found.value) : DEFAULT_AUDIT;
}

/** Limits of a gateway that its configuration may have. */
interface GatewayLimits extends ProcessLimits {
  /** How long a list waits for a server that was never seen, for clients that cannot be told later. */
  firstListMs?: number;
}

/** The limits in "gateway": { "limits": … }. Throws where one of them is not valid. */
export function gatewayLimits(gateway: SettingsSection): GatewayLimits {
  const { value = {} } = gateway.read(GATEWAY, "limits") ?? {};
  const { memory, memoryPerTenant, memoryPerServer, processWait, firstListWait, ...counts } = value;
  return {
    ...counts,
    ...(memory && { memoryBytes: memory }),
    ...(memoryPerTenant && { memoryBytesPerTenant: memoryPerTenant }),
    ...(memoryPerServer && { memoryBytesPerServer: memoryPerServer }),
    ...(processWait !== undefined && { processWaitMs: processWait }),
    ...(firstListWait !== undefined && { firstListMs: firstListWait }),
  };
}

/** A time that a client may have to wait for a list; undefined for anything else. */
export function readWait(value: unknown): number | undefined {
  const ms = parseDuration(value);
  return ms === undefined || ms > MAX_WAIT_MS ? undefined : ms;
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
