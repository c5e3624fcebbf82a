import { boolean, Form, record, type Given, type Infer, type MemberForms } from "../format/form.ts";
import { readValue } from "../format/read-form.ts";
import { requireConsistent, SET, SET_MEMBERS } from "../gateway/sets/set-definition.ts";
import type { KeptSet } from "../store/keep/sets.ts";
import { isoTime } from "../text/duration.ts";
import { answer, asItIs, listOf, NAME, PAGE_INPUT, pageOf, TEXT, TEXT_OR_NULL } from "./forms.ts";
import { defineOperation } from "./operation.ts";

/** The members of a definition as they are told: all of them are there, and those that say nothing are empty. */
const SHOWN_MEMBERS = { ...alwaysThere(SET_MEMBERS), description: TEXT_OR_NULL, readOnly: boolean(), pin: boolean() };

const TOOL_SET = answer("Set", {
  name: TEXT,
  tenant: TEXT,
  path: TEXT.says("Its address on the gateway."),
  ...SHOWN_MEMBERS,
  changed: TEXT,
});

/** What is told about a set: its definition with all members. */
export type SetView = Given<Infer<typeof TOOL_SET>>;

const TAG = "sets";
const PATH = "/tenants/{tenant}/sets/{name}";

const listSets = defineOperation({
  id: "listSets",
  tag: TAG,
  summary: "The sets of a tenant",
  access: "operator",
  http: { method: "GET", path: "/tenants/{tenant}/sets", status: 200 },
  command: "sets list",
  input: PAGE_INPUT,
  output: listOf("SetList", TOOL_SET),
  async handle({ store }, _actor, { tenant, ...page }) {
    const sets = await store.sets.list(tenant);
    if (sets.length === 0) await store.tenants.require(tenant);
    return pageOf(sets.map(setView), page, { keyOf: ({ name }) => name, show: asItIs });
  },
});

const createSet = defineOperation({
  id: "createSet",
  tag: TAG,
  summary: "Create a set; gateways serve it within a second",
  access: "admin",
  http: { method: "POST", path: "/tenants/{tenant}/sets", status: 201, fails: [409] },
  command: "sets create {name}",
  input: record({ ...SET_MEMBERS, name: NAME })
    .named("NewSet")
    .check(requireConsistent),
  output: TOOL_SET,
  async handle({ store: { sets } }, _actor, { tenant, name, ...definition }) {
    return setView(await sets.put({ tenant, name, definition: JSON.stringify(definition) }));
  },
});

const getSet = defineOperation({
  id: "getSet",
  tag: TAG,
  summary: "One set",
  access: "operator",
  http: { method: "GET", path: PATH, status: 200 },
  command: "sets show {name}",
  output: TOOL_SET,
  handle: async ({ store }, _actor, { tenant, name }) => setView(await store.sets.get(tenant, name)),
});

const replaceSet = defineOperation({
  id: "replaceSet",
  tag: TAG,
  summary: "Replace a set",
  access: "admin",
  http: { method: "PUT", path: PATH, status: 200 },
  command: "sets edit {name}",
  input: SET,
  output: TOOL_SET,
  async handle({ store: { sets } }, _actor, { tenant, name, ...definition }) {
    await sets.get(tenant, name);
    return setView(await sets.put({ tenant, name, definition: JSON.stringify(definition) }, { replace: true }));
  },
});

const removeSet = defineOperation({
  id: "removeSet",
  tag: TAG,
  summary: "Remove a set; its address is unknown within a second",
  access: "admin",
  http: { method: "DELETE", path: PATH, status: 204 },
  command: "sets remove {name}",
  handle: ({ store }, _actor, { tenant, name }) => store.sets.remove(tenant, name),
});

/** All of them, in the order of the reference. */
export const SETS = { listSets, createSet, getSet, replaceSet, removeSet };

function setPath(name: string): string {
  return `/sets/${name}/mcp`;
}

const COMPLETE = record(filled(SET_MEMBERS));

function setView({ tenant, name, definition, changedAt }: KeptSet): SetView {
  // It was checked when it was stored.
  const said = JSON.parse(definition) as { description?: string };
  const complete = { ...readValue(COMPLETE, said).value, ...said, description: said.description ?? null };
  return { name, tenant, path: setPath(name), ...complete, changed: isoTime(changedAt) } as SetView;
}

function alwaysThere<M extends MemberForms>(members: M) {
  const shown = Object.entries(members).map(([name, { spec, traits }]) => {
    const { optional: _optional, omitted: _omitted, ...rest } = traits;
    return [name, new Form(spec, rest)] as const;
  });
  // Each has the type of the member that it was made of.
  return Object.fromEntries(shown) as unknown as { [Name in keyof M]: Form<M[Name]["type"]> };
}

function filled(members: MemberForms): MemberForms {
  return Object.fromEntries(
    Object.entries(alwaysThere(members)).map(([name, { spec }]) => [name, new Form(spec).filled()]),
  );
}
