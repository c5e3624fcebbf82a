import * as z from "zod";
import { NexusError } from "../../errors/nexus-error.ts";
import { checkAudit } from "../../store/audit/audit-check.ts";
import type { AuditFilter } from "../../store/audit/audit-filter.ts";
import { isoTime } from "../../text/duration.ts";
import { requireAudited } from "../../team/operate/audit-operations.ts";
import { mayUse, type Actor } from "../access/actor.ts";
import { listOf, PAGE_QUERY } from "../http/page.ts";
import { Failed } from "../http/problem.ts";
import { defineOperation } from "./api-context.ts";

const AuditRecord = z
  .looseObject({
    seq: z.int(),
    at: z.string(),
    tenant: z.string(),
    keyId: z.string().nullish(),
    server: z.string().nullish(),
    method: z.string().nullish(),
    target: z.string().nullish(),
    outcome: z.string(),
    hash: z.string(),
  })
  .describe("One call or refused attempt.");

const Usage = z.object({
  since: z.string(),
  until: z.string(),
  items: z.array(
    z.object({
      keyId: z.string().nullable(),
      server: z.string().nullable(),
      outcome: z.string().nullable(),
      count: z.int(),
    }),
  ),
});

const TIME = z.iso.datetime({ offset: true });

export const AUDIT_SCHEMAS = {
  AuditRecord,
  AuditList: listOf(AuditRecord),
  AuditCheck: z.object({
    ok: z.boolean(),
    tenant: z.string(),
    records: z.int().describe("How many records are right."),
    first: z.int().describe("The first one that is kept."),
    head: z.object({ seq: z.int(), hash: z.string() }).describe("The newest record."),
    damage: z.object({ seq: z.int(), problem: z.string() }).nullable(),
    lost: z
      .object({ until: z.int(), at: z.string(), why: z.enum(["restored", "accepted"]) })
      .nullable()
      .describe("Records up to this number of before may be gone: a backup was restored, or their loss was accepted."),
  }),
  Pruning: z.strictObject({
    before: TIME.describe("Older records are removed."),
    damaged: z.boolean().default(false).describe("Also removes records that were changed, the trace of the change."),
  }),
  Pruned: z.object({ tenant: z.string(), removed: z.int().describe("How many records were removed.") }),
  Usage,
};

const FILTER = {
  since: TIME.optional().describe("Only records since this time."),
  until: TIME.optional().describe("Only records before this time."),
  key: z.string().max(100).optional().describe("Only calls with this key, by its id."),
  server: z.string().max(100).optional(),
  tool: z.string().max(500).optional().describe("`TOOL` or `SERVER.TOOL`."),
  outcome: z.string().max(50).optional(),
};

const TAG = "audit";

const listAudit = defineOperation({
  id: "listAudit",
  method: "GET",
  path: "/tenants/{tenant}/audit",
  tag: TAG,
  summary: "Calls and refused attempts, the newest first; a caller sees its own",
  access: "caller",
  query: z.strictObject({ ...FILTER, ...PAGE_QUERY }),
  answer: { status: 200, schema: AUDIT_SCHEMAS.AuditList },
  async handle({ api, actor, params: { tenant = "" }, query: { limit, cursor, ...filter } }) {
    await requireAudited(api.store, tenant);
    const { items, next = null } = await api.store.audit.list(tenant, filterOf(filter, actor), { limit, cursor });
    return { items, next };
  },
});

const exportAudit = defineOperation({
  id: "exportAudit",
  method: "GET",
  path: "/tenants/{tenant}/audit/export",
  tag: TAG,
  summary: "Records as lines of JSON, the oldest first; a caller gets its own",
  access: "caller",
  query: z.strictObject(FILTER),
  answer: { status: 200, mediaType: "application/jsonl" },
  async handle({ api, actor, params: { tenant = "" }, query }) {
    await requireAudited(api.store, tenant);
    const lines = api.store.audit.lines(tenant, filterOf(query, actor));
    const headers = { "content-type": "application/jsonl", "cache-control": "no-store" };
    return new Response(streamOf(lines), { headers });
  },
});

const verifyAudit = defineOperation({
  id: "verifyAudit",
  method: "GET",
  path: "/tenants/{tenant}/audit/verify",
  tag: TAG,
  summary: "Verify that no record was changed, removed, added or re-ordered",
  access: "operator",
  answer: { status: 200, schema: AUDIT_SCHEMAS.AuditCheck },
  async handle({ api, params: { tenant = "" } }) {
    await requireAudited(api.store, tenant);
    const { damage, lost, ...check } = await checkAudit(api.store.audit, tenant);
    return { ok: !damage, ...check, damage: damage ?? null, lost: lost ? { ...lost, at: isoTime(lost.at) } : null };
  },
});

const getAuditRecord = defineOperation({
  id: "getAuditRecord",
  method: "GET",
  path: "/tenants/{tenant}/audit/{seq}",
  tag: TAG,
  summary: "One record, by its number",
  access: "caller",
  answer: { status: 200, schema: AuditRecord },
  async handle({ api, actor, params: { tenant = "", seq = "" } }) {
    await requireAudited(api.store, tenant);
    const record = /^\d{1,15}$/.test(seq) ? await api.store.audit.find(tenant, Number(seq)) : undefined;
    if (record && (seesAll(actor) || record["keyId"] === actor.keyId)) return record;
    throw new NexusError("NAME_UNKNOWN", `There is no record "${seq}"`, { mayHaveReached: false });
  },
});

const pruneAudit = defineOperation({
  id: "pruneAudit",
  method: "POST",
  path: "/tenants/{tenant}/audit/prune",
  tag: TAG,
  summary: "Remove old records, and leave a signed checkpoint, so that the rest can still be verified",
  description:
    "Records that were changed are not removed (409) unless `damaged` says so. The removal is recorded itself.",
  access: "admin",
  body: AUDIT_SCHEMAS.Pruning,
  answer: { status: 200, schema: AUDIT_SCHEMAS.Pruned },
  fails: [409],
  async handle({ api, params: { tenant = "" }, body: { before, damaged } }) {
    await requireAudited(api.store, tenant);
    try {
      return { tenant, removed: await api.store.audit.prune(tenant, Date.parse(before), { force: damaged }) };
    } catch (error) {
      if (error instanceof NexusError && error.code === "DATA_DAMAGED") return changedRecords(error);
      throw error;
    }
  },
});

const getUsage = defineOperation({
  id: "getUsage",
  method: "GET",
  path: "/tenants/{tenant}/usage",
  tag: "usage",
  summary: "How many calls each key made, by server and outcome, from the audit; a caller sees its own",
  description: "Without since, of the last 24 hours.",
  access: "caller",
  query: z.strictObject({ since: FILTER.since, until: FILTER.until }),
  answer: { status: 200, schema: Usage },
  async handle({ api, actor, params: { tenant = "" }, query }) {
    await requireAudited(api.store, tenant);
    const until = query.until === undefined ? Date.now() : Date.parse(query.until);
    const since = query.since === undefined ? until - DAY_MS : Date.parse(query.since);
    const keyId = seesAll(actor) ? undefined : actor.keyId;
    const items = await api.store.audit.usage(tenant, { since, until, keyId });
    return { since: new Date(since).toISOString(), until: new Date(until).toISOString(), items };
  },
});

// The paths with a fixed end come before the one with a number.
export const AUDIT_OPERATIONS = [listAudit, exportAudit, verifyAudit, pruneAudit, getAuditRecord, getUsage];

const DAY_MS = 24 * 3_600_000;

/** An admin is told what a caller is not. */
function changedRecords({ code, message }: NexusError): Failed {
  const hint = "Nothing was removed. Verify and export the audit, then remove these records with damaged: true.";
  return new Failed({ status: 409, code, detail: message, hint });
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

function streamOf(lines: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
}
