import * as z from "zod";
import { NexusError } from "../../errors/nexus-error.ts";
import { KEY_ROLES } from "../../store/keep/api-keys.ts";
import { changedLimits, parseLimits } from "../../store/keep/request-limits.ts";
import { unknownTenant } from "../../store/keep/tenants.ts";
import { toolTarget } from "../../host/directory/access-target.ts";
import type { Host } from "../../host/host.ts";
import type { Explanation } from "../../team/grants.ts";
import { explainUse, type ExplainedServers } from "../../team/operate/explain-use.ts";
import { MAX_KEY_MS, unknownKey, type KeyView } from "../../team/operate/key-operations.ts";
import { parseDuration } from "../../text/duration.ts";
import type { Actor } from "../access/actor.ts";
import { listOf, PAGE_QUERY, pageOf } from "../http/page.ts";
import { SHOWN_NAME, writtenForm } from "../http/written-form.ts";
import { defineOperation, type ApiContext } from "./api-context.ts";

const PATTERNS = z.array(z.string().min(1).max(500)).max(200);
const DURATION = writtenForm(/^\d+(\.\d+)?(ms|s|m|h|d)$/, "a duration. Use 30s, 12h or 90d.");
const RATE = writtenForm(/^\d{1,9}\/[smh]$/, "a rate. Use 10/s, 600/m or 5000/h.");

/** As people write them, and as they are shown. */
const Limits = z.object({
  rate: z.string().optional().describe("Requests in a second, minute or hour: `10/s`, `600/m`, `5000/h`."),
  perDay: z.int().optional().describe("Requests in 24 hours."),
  concurrent: z.int().optional().describe("Calls that run at the same time."),
  maxRequest: z.int().optional().describe("Bytes of one request."),
});

const LimitChange = z.strictObject({
  rate: RATE.nullish().describe("`10/s`, `600/m`, `5000/h`; null removes the limit."),
  perDay: z.int().min(1).nullish(),
  concurrent: z.int().min(1).nullish(),
  maxRequest: z.int().min(1).nullish().describe("Bytes."),
});

const Key = z.object({
  id: z.string(),
  name: z.string(),
  tenant: z.string(),
  role: z.enum(KEY_ROLES),
  allow: z.array(z.string()).describe("Patterns of what it may use."),
  deny: z.array(z.string()).describe("Patterns of what it may not use. They win."),
  readOnly: z.boolean(),
  limits: Limits,
  allTenants: z.boolean().describe("Whether it manages all tenants."),
  created: z.string(),
  expires: z.string().nullable(),
  revoked: z.string().nullable(),
  lastUsed: z.string().nullable(),
});

const Grants = Key.pick({ allow: true, deny: true, readOnly: true });

const NewGrants = z.strictObject({
  allow: PATTERNS.min(1).describe(
    "What the key may use: `github`, `github.search*`, `github/resources`, `set:support`, `*`.",
  ),
  deny: PATTERNS.default([]).describe("What it may not use. It wins over allow."),
  readOnly: z.boolean().default(false).describe("Only tools that are annotated as read-only, resources and prompts."),
});

export const KEY_SCHEMAS = {
  Key,
  Limits,
  LimitChange,
  KeyList: listOf(Key),
  Grants,
  NewGrants,
  NewKey: NewGrants.extend({
    name: SHOWN_NAME.describe("Who uses it."),
    role: z.enum(KEY_ROLES).default("caller"),
    limits: LimitChange.optional(),
    expires: DURATION.optional().describe("How long it works: 90d, 12h. Without it, until it is revoked."),
    allTenants: z
      .boolean()
      .default(false)
      .describe("Whether the admin manages all tenants; only for the tenant default."),
  }),
  IssuedKey: z.object({
    id: z.string(),
    key: z.string().describe("The key itself. It is shown only once."),
    name: z.string(),
    tenant: z.string(),
    role: z.enum(KEY_ROLES),
    expires: z.string().nullable(),
  }),
  Explanation: z.object({
    allowed: z.boolean(),
    reason: z.string(),
    rule: z.string().nullable().describe("The pattern or flag that decides; null where none applies."),
  }),
  Rotation: z.strictObject({
    overlap: DURATION.default("1h").describe("How long the old secret works; 0s ends it now."),
  }),
};

const TAG = "keys";
const VOLATILE = ["lastUsed"];

const listKeys = defineOperation({
  id: "listKeys",
  method: "GET",
  path: "/tenants/{tenant}/keys",
  tag: TAG,
  summary: "The keys of a tenant, the oldest first; never a key itself",
  access: "admin",
  query: z.strictObject(PAGE_QUERY),
  answer: { status: 200, schema: KEY_SCHEMAS.KeyList },
  handle: async ({ api, params, query }) =>
    pageOf(await api.keys.list(params["tenant"]), query, ({ created, id }) => `${created} ${id}`),
});

const createKey = defineOperation({
  id: "createKey",
  method: "POST",
  path: "/tenants/{tenant}/keys",
  tag: TAG,
  summary: "Create a key; the answer shows it once",
  access: "admin",
  body: KEY_SCHEMAS.NewKey,
  answer: { status: 201, schema: KEY_SCHEMAS.IssuedKey },
  async handle({ api, actor, params: { tenant = "" }, body }) {
    const { name, role, allow, deny, readOnly, allTenants, expires, limits = {} } = body;
    if (allTenants && !actor.allTenants) throw onlyForAllTenants();
    const expiresAt = expires === undefined ? undefined : Date.now() + msOf(expires, 1000);
    return api.keys.create({
      tenant,
      name,
      role,
      grants: { allow, deny, readOnly },
      limits: changedLimits({}, parseLimits(limits)),
      allTenants,
      expiresAt,
    });
  },
});

const getKey = defineOperation({
  id: "getKey",
  method: "GET",
  path: "/tenants/{tenant}/keys/{id}",
  tag: TAG,
  summary: "One key, without its secret",
  access: "admin",
  volatile: VOLATILE,
  answer: { status: 200, schema: Key },
  handle: ({ api, params: { tenant, id = "" } }) => api.keys.get(id, tenant),
});

const revokeKey = defineOperation({
  id: "revokeKey",
  method: "DELETE",
  path: "/tenants/{tenant}/keys/{id}",
  tag: TAG,
  summary: "Revoke a key: it is refused within a second, and its streams end within two",
  access: "admin",
  answer: { status: 200, schema: Key },
  async handle({ api, actor, params }) {
    const { id } = await managedKey(api, actor, params);
    return api.keys.revoke(id);
  },
});

const rotateKey = defineOperation({
  id: "rotateKey",
  method: "POST",
  path: "/tenants/{tenant}/keys/{id}/rotate",
  tag: TAG,
  summary: "Give a key a new secret; the answer shows it once",
  access: "admin",
  body: KEY_SCHEMAS.Rotation,
  answer: { status: 200, schema: KEY_SCHEMAS.IssuedKey },
  async handle({ api, actor, params, body }) {
    const { id } = await managedKey(api, actor, params);
    return api.keys.rotate(id, msOf(body.overlap, 0));
  },
});

const getGrants = defineOperation({
  id: "getGrants",
  method: "GET",
  path: "/tenants/{tenant}/keys/{id}/grants",
  tag: TAG,
  summary: "What a key may use",
  access: "admin",
  answer: { status: 200, schema: Grants },
  handle: async ({ api, params: { tenant, id = "" } }) => grantsOf(await api.keys.get(id, tenant)),
});

const setGrants = defineOperation({
  id: "setGrants",
  method: "PUT",
  path: "/tenants/{tenant}/keys/{id}/grants",
  tag: TAG,
  summary: "Change what a key may use; it counts within a second",
  access: "admin",
  body: NewGrants,
  answer: { status: 200, schema: Grants },
  async handle({ api, actor, params, body }) {
    const { id } = await managedKey(api, actor, params);
    return grantsOf(await api.keys.setGrants(id, body));
  },
});

const getLimits = defineOperation({
  id: "getLimits",
  method: "GET",
  path: "/tenants/{tenant}/keys/{id}/limits",
  tag: TAG,
  summary: "The limits of a key",
  access: "admin",
  answer: { status: 200, schema: Limits },
  handle: async ({ api, params: { tenant, id = "" } }) => (await api.keys.get(id, tenant)).limits,
});

const changeLimits = defineOperation({
  id: "changeLimits",
  method: "PATCH",
  path: "/tenants/{tenant}/keys/{id}/limits",
  tag: TAG,
  summary: "Change limits of a key; they count within a second, and what was used before counts also",
  access: "admin",
  body: LimitChange,
  answer: { status: 200, schema: Limits },
  async handle({ api, actor, params, body }) {
    const { id } = await managedKey(api, actor, params);
    return (await api.keys.setLimits(id, parseLimits(body))).limits;
  },
});

const explainKey = defineOperation({
  id: "explainKey",
  method: "GET",
  path: "/tenants/{tenant}/keys/{id}/explain",
  tag: TAG,
  summary: "Whether a key may use a tool or a set, and which rule decides",
  access: "admin",
  query: z.strictObject({
    target: z.string().min(1).max(1000).describe("`SERVER.TOOL` or `set:NAME`."),
    set: z.string().min(1).max(200).optional().describe("The set in which the tool is used."),
  }),
  answer: { status: 200, schema: KEY_SCHEMAS.Explanation },
  async handle({ api, params: { tenant = "", id = "" }, query: { target, set } }) {
    await api.keys.get(id, tenant);
    const key = await api.store.keys.find(id);
    if (!key) throw unknownKey(id);
    const useServers = async (use: (servers: ExplainedServers) => Promise<Explanation>) => {
      const explained = await api.gateway.useHost(tenant, (host) => use(serversOf(host)));
      if (!explained) throw unknownTenant(tenant);
      return explained;
    };
    const { allowed, reason, rule } = await explainUse(
      key,
      { full: target, set },
      { sets: api.store.sets, useServers },
    );
    return { allowed, reason, rule: rule ?? null };
  },
});

export const KEY_OPERATIONS = [
  listKeys,
  createKey,
  getKey,
  revokeKey,
  rotateKey,
  getGrants,
  setGrants,
  getLimits,
  changeLimits,
  explainKey,
];

function serversOf(host: Host): ExplainedServers {
  return {
    directory: host.directory,
    async findTool(server, name) {
      const isMeant = (tool: { name: string }) => tool.name === name;
      const { tools, searched } = host.offered(server);
      const known = [...tools, ...searched].find(isMeant);
      if (known) return toolTarget(server, known, searched);
      // Connects a server that was not used yet.
      const lease = await host.lease(server);
      try {
        const listed = await lease.client.listTools();
        const others = lease.client.searchedIn(listed);
        const found = [...listed, ...others].find(isMeant);
        return found && toolTarget(server, found, others);
      } finally {
        lease.release();
      }
    },
  };
}

/** A key that the actor may change: an admin of one tenant must not take over a key for all of them. */
async function managedKey(api: ApiContext, actor: Actor, params: Readonly<Record<string, string>>): Promise<KeyView> {
  const key = await api.keys.get(params["id"] ?? "", params["tenant"]);
  if (key.allTenants && !actor.allTenants) throw onlyForAllTenants();
  return key;
}

function grantsOf({ allow, deny, readOnly }: KeyView) {
  return { allow, deny, readOnly };
}

function msOf(text: string, leastMs: number): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= leastMs && ms <= MAX_KEY_MS && Number.isSafeInteger(ms)) return ms;
  throw new NexusError("ARGUMENTS_INVALID", `"${text}" is not a valid duration`, {
    hint: `Use a number with s, m, h or d${leastMs === 0 ? "" : ", at least one second"}, at most 36500d: 90d, 12h.`,
    mayHaveReached: false,
  });
}

function onlyForAllTenants(): NexusError {
  return new NexusError("DENIED", "Only an admin of all tenants manages keys for all tenants", {
    mayHaveReached: false,
  });
}
