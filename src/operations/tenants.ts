import { removeTenantFolder } from "../auth/tenant-folder.ts";
import { lazy, record, whole, type Infer } from "../format/form.ts";
import { changedLimits, parseLimits, writtenLimits } from "../store/keep/request-limits.ts";
import { unknownTenant, type Tenant } from "../store/keep/tenants.ts";
import { isoTime } from "../text/duration.ts";
import { answer, asItIs, listOf, NAME, PAGE_INPUT, pageOf, TEXT } from "./forms.ts";
import { LIMIT_CHANGE, LIMITS } from "./keys.ts";
import { defineOperation } from "./operation.ts";
import type { Services } from "./services.ts";

const TENANT = answer("Tenant", {
  name: TEXT,
  created: TEXT,
  limits: lazy(() => LIMITS).says("What all its callers together may use."),
  keys: whole().says("The number of usable keys."),
});

type TenantView = Infer<typeof TENANT>;

const TAG = "tenants";

const listTenants = defineOperation({
  id: "listTenants",
  tag: TAG,
  summary: "The tenants",
  access: "all-tenants",
  http: { method: "GET", path: "/tenants", status: 200 },
  command: "tenants list",
  input: PAGE_INPUT,
  output: listOf("TenantList", TENANT),
  async handle({ store }, _actor, page) {
    const [tenants, keys] = await Promise.all([store.tenants.list(), store.keys.list()]);
    const views = tenants.map((tenant) =>
      tenantView(
        tenant,
        keys.filter((key) => key.tenant === tenant.name),
      ),
    );
    return pageOf(views, page, { keyOf: ({ name }) => name, show: asItIs });
  },
});

const createTenant = defineOperation({
  id: "createTenant",
  tag: TAG,
  summary: "Create a tenant",
  access: "all-tenants",
  http: { method: "POST", path: "/tenants", status: 201, fails: [409] },
  command: "tenants create {name}",
  input: record({
    name: NAME.says("1 to 32 lower-case letters, digits and dashes, starting with a letter."),
    limits: lazy(() => LIMIT_CHANGE)
      .says("What all its callers together may use.")
      .optional(),
  }).named("NewTenant"),
  output: TENANT,
  async handle({ store: { tenants } }, _actor, { name, limits = {} }) {
    return tenantView(await tenants.create(name, changedLimits({}, parseLimits(limits))), []);
  },
});

const getTenant = defineOperation({
  id: "getTenant",
  tag: TAG,
  summary: "One tenant",
  access: "operator",
  http: { method: "GET", path: "/tenants/{tenant}", status: 200 },
  command: "tenants show {tenant}",
  output: TENANT,
  async handle(services, _actor, { tenant: name }) {
    const tenant = await services.store.tenants.find(name);
    if (!tenant) throw unknownTenant(name);
    return viewOf(services, tenant);
  },
});

const limitTenant = defineOperation({
  id: "limitTenant",
  tag: TAG,
  summary: "Change limits of a tenant: what all its callers together may use",
  access: "all-tenants",
  http: { method: "PATCH", path: "/tenants/{tenant}/limits", status: 200 },
  command: "tenants limit {tenant}",
  input: LIMIT_CHANGE,
  output: TENANT,
  handle: async (services, _actor, { tenant, ...limits }) =>
    viewOf(services, await services.store.tenants.setLimits(tenant, parseLimits(limits))),
});

const removeTenant = defineOperation({
  id: "removeTenant",
  tag: TAG,
  summary: "Remove a tenant with its keys, servers and secrets",
  description: "Gateways refuse its keys within a second and end its streams. The tenant default cannot be removed.",
  access: "all-tenants",
  http: { method: "DELETE", path: "/tenants/{tenant}", status: 204 },
  command: "tenants remove {tenant} --yes",
  async handle({ store: { tenants }, stateFolder, logger }, _actor, { tenant }) {
    if (!(await tenants.remove(tenant))) throw unknownTenant(tenant);
    await removeTenantFolder(stateFolder, tenant, logger);
  },
});

/** All of them, in the order of the reference. */
export const TENANTS = { listTenants, createTenant, getTenant, limitTenant, removeTenant };

type KeyTimes = Awaited<ReturnType<Services["store"]["keys"]["list"]>>[number];

async function viewOf({ store }: Services, tenant: Tenant): Promise<TenantView> {
  return tenantView(tenant, await store.keys.list(tenant.name));
}

function tenantView({ name, createdAt, limits }: Tenant, keys: readonly KeyTimes[]): TenantView {
  const now = Date.now();
  const usable = keys.filter(({ revokedAt, expiresAt = Infinity }) => revokedAt === undefined && expiresAt > now);
  return { name, created: isoTime(createdAt), limits: writtenLimits(limits), keys: usable.length };
}
