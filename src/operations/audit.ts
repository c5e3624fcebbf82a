import { NexusError } from "../errors/nexus-error.ts";
import { boolean, choice, list, record, text, whole, type Infer } from "../format/form.ts";
import { checkAudit, type AuditCheck } from "../store/audit/audit-check.ts";
import type { AuditFilter } from "../store/audit/audit-filter.ts";
import type { Store } from "../store/store.ts";
import { isoTime } from "../text/duration.ts";
import { mayUse, type Actor } from "./actor.ts";
import { answer, listOf, PAGE, TEXT, TEXT_OR_NULL, TIME } from "./forms.ts";
import { defineOperation } from "./operation.ts";

export const AUDIT_RECORD = record(
  {
    seq: whole(),
    at: TEXT,
    tenant: TEXT,
    keyId: TEXT_OR_NULL.optional(),
    server: TEXT_OR_NULL.optional(),
    method: TEXT_OR_NULL.optional(),
    target: TEXT_OR_NULL.optional(),
    outcome: TEXT,
    hash: TEXT,
  },
  { open: true },
)
  .says("One call or refused attempt.")
  .named("AuditRecord")
  .schema({ additionalProperties: {} });

const PLACE = { seq: whole(), hash: TEXT };

const SINCE = TIME.says("Only records since this time.").optional();
const UNTIL = TIME.says("Only records before this time.").optional();

const FILTER = {
  since: SINCE,
  until: UNTIL,
  key: text({ empty: true, most: 100 }).says("Only calls with this key, by its id.").optional(),
  server: text({ empty: true, most: 100 }).optional(),
  tool: text({ empty: true, most: 500 }).says("`TOOL` or `SERVER.TOOL`.").optional(),
  outcome: text({ empty: true, most: 50 }).optional(),
};

const TAG = "audit";
const PATH = "/tenants/{tenant}/audit";

const listAudit = defineOperation({
  id: "listAudit",
  tag: TAG,
  summary: "Calls and refused attempts, the newest first; a caller sees its own",
  access: "caller",
  http: { method: "GET", path: PATH, status: 200 },
  command: "audit list",
  input: record({ ...FILTER, ...PAGE }),
  output: listOf("AuditList", AUDIT_RECORD),
  async handle({ store }, actor, { tenant, limit, cursor, ...filter }) {
    await requireAudited(store, tenant);
    const { items, next = null } = await store.audit.list(tenant, filterOf(filter, actor), { limit, cursor });
    return { items: items as (typeof AUDIT_RECORD.type)[], next };
  },
});

const exportAudit = defineOperation({
  id: "exportAudit",
  tag: TAG,
  summary: "Records as lines of JSON, the oldest first; a caller gets its own",
  access: "caller",
  http: { method: "GET", path: `${PATH}/export`, status: 200, mediaType: "application/jsonl" },
  command: "audit export",
  input: record(FILTER),
  async handle({ store }, actor, { tenant, ...filter }) {
    await requireAudited(store, tenant);
    return store.audit.lines(tenant, filterOf(filter, actor));
  },
});

const AUDIT_CHECK = answer("AuditCheck", {
  ok: boolean(),
  tenant: TEXT,
  records: whole().says("How many records are right."),
  first: whole().says("The first one that is kept."),
  head: record(PLACE, { open: true }).says("The newest record."),
  damage: record({ seq: whole(), problem: TEXT }, { open: true }).nullable(),
  lost: record({ until: whole(), at: TEXT, why: choice(["restored", "accepted"]) }, { open: true })
    .nullable()
    .says("Records up to this number of before may be gone: a backup was restored, or their loss was accepted."),
});

const verifyAudit = defineOperation({
  id: "verifyAudit",
  tag: TAG,
  summary: "Verify that no record was changed, removed, added or re-ordered",
  access: "operator",
  http: { method: "GET", path: `${PATH}/verify`, status: 200 },
  command: "audit verify",
  output: AUDIT_CHECK,
  async handle({ store }, _actor, { tenant }) {
    await requireAudited(store, tenant);
    return checkView(await checkAudit(store.audit, tenant));
  },
});

export function checkView({ damage, lost, ...check }: AuditCheck): Infer<typeof AUDIT_CHECK> {
  return { ok: !damage, ...check, damage: damage ?? null, lost: lost ? { ...lost, at: isoTime(lost.at) } : null };
}

const getAuditRecord = defineOperation({
  id: "getAuditRecord",
  tag: TAG,
  summary: "One record, by its number",
  access: "caller",
  http: { method: "GET", path: `${PATH}/{seq}`, status: 200 },
  command: "audit show {seq}",
  output: AUDIT_RECORD,
  async handle({ store }, actor, { tenant, seq }) {
    await requireAudited(store, tenant);
    const found = /^\d{1,15}$/.test(seq) ? await store.audit.find(tenant, Number(seq)) : undefined;
    if (found && (seesAll(actor) || found["keyId"] === actor.keyId)) return found as typeof AUDIT_RECORD.type;
    throw new NexusError("NAME_UNKNOWN", `The audit of the tenant "${tenant}" has no record ${seq}`, {
      hint: `"{listAudit}" shows the newest records. Older ones may have been removed when their retention ended.`,
      mayHaveReached: false,
    });
  },
});

const pruneAudit = defineOperation({
  id: "pruneAudit",
  tag: TAG,
  summary: "Remove old records, and leave a signed checkpoint, so that the rest can still be verified",
  description:
    "Records that were changed are not removed (409) unless `damaged` says so. The removal is recorded itself.",
  access: "admin",
  http: { method: "POST", path: `${PATH}/prune`, status: 200, fails: [409] },
  command: "audit prune --before {before}",
  input: record({
    before: TIME.says("Older records are removed."),
    damaged: boolean().default(false).says("Also removes records that were changed, the trace of the change."),
  }).named("Pruning"),
  output: answer("Pruned", { tenant: TEXT, removed: whole().says("How many records were removed.") }),
  async handle({ store }, _actor, { tenant, before, damaged }) {
    await requireAudited(store, tenant);
    try {
      return { tenant, removed: await store.audit.prune(tenant, Date.parse(before), { force: damaged }) };
    } catch (error) {
      if (error instanceof NexusError && error.code === "DATA_DAMAGED") throw refusedRemoval(error);
      throw error;
    }
  },
});

const USED = record(
  { keyId: TEXT_OR_NULL, server: TEXT_OR_NULL, outcome: TEXT_OR_NULL, count: whole() },
  { open: true },
);

const getUsage = defineOperation({
  id: "getUsage",
  tag: "usage",
  summary: "How many calls each key made, by server and outcome, from the audit; a caller sees its own",
  description: "Without since, of the last 24 hours.",
  access: "caller",
  http: { method: "GET", path: "/tenants/{tenant}/usage", status: 200 },
  command: "audit usage",
  input: record({ since: SINCE, until: UNTIL }),
  output: answer("Usage", { since: TEXT, until: TEXT, items: list(USED) }),
  async handle({ store }, actor, { tenant, since: from, until: to }) {
    await requireAudited(store, tenant);
    const until = timeOf(to) ?? Date.now();
    const since = timeOf(from) ?? until - DAY_MS;
    const keyId = seesAll(actor) ? undefined : actor.keyId;
    const items = await store.audit.usage(tenant, { since, until, keyId });
    return { since: new Date(since).toISOString(), until: new Date(until).toISOString(), items };
  },
});

/** All of them, in the order of the reference. */
export const AUDIT = { listAudit, exportAudit, verifyAudit, getAuditRecord, pruneAudit, getUsage };

/** The audit of a tenant that was removed is kept. One without any records has to exist: its name may be mistyped. */
async function requireAudited({ audit, tenants }: Pick<Store, "audit" | "tenants">, name: string) {
  const { head, checkpoint } = await audit.findMarks(name);
  if (!head && !checkpoint) await tenants.require(name);
}

const DAY_MS = 24 * 3_600_000;

/** An admin is told what a caller is not. */
function refusedRemoval({ code, message }: NexusError): NexusError {
  const hint = "Nothing was removed. Verify and export the audit, then remove these records with {pruneAudit.damaged}.";
  return new NexusError(code, message, { refusal: "CONFLICT", hint, mayHaveReached: false });
}

function seesAll(actor: Actor): boolean {
  return mayUse(actor, "operator");
}

interface AskedFilter {
  since?: string | undefined;
  until?: string | undefined;
  key?: string | undefined;
  server?: string | undefined;
  tool?: string | undefined;
  outcome?: string | undefined;
}

/** A caller sees its own records, whatever it asks for. */
function filterOf({ since, until, key, ...rest }: AskedFilter, actor: Actor): AuditFilter {
  return { ...rest, since: timeOf(since), until: timeOf(until), keyId: seesAll(actor) ? key : actor.keyId };
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}
