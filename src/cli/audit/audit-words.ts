import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { OUTCOMES } from "../../gateway/operation/audit.ts";
import { AUDIT } from "../../operations/audit.ts";
import { parseDuration } from "../../text/duration.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Options } from "../command/command.ts";
import { optionsOf } from "../command/operation-options.ts";
import { refuseWholeKey } from "../keys/key-words.ts";
import {
  AUDITED_OPTIONS,
  openOperations,
  type CommandOperations,
  type OperatedContext,
} from "../store/open-operations.ts";

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

/** Which times are meant. */
export const TIME_OPTIONS = optionsOf(AUDIT.listAudit.input, {
  since: ["1h", "only records since this time: a duration before now, or a date"],
  until: ["DATE", "only records before this time: a duration before now, or a date"],
});

/** Which records are meant. */
export const FILTER_OPTIONS = {
  ...TIME_OPTIONS,
  ...optionsOf(AUDIT.listAudit.input, {
    key: ["ID", "only calls with this API key; the key for --gateway is in NEXUS_KEY alone"],
    server: ["ID", "only calls of this server"],
    tool: ["NAME", "only calls of this tool: TOOL or SERVER.TOOL"],
    outcome: ["NAME", `only records with this outcome: ${RECORDED_OUTCOMES.join(", ")}`],
  }),
};

type FilterValues = { readonly [K in keyof typeof FILTER_OPTIONS]?: string | undefined };

export function filterOf({ since, until, key, server, tool, outcome }: FilterValues) {
  if (key !== undefined) refuseWholeKey(key);
  if (outcome !== undefined && !RECORDED_OUTCOMES.includes(outcome)) {
    throw wrongUsage(`--outcome "${outcome}" is unknown`, `Use ${RECORDED_OUTCOMES.join(", ")}.`);
  }
  return { since: timeOf("since", since), until: timeOf("until", until), key, server, tool, outcome };
}

/** The time of an option, as operations take it: `90d` is as long before now. */
export function timeOf(option: string, given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const ago = /[a-z]$/.test(given) ? parseDuration(given) : undefined;
  if (ago !== undefined) return new Date(Date.now() - ago).toISOString();
  const time = /^\d{4}-\d\d/.test(given) ? Date.parse(given) : NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw wrongUsage(
    `--${option} "${given}" is not a time`,
    "Use a duration before now, such as 30m, 12h or 90d, or a date, such as 2026-03-31 or 2026-03-31T12:00:00Z.",
  );
}

type AuditContext = Omit<OperatedContext, "options"> & {
  options: { readonly gateway?: string | undefined; readonly database?: string | undefined };
};

/** Opens the audit that a command line is about. Its option --key selects records. */
export function openAudit(context: AuditContext): Promise<CommandOperations> {
  const { gateway, database } = context.options;
  return openOperations({ ...context, options: { gateway, database } });
}
