import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { OUTCOMES } from "../../gateway/operation/audit.ts";
import type { AuditFilter } from "../../store/audit/audit-filter.ts";
import { parseDuration } from "../../text/duration.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Options } from "../command/command.ts";
import { refuseWholeKey } from "../keys/key-words.ts";
import { AUDITED_OPTIONS } from "../store/operated-audit.ts";

/** Those of calls, and that of records which were lost while the store was away. */
const RECORDED_OUTCOMES: readonly string[] = [...OUTCOMES, "dropped"];

/** For every command that reads the audit. */
export const AUDIT_OPTIONS = {
  tenant: {
    type: "string",
    value: "NAME",
    help: `the tenant, also one that was removed; default: ${DEFAULT_TENANT}, or with --gateway that of the key`,
  },
  ...AUDITED_OPTIONS,
} as const satisfies Options;

/** Which records are meant. */
export const FILTER_OPTIONS = {
  since: { type: "string", value: "1h", help: "only records since this time: a duration before now, or a date" },
  until: { type: "string", value: "DATE", help: "only records before this time: a duration before now, or a date" },
  key: {
    type: "string",
    value: "ID",
    help: "only calls with this API key; the key for --gateway is in NEXUS_KEY alone",
  },
  server: { type: "string", value: "ID", help: "only calls of this server" },
  tool: { type: "string", value: "NAME", help: "only calls of this tool: TOOL or SERVER.TOOL" },
  outcome: {
    type: "string",
    value: "NAME",
    help: `only records with this outcome: ${RECORDED_OUTCOMES.join(", ")}`,
  },
} as const satisfies Options;

type FilterValues = { readonly [K in keyof typeof FILTER_OPTIONS]?: string | undefined };

export function filterOf({ since, until, key, server, tool, outcome }: FilterValues): AuditFilter {
  if (key !== undefined) refuseWholeKey(key);
  if (outcome !== undefined && !RECORDED_OUTCOMES.includes(outcome)) {
    throw wrongUsage(`--outcome "${outcome}" is unknown`, `Use ${RECORDED_OUTCOMES.join(", ")}.`);
  }
  return { since: timeOf("since", since), until: timeOf("until", until), keyId: key, server, tool, outcome };
}

/** The time of an option: `90d` is as long before now. */
export function timeOf(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const ago = /[a-z]$/.test(given) ? parseDuration(given) : undefined;
  if (ago !== undefined) return Date.now() - ago;
  const time = /^\d{4}-\d\d/.test(given) ? Date.parse(given) : NaN;
  if (!Number.isNaN(time)) return time;
  throw wrongUsage(
    `--${option} "${given}" is not a time`,
    "Use a duration before now, such as 30m, 12h or 90d, or a date, such as 2026-03-31 or 2026-03-31T12:00:00Z.",
  );
}

export function unknownRecord(seq: number, tenant: string): NexusError {
  return new NexusError("NAME_UNKNOWN", `The audit of the tenant "${tenant}" has no record ${seq}`, {
    hint: `"nexus audit list" shows the newest records. Older ones may have been removed when their retention ended.`,
    mayHaveReached: false,
  });
}
