import * as z from "zod";
import { parseSetDefinition } from "../../gateway/sets/set-definition.ts";
import { setView } from "../../team/operate/set-view.ts";
import { listOf, PAGE_QUERY, pageOf } from "../http/page.ts";
import { conflict } from "../http/problem.ts";
import { NAME_FORM } from "../http/written-form.ts";
import { defineOperation } from "./api-context.ts";

const ITEMS = z.record(
  z.string(),
  z.object({
    name: z.string().optional(),
    description: z.string().optional(),
    arguments: z.record(z.string(), z.unknown()).optional(),
  }),
);
/** Each is compared with the patterns of its set, in a process that tenants share. */
const MOST_ITEMS = 1_000;
const DEFINED_ITEMS = ITEMS.refine((items) => Object.keys(items).length <= MOST_ITEMS, {
  message: `Too big: expected at most ${MOST_ITEMS} members`,
}).meta({ maxProperties: MOST_ITEMS });

/** They are compared with every tool, in a process that tenants share. */
const PATTERNS = z.array(z.string().max(500)).max(200);

const DefinedSet = z.strictObject({
  description: z.string().max(10_000).optional().describe("What it is for; clients get it as instructions."),
  allow: PATTERNS.min(1).describe("Patterns of what it contains, as those of keys."),
  deny: PATTERNS.optional().describe("Patterns of what it does not contain."),
  readOnly: z.boolean().optional(),
  pin: z.boolean().optional().describe("Refuses tools whose definitions have changed until the changes are accepted."),
  tools: DEFINED_ITEMS.optional().describe("Tools that are shown in another way, by `server.tool`."),
  prompts: DEFINED_ITEMS.optional().describe("The same for prompts."),
});

const ToolSet = z.object({
  name: z.string(),
  tenant: z.string(),
  path: z.string().describe("Its address on the gateway."),
  description: z.string().nullable(),
  allow: z.array(z.string()),
  deny: z.array(z.string()),
  readOnly: z.boolean(),
  pin: z.boolean(),
  tools: ITEMS,
  prompts: ITEMS,
  changed: z.string(),
});

export const SET_SCHEMAS = {
  Set: ToolSet,
  SetList: listOf(ToolSet),
  SetDefinition: DefinedSet,
  NewSet: DefinedSet.extend({ name: NAME_FORM }),
};

const TAG = "sets";

const listSets = defineOperation({
  id: "listSets",
  method: "GET",
  path: "/tenants/{tenant}/sets",
  tag: TAG,
  summary: "The sets of a tenant",
  access: "operator",
  query: z.strictObject(PAGE_QUERY),
  answer: { status: 200, schema: SET_SCHEMAS.SetList },
  async handle({ api, params: { tenant = "" }, query }) {
    const sets = await api.store.sets.list(tenant);
    if (sets.length === 0) await api.store.tenants.require(tenant);
    return pageOf(sets.map(setView), query, ({ name }) => name);
  },
});

const createSet = defineOperation({
  id: "createSet",
  method: "POST",
  path: "/tenants/{tenant}/sets",
  tag: TAG,
  summary: "Create a set; gateways serve it within a second",
  access: "admin",
  body: SET_SCHEMAS.NewSet,
  answer: { status: 201, schema: ToolSet },
  fails: [409],
  async handle({ api, params: { tenant = "" }, body: { name, ...given } }) {
    const definition = JSON.stringify(parseSetDefinition(given));
    if ((await api.store.sets.list(tenant)).some((set) => set.name === name)) {
      return conflict(`The tenant "${tenant}" already has a set "${name}"`, "Replace it with PUT.");
    }
    return setView(await api.store.sets.put({ tenant, name, definition }));
  },
});

const getSet = defineOperation({
  id: "getSet",
  method: "GET",
  path: "/tenants/{tenant}/sets/{name}",
  tag: TAG,
  summary: "One set",
  access: "operator",
  answer: { status: 200, schema: ToolSet },
  handle: async ({ api, params: { tenant = "", name = "" } }) => setView(await api.store.sets.get(tenant, name)),
});

const replaceSet = defineOperation({
  id: "replaceSet",
  method: "PUT",
  path: "/tenants/{tenant}/sets/{name}",
  tag: TAG,
  summary: "Replace a set",
  access: "admin",
  body: DefinedSet,
  answer: { status: 200, schema: ToolSet },
  async handle({ api, params: { tenant = "", name = "" }, body }) {
    const definition = JSON.stringify(parseSetDefinition(body));
    await api.store.sets.get(tenant, name);
    return setView(await api.store.sets.put({ tenant, name, definition }, { replace: true }));
  },
});

const removeSet = defineOperation({
  id: "removeSet",
  method: "DELETE",
  path: "/tenants/{tenant}/sets/{name}",
  tag: TAG,
  summary: "Remove a set; its address is unknown within a second",
  access: "admin",
  answer: { status: 204 },
  handle: ({ api, params: { tenant = "", name = "" } }) => api.store.sets.remove(tenant, name),
});

export const SET_OPERATIONS = [listSets, createSet, getSet, replaceSet, removeSet];
