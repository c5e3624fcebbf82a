import { asNexusError } from "../../errors/nexus-error.ts";
import type { Infer } from "../../format/form.ts";
import { OUTCOMES } from "../../gateway/operation/audit.ts";
import { AUDIT, checkView, type AUDIT_RECORD } from "../../operations/audit.ts";
import type { OperationClient } from "../../operations/client.ts";
import { MAX_PAGE } from "../../operations/forms.ts";
import { KEYS } from "../../operations/keys.ts";
import type { Store } from "../../store/store.ts";
import { asText } from "../../text/as-text.ts";
import { parseDuration } from "../../text/duration.ts";
import { visible, visibleJson } from "../../text/visible.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand, type Options } from "../command/command.ts";
import { optionsOf } from "../command/operation-options.ts";
import { refuseWholeKey } from "../keys/keys.ts";
import { pluralize } from "../output/amounts.ts";
import type { Style } from "../output/output.ts";
import { showTable, showWhole, type Cell } from "../output/table.ts";
import { tenantCommand } from "../store/operated-command.ts";
import {
  AUDITED_OPTIONS,
  openTenant,
  tenantOption,
  type TenantOperations,
  type OperatedContext,
} from "../store/open-operations.ts";
import { once } from "node:events";

/** Those of calls, and that of records which were lost while the store was away. */
const RECORDED_OUTCOMES: readonly string[] = [...OUTCOMES, "dropped"];

/** For every command that reads the audit. */
const AUDIT_OPTIONS = {
  tenant: tenantOption(", also one that was removed"),
  ...AUDITED_OPTIONS,
} as const satisfies Options;

/** Which times are meant. */
const TIME_OPTIONS = optionsOf(AUDIT.listAudit.input, {
  since: ["1h", "only records since this time: a duration before now, or a date"],
  until: ["DATE", "only records before this time: a duration before now, or a date"],
});

/** Which records are meant. */
const FILTER_OPTIONS = {
  ...TIME_OPTIONS,
  ...optionsOf(AUDIT.listAudit.input, {
    key: ["ID", "only calls with this API key; the key for --gateway is in NEXUS_KEY alone"],
    server: ["ID", "only calls of this server"],
    tool: ["NAME", "only calls of this tool: TOOL or SERVER.TOOL"],
    outcome: ["NAME", `only records with this outcome: ${RECORDED_OUTCOMES.join(", ")}`],
  }),
};

type FilterValues = { readonly [K in keyof typeof FILTER_OPTIONS]?: string | undefined };

function filterOf({ since, until, key, server, tool, outcome }: FilterValues) {
  if (key !== undefined) refuseWholeKey(key);
  if (outcome !== undefined && !RECORDED_OUTCOMES.includes(outcome)) {
    throw wrongUsage(`--outcome "${outcome}" is unknown`, `Use ${RECORDED_OUTCOMES.join(", ")}.`);
  }
  return { since: timeOf("since", since), until: timeOf("until", until), key, server, tool, outcome };
}

/** The time of an option, as operations take it: `90d` is as long before now. */
function timeOf(option: string, given: string | undefined): string | undefined {
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
  options: {
    readonly gateway?: string | undefined;
    readonly tenant?: string | undefined;
    readonly database?: string | undefined;
  };
};

/** Opens the audit that a command line is about. Its option --key selects records. */
function openAudit(context: AuditContext): Promise<TenantOperations> {
  const { gateway, tenant, database } = context.options;
  return openTenant({ ...context, options: { gateway, tenant, database } });
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;
const DAMAGE_FOUND = 10;
const ACCEPT =
  "If it was put back on purpose, say so once on the machine of the gateway: nexus audit verify --accept-loss";

type AuditRecord = Infer<typeof AUDIT_RECORD>;
type CheckView = ReturnType<typeof checkView>;

/** nexus audit list --since 1h */
export const auditList = tenantCommand({
  usage: "nexus audit list [--since 1h] [--key ID] [--server ID] [--tool NAME] [--outcome NAME]",
  description: `Lists calls and refused attempts of a tenant, the newest first: number, time, key, method, what it was about, and how it
ended. With --json: {"items":[…],"next":"…"}; next is the --cursor of the next page. Exit code 6: there is no such key or tenant.`,
  options: {
    ...FILTER_OPTIONS,
    limit: { type: "string", value: "N", help: `at most so many records; default: ${DEFAULT_LIMIT}` },
    cursor: { type: "string", value: "TEXT", help: "continue after an earlier page, with its next" },
    ...AUDIT_OPTIONS,
  },
  examples: [
    ["nexus audit list", "the newest calls"],
    ["nexus audit list --since 1h --outcome refused", "what was refused in the last hour"],
    ["nexus audit list --gateway https://gateway.example", "through a gateway, with the key in NEXUS_KEY"],
    [
      "nexus audit list --key 3fA9cK2mQx7Ytz01 --json",
      `{"items":[{"seq":42,"at":"…","tenant":"default",…}],"next":null}`,
    ],
  ],

  opens: openAudit,
  async does({ client, tenant }, { options }) {
    const filter = filterOf(options);
    const limit = limitOf(options.limit);
    const items: AuditRecord[] = [];
    let cursor = options.cursor ?? null;
    do {
      const asked = { ...filter, tenant, limit: Math.min(MAX_PAGE, limit - items.length), cursor: cursor ?? undefined };
      const page = await client.call(AUDIT.listAudit, asked);
      items.push(...page.items);
      cursor = page.next;
    } while (cursor !== null && items.length < limit);
    if (items.length === 0) await requireKey(client, tenant, filter.key);
    return { items, next: cursor };
  },
  tell({ items, next }, { out }) {
    showTable(out, items.map(row), "There are no such records.");
    if (next !== null) out.note(`There are more: add --cursor ${next}`);
  },
});

/** nexus audit show 42 */
export const auditShow = tenantCommand({
  usage: "nexus audit show <seq> [--tenant NAME]",
  description: "Shows one record of the audit in full, by its number. Exit code 6: there is no such record.",
  options: AUDIT_OPTIONS,
  examples: [
    ["nexus audit show 42", "everything that was recorded about this call"],
    ["nexus audit show 42 --tenant shop --json", "the same of another tenant, for programs"],
  ],

  opens: openAudit,
  async does({ client, tenant }, { words: [seq = ""] }) {
    if (/^\d{1,15}$/.test(seq)) return client.call(AUDIT.getAuditRecord, { tenant, seq });
    throw wrongUsage(`"${seq}" is not the number of a record`, `"nexus audit list" shows the numbers.`);
  },
  tell(record, { out }) {
    const rows = Object.entries(record).map(([name, value]) => [
      { text: name, style: "dim" as const },
      visible(typeof value === "object" ? JSON.stringify(value) : asText(value)),
    ]);
    showWhole(out, rows);
  },
});

/** nexus audit usage --since 7d */
export const auditUsage = tenantCommand({
  usage: "nexus audit usage [--since 24h] [--until DATE]",
  description:
    "Counts the calls of each key, by server and outcome, from the audit. Without --since, those of the last 24 hours.",
  options: { ...TIME_OPTIONS, ...AUDIT_OPTIONS },
  examples: [
    ["nexus audit usage", "how much each key was used since yesterday"],
    [
      "nexus audit usage --since 7d --tenant shop --json",
      `{"since":"…","until":"…","items":[{"keyId":"3fA9cK2mQx7Ytz01","server":"github","outcome":"ok","count":12}]}`,
    ],
  ],

  opens: openAudit,
  does: ({ client, tenant }, { options: { since, until } }) =>
    client.call(AUDIT.getUsage, { since: timeOf("since", since), until: timeOf("until", until), tenant }),
  tell({ items }, { out }) {
    const rows = items.map(({ keyId, server, outcome, count }) =>
      [keyId ?? "-", server ?? "-", outcome ?? "-", pluralize(count, "call")].map((text) => visible(text)),
    );
    showTable(out, rows, "There were no calls.");
  },
});

/** nexus audit export --since 30d > audit.jsonl */
export const auditExport = defineCommand({
  usage: "nexus audit export [--since 1h] [--key ID] [--server ID] [--tool NAME] [--outcome NAME]",
  description: `Writes records to stdout, the oldest first, one JSON object per line. An export of all records can be verified without the
store: the hash of a record is the SHA-256 of the hash before it and of its line without ',"hash":"…"'.`,
  options: { ...FILTER_OPTIONS, ...AUDIT_OPTIONS },
  examples: [
    ["nexus audit export > audit.jsonl", "all records"],
    ["nexus audit export --since 24h --server github", "one day of one server"],
  ],

  async run(context) {
    const { options, signal } = context;
    const filter = filterOf(options);
    await using opened = await openAudit(context);
    const { client, tenant } = opened;
    let isEmpty = true;
    for await (const stored of client.lines(AUDIT.exportAudit, { ...filter, tenant })) {
      signal.throwIfAborted();
      if (stored !== "") isEmpty = false;
      // What Nexus recorded has no invisible characters; what somebody changed may have.
      const lines = stored.split("\n").map(visibleJson).join("\n");
      // Waits for a reader that is slow.
      if (lines !== "" && !process.stdout.write(lines)) await once(process.stdout, "drain", { signal });
    }
    if (isEmpty) await requireKey(client, tenant, filter.key);
  },
});

/** nexus audit prune --before 90d */
export const auditPrune = tenantCommand({
  usage: "nexus audit prune --before 90d [--damaged] [--tenant NAME]",
  description: `Removes the records of a tenant that are older, and leaves a signed checkpoint, so that the rest can still be verified. A gateway
does this by itself for records older than gateway.audit.retention (default: 90d). Records that were changed are not removed
(exit code 10), because they are the trace of the change; --damaged removes them.`,
  options: {
    ...optionsOf(AUDIT.pruneAudit.input, {
      before: ["90d", "a duration before now, or a date; required"],
      damaged: ["", "also remove records that were changed"],
    }),
    ...AUDIT_OPTIONS,
  },
  examples: [
    ["nexus audit prune --before 90d", "keep the last 90 days"],
    [
      "nexus audit prune --before 90d --gateway https://gateway.example",
      "at this gateway, with the key of an admin in NEXUS_KEY; it is recorded in the audit",
    ],
    ["nexus audit prune --before 2026-01-01 --tenant shop --json", `{"tenant":"shop","removed":1200}`],
  ],

  opens: openAudit,
  async does({ client, tenant }, { options }) {
    const before = timeOf("before", options.before);
    if (before === undefined) throw wrongUsage("--before is missing", "Add --before 90d, or another duration or date.");
    return client.call(AUDIT.pruneAudit, { tenant, before, damaged: options.damaged });
  },
  tell: ({ tenant, removed }, { out }) =>
    out.line(`Removed ${pluralize(removed, "record")} of the tenant "${tenant}".`),
});

/** nexus audit verify */
export const auditVerify = defineCommand({
  usage: "nexus audit verify [--tenant NAME] [--accept-loss]",
  description: `Reads every record of the audit of all tenants, or of one, and verifies that none was changed, removed, added or re-ordered, and
that the newest one is there. Names the first wrong record. It needs the master key of the store. Exit code 0: everything is
as it was written; 10: damage was found. What "head" says can be kept at another place: as long as the record with that number has
that hash, nothing before it was changed. What this machine has seen is compared as well: an older state of the database that was put back
is damage, until a backup is restored with nexus store restore, or --accept-loss says that it is known. "first" is the number of the oldest record that is kept: older ones were removed when their
retention ended. With --gateway the gateway verifies, and without --tenant all tenants that the key manages; a
removed tenant has to be named then.`,
  options: {
    ...AUDIT_OPTIONS,
    tenant: { ...AUDIT_OPTIONS.tenant, help: "only this tenant, also one that was removed" },
    "accept-loss": {
      type: "boolean",
      help: "record that the newest records were lost because an older state of the database was put back",
    },
  },
  examples: [
    ["nexus audit verify", "the audit of all tenants"],
    ["nexus audit verify --gateway https://gateway.example", "the same through a gateway, with the key in NEXUS_KEY"],
    [
      "nexus audit verify --tenant shop --json",
      `{"ok":true,"tenants":[{"tenant":"shop","records":42,"first":1,"head":{"seq":42,"hash":"…"},"damage":null}]}`,
    ],
  ],

  async run(context) {
    const { out, options } = context;
    const { MISSING_CHAIN } = await import("../../store/audit/audit-check.ts");
    const { PUT_BACK } = await import("../../store/audit/seen-audit.ts");
    await using opened = await openAudit(context);
    const { client, store } = opened;
    if (options["accept-loss"] === true) await acceptLoss(store);
    const { checks, isComplete } =
      store && options.tenant === undefined ? await verifyAll(store) : await verifyTenants(client, options.tenant);
    const isRight = isComplete && checks.every(({ ok }) => ok);
    if (out.json) {
      const problem = isComplete ? {} : { problem: MISSING_CHAIN };
      out.value({ ok: isRight, tenants: checks.map(forPrograms), ...problem });
    } else {
      for (const check of checks) out.line(lineOf(check));
      if (!isComplete) out.line(`damaged: ${MISSING_CHAIN}`);
      if (checks.length === 0 && isComplete) out.note("There are no records.");
      for (const { tenant, lost } of checks) if (lost) out.note(lossOf(tenant, lost));
      if (!isRight) out.note("Compare with a backup or an export: nexus store backup, nexus audit export.");
      if (checks.some(({ damage }) => damage?.problem.includes(PUT_BACK))) out.note(ACCEPT);
    }
    return isRight ? 0 : DAMAGE_FOUND;
  },
});

interface Verified {
  checks: CheckView[];
  /** No chain was removed as a whole. */
  isComplete: boolean;
}

/** Only the store itself knows of chains that are missing, and of tenants that were removed. */
async function verifyAll(store: Store): Promise<Verified> {
  const { checkAllAudits } = await import("../../store/audit/audit-check.ts");
  const { checks, isComplete } = await checkAllAudits(store.audit);
  return { checks: checks.map(checkView), isComplete };
}

async function verifyTenants(client: OperationClient, tenant: string | undefined): Promise<Verified> {
  const checks: CheckView[] = [];
  for (const each of tenant === undefined ? await client.managedTenants() : [tenant]) {
    checks.push(await client.call(AUDIT.verifyAudit, { tenant: each }));
  }
  return { checks, isComplete: true };
}

/** What was seen is known on the machine of the gateway. */
async function acceptLoss(store: Store | undefined): Promise<void> {
  if (store) return store.audit.acceptLoss();
  throw wrongUsage(
    "The loss of records cannot be accepted through a gateway",
    "Run nexus audit verify --accept-loss on the machine of the gateway, with its database.",
  );
}

/** Throws NAME_UNKNOWN for the id of a key that does not exist; only an admin can see that. */
async function requireKey(client: OperationClient, tenant: string, id: string | undefined): Promise<void> {
  if (id === undefined || (await client.call(AUDIT.listAudit, { tenant, key: id, limit: 1 })).items.length > 0) return;
  await client.call(KEYS.getKey, { tenant, id }).catch((error: unknown) => {
    if (asNexusError(error).code !== "FORBIDDEN") throw error;
  });
}

const STYLES: Readonly<Record<string, Style>> = { ok: "green", error: "red", refused: "red", tool_error: "yellow" };

function row(record: Readonly<Record<string, unknown>>): Cell[] {
  const text = (name: string) => visible(asText(record[name] ?? ""));
  const outcome = text("outcome");
  const code = text("errorCode");
  const { durationMs: duration, count } = record;
  const times = typeof count === "number" && count > 1 ? ` (${count} times)` : "";
  return [
    { text: text("seq"), style: "dim" },
    text("at"),
    text("keyId") || text("account") || "-",
    text("method"),
    text("target") || text("server") || "-",
    { text: `${code === "" ? outcome : `${outcome} ${code}`}${times}`, style: STYLES[outcome] },
    typeof duration === "number" ? `${Math.round(duration)} ms` : "",
  ];
}

function limitOf(given: string | undefined): number {
  if (given === undefined) return DEFAULT_LIMIT;
  const limit = Number(given);
  if (/^\d+$/.test(given) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw wrongUsage(
    `--limit "${given}" is not a valid number`,
    `Use a number from 1 to ${MAX_LIMIT}; "nexus audit export" writes all records.`,
  );
}

function forPrograms({ ok: _ok, lost, ...check }: CheckView): object {
  return { ...check, ...(lost ? { lost: { ...lost, at: Date.parse(lost.at) } } : {}) };
}

function lossOf(tenant: string, { until, at, why }: NonNullable<CheckView["lost"]>): string {
  const reason = why === "restored" ? "a backup was restored" : "their loss was accepted";
  return `${tenant}: earlier records, up to number ${until}, may be gone, because ${reason} on ${at}.`;
}

function lineOf({ tenant, records, first, head, damage }: CheckView): string {
  if (damage) return `${tenant}: damaged: ${damage.problem}. ${pluralize(records, "record")} before it are right.`;
  if (records === 0) return `${tenant}: no records are kept.`;
  const kept = first > 1 ? `, from ${first} on` : "";
  return `${tenant}: ${pluralize(records, "record")}${kept}, no damage. Newest: ${head.seq} ${head.hash}`;
}
