import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiOperations } from "../../src/operations/apis/api-operations.ts";
import { isRecorded } from "../../src/operations/operation.ts";
import { OPERATIONS } from "../../src/operations/operations.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { approvedFile, listOfTools } from "../rest/contract-examples.ts";
import { RestWorld } from "../rest/rest-world.ts";

type Json = Record<string, unknown>;

/** What a row needs is made in a tenant of its own, for each surface. */
interface Place {
  tenant: string;
  /** The id of a key of the tenant. */
  id: string;
}

interface Row {
  operation: string;
  what: string;
  /** Members of the request: those in the path, and those of the query or body. */
  input: Json;
  /** The command, without the words that say where. `{tenant}` and `{id}` are replaced, here as in the input. */
  command: string;
  /** The part of what the command prints that the operation answers. */
  part?: (printed: Json) => unknown;
  /** The part of the answer over HTTP that the command prints. */
  answer?: (body: Json) => unknown;
  prepare?: (place: Place) => Promise<void>;
  stdin?: string;
  /** The code of the failure; for HTTP it may be another one. */
  fails?: string | { rest: string; commands: string };
}

const variables = { NEXUS_MASTER_KEY: Buffer.alloc(32, 9).toString("hex") };
let world: RestWorld;
let person: NexusWorld;
let admin: string;
let count = 0;

beforeAll(async () => {
  world = await RestWorld.open({ variables });
  person = await NexusWorld.open();
  admin = await world.newKey("admin", "default", { allTenants: true });
});
afterAll(async () => {
  await person[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const IN_TENANT = "--tenant {tenant}";

const makeSet = async ({ tenant }: Place) => {
  await world.store.sets.put({ tenant, name: "desk", definition: JSON.stringify({ allow: ["everything"] }) });
};
const makeSecret = async ({ tenant }: Place) => {
  await world.store.secrets(tenant).set("kept", "a long value of the test", ["https://api.example"]);
};
const makeServer = async ({ tenant }: Place) => {
  const entry = { url: "https://mcp.example/mcp", auto_start: false };
  await world.store.servers(tenant).put({ name: "docs", entry, origin: "network" });
};
const makeChange = async ({ tenant }: Place) => {
  const definitions = world.store.definitions(tenant);
  await definitions.record(listOfTools("kit", { search: "before" }));
  await definitions.record(listOfTools("kit", { search: "after" }));
};
const makeApi = async ({ tenant }: Place) => {
  const apis = new ApiOperations(world.store.apis(tenant), { by: "Grace", origin: "network" });
  const file = approvedFile("orders");
  await apis.publish(file);
  await apis.publish(approvedFile("orders", file.text.replace("maxItems: 3", "maxItems: 4")));
};
const makeRecord = async ({ tenant }: Place) => {
  const record = { keyId: "k", server: "s", method: "tools/call", target: "t", outcome: "ok", durationMs: 1 };
  const at = Date.now() - 3_600_000;
  await world.store.audit.append(tenant, [
    { at, text: JSON.stringify({ at: new Date(at).toISOString(), tenant, ...record }) },
  ]);
};
/** The command reads all pages. */
const items = ({ items: shown }: Json) => ({ items: shown, next: null });

const ROWS: readonly Row[] = [
  {
    operation: "createTenant",
    what: "makes one",
    input: { name: "{tenant}x", limits: { rate: "5/s" } },
    command: "tenants create {tenant}x --rate 5/s",
  },
  {
    operation: "createTenant",
    what: "refuses a name that is not valid",
    input: { name: "Not valid" },
    command: "tenants create Not_valid",
    fails: "ARGUMENTS_INVALID",
  },
  {
    operation: "createTenant",
    what: "refuses a name that is taken",
    input: { name: "{tenant}" },
    command: "tenants create {tenant}",
    fails: { rest: "CONFLICT", commands: "ARGUMENTS_INVALID" },
  },
  { operation: "getTenant", what: "shows one", input: {}, command: "tenants show {tenant}" },
  {
    operation: "getTenant",
    what: "does not know another one",
    input: { tenant: "nobody" },
    command: "tenants show nobody",
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "limitTenant",
    what: "changes one limit",
    input: { perDay: 100 },
    command: "tenants limit {tenant} --per-day 100",
  },
  {
    operation: "removeTenant",
    what: "removes one",
    input: {},
    command: "tenants remove {tenant} --yes",
    part: () => ({}),
  },
  { operation: "listKeys", what: "lists those of a tenant", input: {}, command: `keys list ${IN_TENANT}`, part: items },
  {
    operation: "createKey",
    what: "makes one with grants and limits",
    input: { name: "ci", allow: ["everything"], deny: ["everything.sleep"], readOnly: true, limits: { rate: "10/s" } },
    command: `keys create ci --allow everything --deny everything.sleep --read-only --rate 10/s ${IN_TENANT}`,
  },
  {
    operation: "createKey",
    what: "makes one of an admin that calls nothing",
    input: { name: "grace", role: "admin" },
    command: `keys create grace --role admin ${IN_TENANT}`,
  },
  {
    operation: "createKey",
    what: "refuses a caller that could call nothing",
    input: { name: "ci" },
    command: `keys create ci ${IN_TENANT}`,
    fails: "ARGUMENTS_INVALID",
  },
  {
    operation: "createKey",
    what: "does not know another tenant",
    input: { tenant: "nobody", name: "ci", allow: ["everything"] },
    command: "keys create ci --allow everything --tenant nobody",
    fails: "NAME_UNKNOWN",
  },
  { operation: "getKey", what: "shows one", input: { id: "{id}" }, command: `keys show {id} ${IN_TENANT}` },
  {
    operation: "getKey",
    what: "does not know another one",
    input: { id: "nokey" },
    command: `keys show nokey ${IN_TENANT}`,
    fails: "NAME_UNKNOWN",
  },
  { operation: "revokeKey", what: "ends one", input: { id: "{id}" }, command: `keys revoke {id} ${IN_TENANT}` },
  {
    operation: "revokeKey",
    what: "does not know another one",
    input: { id: "nokey" },
    command: `keys revoke nokey ${IN_TENANT}`,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "rotateKey",
    what: "gives it another secret",
    input: { id: "{id}", overlap: "0s" },
    command: `keys rotate {id} --overlap 0s ${IN_TENANT}`,
  },
  {
    operation: "rotateKey",
    what: "refuses a duration that is not valid",
    input: { id: "{id}", overlap: "soon" },
    command: `keys rotate {id} --overlap soon ${IN_TENANT}`,
    fails: "ARGUMENTS_INVALID",
  },
  {
    operation: "setGrants",
    what: "replaces what it may use",
    input: { id: "{id}", allow: ["everything.echo"], readOnly: true },
    command: `keys grant {id} --allow everything.echo --read-only ${IN_TENANT}`,
    part: ({ allow, deny, readOnly }) => ({ allow, deny, readOnly }),
  },
  {
    operation: "setGrants",
    what: "refuses a caller that could call nothing",
    input: { id: "{id}" },
    command: `keys grant {id} ${IN_TENANT}`,
    fails: "ARGUMENTS_INVALID",
  },
  {
    operation: "changeLimits",
    what: "changes one and removes another",
    input: { id: "{id}", rate: "5/m", perDay: null },
    command: `keys limit {id} --rate 5/m --per-day none ${IN_TENANT}`,
    part: ({ limits }) => limits,
  },
  {
    operation: "explainKey",
    what: "says which rule decides",
    input: { id: "{id}", target: "set:desk" },
    command: `keys explain {id} set:desk ${IN_TENANT}`,
    prepare: makeSet,
  },
  {
    operation: "listSets",
    what: "lists those of a tenant",
    input: {},
    command: `sets list ${IN_TENANT}`,
    part: items,
    prepare: makeSet,
  },
  {
    operation: "createSet",
    what: "makes one",
    input: { name: "desk", allow: ["everything"], pin: true },
    command: `sets create desk --allow everything --pin ${IN_TENANT}`,
  },
  {
    operation: "createSet",
    what: "refuses a name that is taken",
    input: { name: "desk", allow: ["everything"] },
    command: `sets create desk --allow everything ${IN_TENANT}`,
    prepare: makeSet,
    fails: { rest: "CONFLICT", commands: "ARGUMENTS_INVALID" },
  },
  {
    operation: "getSet",
    what: "shows one",
    input: { name: "desk" },
    command: `sets show desk ${IN_TENANT}`,
    prepare: makeSet,
  },
  {
    operation: "replaceSet",
    what: "changes one",
    input: { name: "desk", allow: ["everything.echo"] },
    command: `sets edit desk --allow everything.echo ${IN_TENANT}`,
    prepare: makeSet,
  },
  {
    operation: "removeSet",
    what: "removes one",
    input: { name: "desk" },
    command: `sets remove desk ${IN_TENANT}`,
    prepare: makeSet,
    part: () => ({}),
  },
  {
    operation: "removeSet",
    what: "does not know another one",
    input: { name: "desk" },
    command: `sets remove desk ${IN_TENANT}`,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "listAudit",
    what: "lists records",
    input: { key: "k" },
    command: `audit list --key k ${IN_TENANT}`,
    prepare: makeRecord,
  },
  {
    operation: "getAuditRecord",
    what: "shows one",
    input: { seq: "1" },
    command: `audit show 1 ${IN_TENANT}`,
    prepare: makeRecord,
  },
  {
    operation: "getAuditRecord",
    what: "does not know another one",
    input: { seq: "99" },
    command: `audit show 99 ${IN_TENANT}`,
    prepare: makeRecord,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "verifyAudit",
    what: "finds no damage",
    input: {},
    command: `audit verify ${IN_TENANT}`,
    prepare: makeRecord,
    part: ({ ok, tenants }) => ({ lost: null, ...(tenants as Json[])[0], ok }),
  },
  {
    operation: "getUsage",
    what: "counts calls",
    input: { since: "2026-01-01T00:00:00Z" },
    command: `audit usage --since 2026-01-01 ${IN_TENANT}`,
    prepare: makeRecord,
  },
  {
    operation: "pruneAudit",
    what: "removes old records",
    input: { before: "2026-01-01T00:00:00Z" },
    command: `audit prune --before 2026-01-01 ${IN_TENANT}`,
    prepare: makeRecord,
  },
  {
    operation: "pruneAudit",
    what: "refuses a time that has not come",
    input: { before: "2999-01-01T00:00:00Z" },
    command: `audit prune --before 2999-01-01 ${IN_TENANT}`,
    prepare: makeRecord,
    fails: "ARGUMENTS_INVALID",
  },
  {
    operation: "listSecrets",
    what: "lists names",
    input: {},
    command: `secrets list ${IN_TENANT}`,
    part: ({ items: shown }) => shown,
    answer: ({ items: shown }) => (shown as Json[]).map(({ name, origins }) => ({ name, origins })),
    prepare: makeSecret,
  },
  {
    operation: "setSecret",
    what: "stores one",
    input: { name: "docs", value: "a long value of the test" },
    command: `secrets set docs ${IN_TENANT}`,
    stdin: "a long value of the test\n",
    answer: ({ name, origins }) => ({ name, origins }),
  },
  {
    operation: "removeSecret",
    what: "removes one",
    input: { name: "kept" },
    command: `secrets remove kept ${IN_TENANT}`,
    prepare: makeSecret,
    part: () => ({}),
  },
  {
    operation: "removeSecret",
    what: "does not know another one",
    input: { name: "other" },
    command: `secrets remove other ${IN_TENANT}`,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "addServer",
    what: "adds one at a public address",
    input: { name: "docs", entry: { url: "https://mcp.example/mcp", auto_start: false } },
    command: `mcp add docs --url https://mcp.example/mcp --no-check ${IN_TENANT}`,
    part: ({ server, tenant, enabled }) => ({ server, tenant, enabled }),
    answer: ({ id, tenant, enabled }) => ({ server: id, tenant, enabled }),
  },
  {
    operation: "switchServer",
    what: "disables one",
    input: { id: "docs", enabled: false },
    command: `mcp disable docs ${IN_TENANT}`,
    prepare: makeServer,
    part: ({ server, tenant, enabled }) => ({ server, tenant, enabled }),
    answer: ({ id, tenant, enabled }) => ({ server: id, tenant, enabled }),
  },
  {
    operation: "removeServer",
    what: "removes one",
    input: { id: "docs" },
    command: `mcp remove docs ${IN_TENANT}`,
    prepare: makeServer,
    part: () => ({}),
  },
  {
    operation: "listChanges",
    what: "lists what is different",
    input: {},
    command: `mcp changes list ${IN_TENANT}`,
    prepare: makeChange,
    part: ({ items: shown }) => shown,
    answer: ({ items: shown }) =>
      (shown as Json[]).map(({ server, kind, name, what, since }) => ({ server, kind, name, what, since })),
  },
  {
    operation: "listChanges",
    what: "does not know another server",
    input: { server: "nobody" },
    command: `mcp changes list --server nobody ${IN_TENANT}`,
    prepare: makeChange,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "acceptChanges",
    what: "accepts everything of a server",
    input: { server: "kit" },
    command: `mcp changes accept --server kit ${IN_TENANT}`,
    prepare: makeChange,
    part: ({ accepted }) => (accepted as unknown[]).length,
    answer: ({ accepted }) => (accepted as unknown[]).length,
  },
  {
    operation: "listApis",
    what: "lists what is published",
    input: {},
    command: `api versions ${IN_TENANT}`,
    prepare: makeApi,
    part: items,
  },
  {
    operation: "listApiVersions",
    what: "lists versions",
    input: { id: "orders" },
    command: `api versions orders ${IN_TENANT}`,
    prepare: makeApi,
    part: items,
  },
  {
    operation: "listApiVersions",
    what: "does not know another API",
    input: { id: "nothing" },
    command: `api versions nothing ${IN_TENANT}`,
    prepare: makeApi,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "changeApiVersion",
    what: "retires one that is not served",
    input: { id: "orders", version: "1.0.0", state: "retired" },
    command: `api versions orders --retire 1.0.0 ${IN_TENANT}`,
    prepare: makeApi,
  },
  {
    operation: "listApiInstances",
    what: "lists servers",
    input: { id: "orders" },
    command: `api instances orders ${IN_TENANT}`,
    prepare: makeApi,
    part: items,
  },
  {
    operation: "changeApiInstance",
    what: "adds one",
    input: { id: "orders", name: "test", upstream: "fake" },
    command: `api instances orders add test --upstream fake ${IN_TENANT}`,
    prepare: makeApi,
  },
  {
    operation: "removeApiInstance",
    what: "removes one",
    input: { id: "orders", name: "live" },
    command: `api instances orders remove live ${IN_TENANT}`,
    prepare: makeApi,
    part: () => ({}),
  },
  {
    operation: "rollBackApi",
    what: "serves the version before",
    input: { id: "orders", name: "live" },
    command: `api rollback orders ${IN_TENANT}`,
    prepare: makeApi,
  },
];

const SURFACES = ["rest", "here", "gateway"] as const;
type Surface = (typeof SURFACES)[number];

interface Outcome {
  value?: unknown;
  code?: string;
}

/** What differs each time, whatever asks for it, and whether it came over the network. */
const VOLATILE = new Set([
  "id",
  "key",
  "created",
  "changed",
  "revoked",
  "lastUsed",
  "until",
  "at",
  "hash",
  "since",
  "publishedAt",
  "origin",
]);

function comparable(value: unknown, { tenant }: Place): unknown {
  const text = JSON.stringify(value, (name, each: unknown) => (VOLATILE.has(name) && each !== null ? "…" : each));
  return JSON.parse(text.replaceAll(tenant, "TENANT")) as unknown;
}

function filled<T>(value: T, { tenant, id }: Place): T {
  return JSON.parse(JSON.stringify(value).replaceAll("{tenant}", tenant).replaceAll("{id}", id)) as T;
}

async function overHttp({ operation: name, input, answer = (body) => body }: Row, place: Place): Promise<Outcome> {
  const operation = OPERATIONS.find(({ id }) => id === name);
  if (!operation) throw new Error(`there is no operation ${name}`);
  const { method, path } = operation.http;
  const rest: Json = filled({ tenant: place.tenant, ...input }, place);
  const written = path.replaceAll(/\{(\w+)\}/g, (_all, member: string) => {
    const value = rest[member];
    delete rest[member];
    return encodeURIComponent(String(value));
  });
  if (!path.includes("{tenant}")) delete rest["tenant"];
  const query = method === "GET" ? new URLSearchParams(rest as Record<string, string>).toString() : "";
  const sent = method !== "GET" && operation.input ? { body: rest } : {};
  const { status, body } = await world.call(method, `${written}${query === "" ? "" : `?${query}`}`, {
    key: admin,
    ...sent,
  });
  return status < 400 ? { value: answer(body) } : { code: String(body["code"]) };
}

async function byCommand(
  { command, stdin = "", part = (printed) => printed }: Row,
  place: Place,
  where: string[],
): Promise<Outcome> {
  const words = [...filled(command, place).replace("Not_valid", "Not valid").split(" ").reduce(joined, []), ...where];
  const { code, stdout, stderr } = await person.run([...words, "--json"], {
    env: { ...variables, NEXUS_KEY: admin },
    stdin,
  });
  if (stdout.startsWith("{")) return { value: part(JSON.parse(stdout) as Json) };
  const { error } = JSON.parse(stderr) as { error: { code: string } };
  expect(code).not.toBe(0);
  return { code: error.code };
}

/** The name with a space is one word. */
function joined(words: string[], word: string): string[] {
  return words.at(-1) === "Not" ? [...words.slice(0, -1), `Not ${word}`] : [...words, word];
}

function ask(surface: Surface, row: Row, place: Place): Promise<Outcome> {
  if (surface === "rest") return overHttp(row, place);
  const here = ["--database", `file:${join(world.folder, "nexus.db")}`];
  return byCommand(row, place, surface === "here" ? here : ["--gateway", world.origin]);
}

async function newPlace(row: Row): Promise<Place> {
  const tenant = `t${++count}`;
  await world.store.tenants.create(tenant);
  const grants = { allow: ["everything", "set:desk"], deny: [], readOnly: false };
  const limits = { rate: { max: 3, windowMs: 1000 }, perDay: 7 };
  const { about } = await world.store.keys.create({ tenant, name: "old", role: "caller", grants, limits });
  const place = { tenant, id: about.id };
  await row.prepare?.(place);
  return place;
}

/** All records of changes, of all tenants. */
async function recorded(): Promise<Json[]> {
  const found: Json[] = [];
  for (const tenant of await world.store.audit.tenants()) {
    const { items: records } = await world.store.audit.list(tenant, {}, { limit: 500 });
    found.push(...records.filter(({ method }) => /^(rest|cli)\//.test(String(method))));
  }
  return found;
}

/** Those that only read what another one tells as well, or need the servers of a running gateway. */
const WITHOUT_ROW = new Set(
  "getSession listTenants getGrants getLimits listServers getServer changeServer retryServer getServerLog listTools listDefinitions getChange listToolFiles getToolFile publishApi exportAudit getMetrics".split(
    " ",
  ),
);

test("each operation has a row, or a reason why not", () => {
  const rows = new Set(ROWS.map(({ operation }) => operation));
  expect(OPERATIONS.map(({ id }) => id).filter((id) => !rows.has(id))).toEqual([...WITHOUT_ROW]);
});

describe("every operation is the same over HTTP, by its command, and by its command through a gateway", () => {
  test.each(ROWS)("$operation $what", async (row) => {
    const isChange = OPERATIONS.some((each) => each.id === row.operation && isRecorded(each));
    const outcomes = new Map<Surface, unknown>();
    for (const surface of SURFACES) {
      const place = await newPlace(row);
      const before = (await recorded()).length;
      const { value, code } = await ask(surface, row, place);
      const { rest, commands } =
        typeof row.fails === "string" ? { rest: row.fails, commands: row.fails } : { ...row.fails };
      expect({ surface, code }).toEqual({ surface, code: surface === "rest" ? rest : commands });
      outcomes.set(surface, comparable(value ?? null, place));
      const after = await recorded();
      // A command that would create a store finds mistakes before it opens anything.
      const isUnsent = surface !== "rest" && row.fails === "ARGUMENTS_INVALID" && after.length === before;
      expect({ surface, added: after.length - before }).toEqual({ surface, added: isChange && !isUnsent ? 1 : 0 });
      if (!isChange || isUnsent) continue;
      const newest = after.filter(({ method }) => String(method).endsWith(`/${row.operation}`));
      const who = surface === "here" ? { keyId: null } : { keyId: admin.split("_")[1] };
      const method = `${surface === "here" ? "cli" : "rest"}/${row.operation}`;
      expect(newest).toContainEqual(expect.objectContaining({ ...who, method }));
      if (surface === "here") expect(newest).toContainEqual(expect.objectContaining({ account: expect.any(String) }));
    }
    expect(outcomes.get("here")).toEqual(outcomes.get("rest"));
    expect(outcomes.get("gateway")).toEqual(outcomes.get("rest"));
  });
});
