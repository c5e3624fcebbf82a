import * as z from "zod";
import { removeTenantFolder } from "../../auth/tenant-folder.ts";
import { parseLimits } from "../../store/keep/request-limits.ts";
import { listOf, PAGE_QUERY, pageOf } from "../http/page.ts";
import { conflict } from "../http/problem.ts";
import { NAME_FORM } from "../http/written-form.ts";
import { defineOperation } from "./api-context.ts";
import { KEY_SCHEMAS } from "./keys.ts";

const Tenant = z.object({
  name: z.string(),
  created: z.string(),
  limits: KEY_SCHEMAS.Limits.describe("What all its callers together may use."),
  keys: z.int().describe("The number of usable keys."),
});

export const TENANT_SCHEMAS = {
  Tenant,
  TenantList: listOf(Tenant),
  NewTenant: z.strictObject({
    name: NAME_FORM.describe("1 to 32 lower-case letters, digits and dashes, starting with a letter."),
  }),
};

const listTenants = defineOperation({
  id: "listTenants",
  method: "GET",
  path: "/tenants",
  tag: "tenants",
  summary: "The tenants",
  access: "all-tenants",
  query: z.strictObject(PAGE_QUERY),
  answer: { status: 200, schema: TENANT_SCHEMAS.TenantList },
  handle: async ({ api, query }) => pageOf(await api.tenants.list(), query, ({ name }) => name),
});

const createTenant = defineOperation({
  id: "createTenant",
  method: "POST",
  path: "/tenants",
  tag: "tenants",
  summary: "Create a tenant",
  access: "all-tenants",
  body: TENANT_SCHEMAS.NewTenant,
  answer: { status: 201, schema: Tenant },
  fails: [409],
  async handle({ api, body: { name } }) {
    if (await api.store.tenants.find(name)) return conflict(`There is already a tenant "${name}"`);
    return api.tenants.create(name);
  },
});

const getTenant = defineOperation({
  id: "getTenant",
  method: "GET",
  path: "/tenants/{tenant}",
  tag: "tenants",
  summary: "One tenant",
  access: "operator",
  answer: { status: 200, schema: Tenant },
  handle: ({ api, params: { tenant = "" } }) => api.tenants.get(tenant),
});

const limitTenant = defineOperation({
  id: "limitTenant",
  method: "PATCH",
  path: "/tenants/{tenant}/limits",
  tag: "tenants",
  summary: "Change limits of a tenant: what all its callers together may use",
  access: "all-tenants",
  body: KEY_SCHEMAS.LimitChange,
  answer: { status: 200, schema: Tenant },
  handle: ({ api, params: { tenant = "" }, body }) => api.tenants.setLimits(tenant, parseLimits(body)),
});

const removeTenant = defineOperation({
  id: "removeTenant",
  method: "DELETE",
  path: "/tenants/{tenant}",
  tag: "tenants",
  summary: "Remove a tenant with its keys, servers and secrets",
  description: "Gateways refuse its keys within a second and end its streams. The tenant default cannot be removed.",
  access: "all-tenants",
  answer: { status: 204 },
  async handle({ api, params: { tenant = "" } }) {
    await api.tenants.remove(tenant);
    await removeTenantFolder(api.stateFolder, tenant, api.logger);
  },
});

export const TENANT_OPERATIONS = [listTenants, createTenant, getTenant, limitTenant, removeTenant];
