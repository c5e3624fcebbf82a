import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tenantFolder } from "../../src/auth/tenant-folder.ts";
import { CATALOG, findCommand } from "../../src/cli/catalog.ts";
import { inCommandWords } from "../../src/cli/command/operation-options.ts";
import { NexusError, type ErrorCode } from "../../src/errors/nexus-error.ts";
import { ApiOperations } from "../../src/operations/apis/api-operations.ts";
import type { InvalidMember } from "../../src/operations/input.ts";
import { isRecorded } from "../../src/operations/operation.ts";
import { OPERATIONS } from "../../src/operations/operations.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { approvedFile, listOfTools } from "../rest/contract-examples.ts";
import { RestWorld, TOOL_FILE } from "../rest/rest-world.ts";

type Json = Record<string, unknown>;

/** What a row needs is made in a tenant of its own, for each surface. Its members replace `{tenant}`, `{id}` … in the row. */
interface Place extends Readonly<Record<string, string>> {
  tenant: string;
  /** The id of a key of the tenant. */
  id: string;
}

interface Row {
  operation: string;
  what: string;
  /** Members of the request: those in the path, and those of the query or body. */
  input: Json | ((place: Place) => Promise<Json>);
  /** The command, without the words that say where. */
  command: string;
  /** The part of what the command prints that the operation answers. */
  part?: (printed: Json, place: Place) => unknown;
  /** The part of the answer over HTTP that the command prints. */
  answer?: (body: Json, place: Place) => unknown;
  /** What it returns is part of the place. */
  prepare?: (place: Place) => Promise<Readonly<Record<string, string>> | void>;
  stdin?: string;
  /** The code of the failure. */
  fails?: string;
  /** Why the command first reads what is there: a change that fails there is not sent, and so not recorded. */
  reads?: string;
  /** What is not the same on a surface, and why. */
  apart?: readonly Apart[];
}

interface Apart {
  surface: Surface;
  why: string;
  /** How the command fails there; undefined: it answers the same, and is not recorded. */
  fails?: string;
}

const SURFACES = ["rest", "here", "gateway"] as const;
type Surface = (typeof SURFACES)[number];

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
  const [pending] = await definitions.pending("kit");
  return { change: pending?.id ?? "" };
};
const keepLocal = (tenant: string, name: string, entry: Json) =>
  world.store.servers(tenant).put({ name, entry, origin: "local" });
const makeRunning = ({ tenant }: Place) => keepLocal(tenant, "everything", world.everything);
const makeToolFile = ({ tenant }: Place) =>
  keepLocal(tenant, "hotel", { api: TOOL_FILE, upstream: "fake", auto_start: false });
/** The gateway and the person have folders of their own. */
const makeLog = async (place: Place) => {
  await makeServer(place);
  for (const state of [world.folder, join(person.home, ".local", "state", "nexus")]) {
    const folder = join(tenantFolder(state, place.tenant), "logs");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "docs.log"), "first\n2026-11-16T06:54:33.000Z second\n");
  }
};
const makeApproved = async () => {
  await person.write("home/work/project/orders.nexus.yaml", approvedFile("orders").text);
  await person.run(["api", "approve", "orders", "--yes", "--by", "Ada"]);
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
/** A command connects from its own process, which changes nothing of a gateway. */
const CONNECTS_HERE: readonly Apart[] = [{ surface: "here", why: "the servers of a gateway run in its own process" }];
const FORBIDDEN = "whoever adds an origin could read the value of the secret there";
const ONLY_HERE: readonly Apart[] = [
  { surface: "rest", why: FORBIDDEN, fails: "NAME_UNKNOWN" },
  { surface: "gateway", why: FORBIDDEN, fails: "ARGUMENTS_INVALID" },
];

const ofTenant = ({ items: all }: Json, { tenant }: Place) => (all as Json[]).filter(({ name }) => name === tenant);
const serverOf = ({ id, enabled, transport, url }: Json) => ({ id, enabled, transport, url });
const connectionOf = ({ server, era, protocolVersion, tools }: Json) => ({ server, era, protocolVersion, tools });
/** Commands keep the order of the server. */
const byName = (tools: readonly Json[]) => tools.toSorted((a, b) => (String(a["name"]) < String(b["name"]) ? -1 : 1));
const linesOf = ({ text }: Json) =>
  (text as string)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);
const withoutPublisher = ({ version, ...rest }: Json) => {
  const { publishedBy: _by, ...same } = version as Json;
  return { ...rest, version: same };
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
    fails: "ARGUMENTS_INVALID",
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
    fails: "ARGUMENTS_INVALID",
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
    reads: "what no option names stays",
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
    reads: "it says whether that was new",
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
    reads: "it accepts what it has read, and nothing newer",
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
    reads: "add and set are different words for people",
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
  {
    operation: "getSession",
    what: "says whose rights a command has",
    input: {},
    command: "keys whoami",
    part: ({ keyId: _key, ...rest }) => rest,
    answer: ({ tenant, role, allTenants, version }) => ({ tenant, role, allTenants, version }),
  },
  {
    operation: "listTenants",
    what: "lists them",
    input: { limit: "500" },
    command: "tenants list",
    part: ofTenant,
    answer: ofTenant,
  },
  {
    operation: "getMetrics",
    what: "counts what runs",
    input: {},
    command: "tenants metrics {tenant}",
    apart: [{ surface: "here", why: "only a running gateway has metrics", fails: "ARGUMENTS_INVALID" }],
  },
  {
    operation: "getGrants",
    what: "shows those of a key",
    input: { id: "{id}" },
    command: `keys show {id} ${IN_TENANT}`,
    part: ({ allow, deny, readOnly }) => ({ allow, deny, readOnly }),
  },
  {
    operation: "getGrants",
    what: "does not know another key",
    input: { id: "nokey" },
    command: `keys show nokey ${IN_TENANT}`,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "getLimits",
    what: "shows those of a key",
    input: { id: "{id}" },
    command: `keys show {id} ${IN_TENANT}`,
    part: ({ limits }) => limits,
  },
  {
    operation: "getLimits",
    what: "does not know another key",
    input: { id: "nokey" },
    command: `keys show nokey ${IN_TENANT}`,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "limitTenant",
    what: "refuses a rate that is not valid",
    input: { rate: "fast" },
    command: "tenants limit {tenant} --rate fast",
    fails: "ARGUMENTS_INVALID",
  },
  {
    operation: "explainKey",
    what: "does not know another set",
    input: { id: "{id}", target: "set:other" },
    command: `keys explain {id} set:other ${IN_TENANT}`,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "createSet",
    what: "refuses a pattern that is not valid",
    input: { name: "desk", allow: ["a+b"] },
    command: `sets create desk --allow a+b ${IN_TENANT}`,
    fails: "ARGUMENTS_INVALID",
  },
  {
    operation: "getSet",
    what: "does not know another one",
    input: { name: "dekk" },
    command: `sets show dekk ${IN_TENANT}`,
    prepare: makeSet,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "listServers",
    what: "lists those of a tenant",
    input: {},
    command: `mcp servers ${IN_TENANT}`,
    prepare: makeServer,
    part: ({ servers }) => (servers as Json[]).map(serverOf),
    answer: ({ items: shown }) => (shown as Json[]).map(serverOf),
  },
  {
    operation: "getServer",
    what: "shows one",
    input: { id: "docs" },
    command: `mcp servers docs ${IN_TENANT}`,
    prepare: makeServer,
    part: ({ servers }) => (servers as Json[]).map(serverOf),
    answer: (server) => [serverOf(server)],
  },
  {
    operation: "getServer",
    what: "does not know another one",
    input: { id: "doks" },
    command: `mcp servers doks ${IN_TENANT}`,
    prepare: makeServer,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "addServer",
    what: "refuses a name that is taken",
    input: { name: "docs", entry: { url: "https://mcp.example/mcp" } },
    command: `mcp add docs --url https://mcp.example/mcp --no-check ${IN_TENANT}`,
    prepare: makeServer,
    fails: "ARGUMENTS_INVALID",
  },
  {
    operation: "changeServer",
    what: "replaces its entry",
    reads: "it replaces what is there, and adds what is not",
    input: { id: "docs", entry: { url: "https://other.example/mcp" } },
    command: `mcp add docs --url https://other.example/mcp --force --no-check ${IN_TENANT}`,
    prepare: makeServer,
    part: ({ server, tenant, enabled }) => ({ server, tenant, enabled }),
    answer: ({ id, tenant, enabled }) => ({ server: id, tenant, enabled }),
  },
  {
    operation: "switchServer",
    what: "does not know another one",
    reads: "it says whether that was new",
    input: { id: "doks", enabled: false },
    command: `mcp disable doks ${IN_TENANT}`,
    prepare: makeServer,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "removeServer",
    what: "does not know another one",
    input: { id: "doks" },
    command: `mcp remove doks ${IN_TENANT}`,
    prepare: makeServer,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "retryServer",
    what: "connects again",
    input: { id: "everything" },
    command: `mcp retry everything ${IN_TENANT}`,
    prepare: makeRunning,
    part: ({ items: shown }) => (shown as Json[]).map(connectionOf),
    answer: ({ id, tools, state }) => [connectionOf({ server: id, tools, ...(state as Json) })],
    apart: CONNECTS_HERE,
  },
  {
    operation: "retryServer",
    what: "does not know another one",
    input: { id: "nothing" },
    command: `mcp retry nothing ${IN_TENANT}`,
    prepare: makeRunning,
    fails: "NAME_UNKNOWN",
    apart: CONNECTS_HERE,
  },
  {
    operation: "getServerLog",
    what: "shows what a server printed",
    input: { id: "docs", lines: "1" },
    command: `mcp logs docs --lines 1 ${IN_TENANT}`,
    prepare: makeLog,
    part: ({ lines, times }) => (lines as string[]).map((line, at) => ({ time: (times as string[])[at], line })),
    answer: ({ lines }) => lines,
  },
  {
    operation: "getServerLog",
    what: "does not know another server",
    input: { id: "doks" },
    command: `mcp logs doks ${IN_TENANT}`,
    prepare: makeServer,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "listTools",
    what: "lists those of a server",
    input: { server: "everything", limit: "500" },
    command: `mcp tools everything ${IN_TENANT}`,
    prepare: makeRunning,
    part: ({ items: shown }) => byName(shown as Json[]),
    answer: ({ items: shown }) =>
      byName((shown as Json[]).map(({ server, definition }) => ({ server, ...(definition as Json) }))),
  },
  {
    operation: "listTools",
    what: "does not know another server",
    input: { server: "everythin" },
    command: `mcp tools everythin ${IN_TENANT}`,
    prepare: makeRunning,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "listDefinitions",
    what: "knows the names that can be accepted",
    input: { server: "kit" },
    command: `mcp changes show kit.search ${IN_TENANT}`,
    prepare: makeChange,
    part: ({ server, kind, name }) => [{ server, kind, name, state: "changed" }],
    answer: ({ items: shown }) => shown,
  },
  {
    operation: "getChange",
    what: "shows what is different",
    input: { id: "{change}" },
    command: `mcp changes show kit.search ${IN_TENANT}`,
    prepare: makeChange,
    part: ({ items: shown }) => shown,
    answer: ({ id: _id, forSome: _forSome, hash: _hash, ...shown }) => [shown],
  },
  {
    operation: "listToolFiles",
    what: "lists those of servers",
    input: {},
    command: `api files ${IN_TENANT}`,
    prepare: makeToolFile,
    part: items,
  },
  {
    operation: "getToolFile",
    what: "shows one",
    input: { id: "hotel" },
    command: `api files hotel ${IN_TENANT}`,
    prepare: makeToolFile,
  },
  {
    operation: "getToolFile",
    what: "does not know another one",
    input: { id: "hotels" },
    command: `api files hotels ${IN_TENANT}`,
    prepare: makeToolFile,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "exportAudit",
    what: "writes lines",
    input: { key: "k" },
    command: `audit export --key k ${IN_TENANT}`,
    prepare: makeRecord,
    part: linesOf,
    answer: linesOf,
  },
  {
    operation: "allowSecret",
    what: "allows one more origin",
    input: { name: "kept", origin: "https://other.example" },
    command: `secrets allow kept https://other.example ${IN_TENANT}`,
    prepare: makeSecret,
    apart: ONLY_HERE,
  },
  {
    operation: "allowSecret",
    what: "does not know another secret",
    input: { name: "kep", origin: "https://other.example" },
    command: `secrets allow kep https://other.example ${IN_TENANT}`,
    prepare: makeSecret,
    fails: "NAME_UNKNOWN",
    apart: ONLY_HERE,
  },
  {
    operation: "publishApi",
    what: "serves an approved file",
    input: async () => ({ ...approvedFile("orders") }),
    command: `api publish orders ${IN_TENANT}`,
    prepare: makeApproved,
    part: withoutPublisher,
    answer: withoutPublisher,
  },
  {
    operation: "publishApi",
    what: "refuses a number that is not one",
    input: async () => ({ ...approvedFile("orders"), as: "first" }),
    command: `api publish orders --as first ${IN_TENANT}`,
    prepare: makeApproved,
    fails: "ARGUMENTS_INVALID",
  },
  {
    operation: "changeApiVersion",
    what: "refuses one that is served",
    input: { id: "orders", version: "1.1.0", state: "retired" },
    command: `api versions orders --retire 1.1.0 ${IN_TENANT}`,
    prepare: makeApi,
    fails: "ARGUMENTS_INVALID",
  },
  {
    operation: "changeApiVersion",
    what: "does not know another one",
    input: { id: "orders", version: "9.9.9", state: "retired" },
    command: `api versions orders --retire 9.9.9 ${IN_TENANT}`,
    prepare: makeApi,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "changeApiInstance",
    what: "refuses settings that the file does not have",
    input: { id: "orders", name: "test", settings: { regoin: "x" } },
    command: `api instances orders add test --setting regoin=x ${IN_TENANT}`,
    prepare: makeApi,
    fails: "ARGUMENTS_INVALID",
  },
  {
    operation: "removeApiInstance",
    what: "does not know another one",
    input: { id: "orders", name: "test" },
    command: `api instances orders remove test ${IN_TENANT}`,
    prepare: makeApi,
    fails: "NAME_UNKNOWN",
  },
  {
    operation: "rollBackApi",
    what: "does not know another version",
    input: { id: "orders", name: "live", to: "9.9.9" },
    command: `api rollback orders --to 9.9.9 ${IN_TENANT}`,
    prepare: makeApi,
    fails: "NAME_UNKNOWN",
  },
];

interface Outcome {
  value?: unknown;
  code?: string | undefined;
  /** What a person reads: of REST, as the command would say it. */
  message?: string;
  hint?: string | undefined;
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

function comparable(value: unknown, place: Place): unknown {
  let text = JSON.stringify(value, (name, each: unknown) => (VOLATILE.has(name) && each !== null ? "…" : each));
  for (const [name, given] of Object.entries(place)) text = text.replaceAll(given, `{${name}}`);
  return JSON.parse(text) as unknown;
}

function filled<T>(value: T, place: Place): T {
  return JSON.parse(JSON.stringify(value).replaceAll(/\{(\w+)\}/g, (all, name: string) => place[name] ?? all)) as T;
}

function operationOf(row: Row): (typeof OPERATIONS)[number] {
  const operation = OPERATIONS.find(({ id }) => id === row.operation);
  if (!operation) throw new Error(`there is no operation ${row.operation}`);
  return operation;
}

async function overHttp(row: Row, place: Place): Promise<Outcome> {
  const { input, answer = (body) => body } = row;
  const operation = operationOf(row);
  const { method, path } = operation.http;
  const given = typeof input === "function" ? await input(place) : filled(input, place);
  const rest: Json = { tenant: place.tenant, ...given };
  const written = path.replaceAll(/\{(\w+)\}/g, (_all, member: string) => {
    const value = rest[member];
    delete rest[member];
    return encodeURIComponent(String(value));
  });
  if (!path.includes("{tenant}")) delete rest["tenant"];
  const query = method === "GET" ? new URLSearchParams(rest as Record<string, string>).toString() : "";
  const sent = method !== "GET" && operation.input ? { body: rest } : {};
  const { status, text, body } = await world.call(method, `${written}${query === "" ? "" : `?${query}`}`, {
    key: place["key"] ?? admin,
    ...sent,
  });
  if (status < 400) return { value: answer(operation.http.mediaType === undefined ? body : { text }, place) };
  return refusalOf(row, body);
}

/** A problem, as the command says it: with options instead of members. */
async function refusalOf({ command }: Row, { code, detail, hint, errors }: Json): Promise<Outcome> {
  const known = code === "CONFLICT" ? "ARGUMENTS_INVALID" : (code as ErrorCode);
  const invalid = errors as InvalidMember[] | undefined;
  const { options } = await load(command);
  const error = new NexusError(known, String(detail), {
    hint: hint as string | undefined,
    ...(invalid ? { invalid } : {}),
  });
  const said = invalid ? await inCommandWords(error, { options, values: {} }) : error;
  return { code: known, message: said.message, hint: said.hint };
}

function load(command: string) {
  const listing = CATALOG[findCommand(command.split(" ")) ?? ""];
  if (!listing) throw new Error(`there is no command ${command}`);
  return listing.load();
}

async function byCommand(row: Row, place: Place, where: string[]): Promise<Outcome> {
  const { command, stdin = "", part = (printed) => printed } = row;
  const words = [...filled(command, place).replace("Not_valid", "Not valid").split(" ").reduce(joined, []), ...where];
  const { code, stdout, stderr } = await person.run([...words, "--json"], {
    env: { ...variables, NEXUS_KEY: place["key"] ?? admin },
    stdin,
  });
  if (operationOf(row).http.mediaType !== undefined && code === 0) return { value: part({ text: stdout }, place) };
  if (stdout.startsWith("{")) return { value: part(JSON.parse(stdout) as Json, place) };
  const { error } = JSON.parse(stderr) as { error: { code: string; message: string; hint?: string } };
  expect(code).not.toBe(0);
  return { code: error.code, message: error.message, hint: error.hint };
}

/** The name with a space is one word. */
function joined(words: string[], word: string): string[] {
  return words.at(-1) === "Not" ? [...words.slice(0, -1), `Not ${word}`] : [...words, word];
}

function databaseHere(): string[] {
  return ["--database", `file:${join(world.folder, "nexus.db")}`];
}

function ask(surface: Surface, row: Row, place: Place): Promise<Outcome> {
  if (surface === "rest") return overHttp(row, place);
  return byCommand(row, place, surface === "here" ? databaseHere() : ["--gateway", world.origin]);
}

async function newPlace(row: Row): Promise<Place> {
  const tenant = `t${++count}`;
  await world.store.tenants.create(tenant);
  const grants = { allow: ["everything", "set:desk"], deny: [], readOnly: false };
  const limits = { rate: { max: 3, windowMs: 1000 }, perDay: 7 };
  const { about } = await world.store.keys.create({ tenant, name: "old", role: "caller", grants, limits });
  const place = { tenant, id: about.id };
  return { ...place, ...(await row.prepare?.(place)) };
}

/** A path of the REST API, and the first words of the command that does the same. */
const REFERENCES = OPERATIONS.flatMap(({ http: { method, path }, command = "" }) => {
  const request = new RegExp(`^${method} /api/v1${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  return [{ request, words: command.replace(/ (?:\{|--).*$/, "") }];
});
const WORD = String.raw`(?:[^\s".,()]|\.(?=\S))+`;

/**
 * A hint of which only that is left what is the same on all surfaces: `{keys list}` stands for the request of REST, and for the
 * command. Where REST names a command, it stays.
 */
function neutral(surface: Surface, hint: string | undefined): string | undefined {
  if (surface === "rest") {
    return hint
      ?.replaceAll(
        new RegExp(`((?:GET|POST|PUT|PATCH|DELETE) /api/v1${WORD})(?: with \`\\w+\`)*`, "g"),
        (_all, request: string) => {
          return `{${REFERENCES.find((each) => each.request.test(request))?.words ?? request}}`;
        },
      )
      .replaceAll(/`(\w+)`/g, (_all, member: string) => {
        return `--${member.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      });
  }
  return hint?.replaceAll(new RegExp(`nexus (${WORD}(?: ${WORD})*)`, "g"), (command, words: string) => {
    const known = REFERENCES.map((each) => each.words).filter((each) => `${words} `.startsWith(`${each} `));
    return `{${known.toSorted((a, b) => b.length - a.length)[0] ?? command}}`;
  });
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

/** What nothing that can be asked makes fail. */
const NEVER_FAILS: Readonly<Record<string, string>> = {
  getSession: "it takes nothing",
  listTenants: "it takes the page alone, which commands do not choose",
};

/** A row for a tenant that does not exist, for each operation on one. */
const WITHOUT_TENANT: readonly Row[] = OPERATIONS.filter(({ http }) => http.path.includes("{tenant}")).flatMap(
  ({ id }) => {
    const [row] = ROWS.filter(({ operation, fails }) => operation === id && fails === undefined);
    if (!row) return [];
    const { command, input } = row;
    const read = typeof input === "function" ? input : async (place: Place) => filled(input, place);
    return [
      {
        ...row,
        what: "does not know another tenant",
        input: async (place) => ({ ...(await read(place)), tenant: "nobody" }),
        command: command.replaceAll("{tenant}", "nobody"),
        fails: "NAME_UNKNOWN",
      },
    ];
  },
);

test("each operation has a row where it succeeds and one where it fails, or a reason why not", () => {
  const [succeeds, fails] = [new Set<string>(), new Set<string>()];
  for (const row of [...ROWS, ...WITHOUT_TENANT]) (row.fails === undefined ? succeeds : fails).add(row.operation);
  expect(OPERATIONS.map(({ id }) => id).filter((id) => !succeeds.has(id))).toEqual([]);
  expect(OPERATIONS.map(({ id }) => id).filter((id) => !fails.has(id))).toEqual(Object.keys(NEVER_FAILS));
});

test("each operation has a command, and its row uses it", async () => {
  for (const { id, command } of OPERATIONS) {
    const name = findCommand((command ?? "").split(" ")) ?? `none for ${id}`;
    expect(Object.keys(CATALOG)).toContain(name);
    const used = ROWS.filter(({ operation }) => operation === id).map((row) => findCommand(row.command.split(" ")));
    expect({ id, used: used.includes(name) || id === "switchServer" }).toEqual({ id, used: true });
  }
});

describe("every operation is the same over HTTP, by its command, and by its command through a gateway", () => {
  test.each([...ROWS, ...WITHOUT_TENANT])("$operation $what", async (row) => {
    const isChange = isRecorded(operationOf(row));
    const outcomes = new Map<Surface, Outcome>();
    for (const surface of SURFACES) {
      const apart = row.apart?.find((each) => each.surface === surface);
      const place = await newPlace(row);
      const before = (await recorded()).length;
      const outcome = await ask(surface, row, place);
      const { value, code, message } = outcome;
      expect({ surface, code, message }).toMatchObject({ surface, code: apart?.fails ?? row.fails });
      if (apart?.fails === undefined) {
        const hint = neutral(surface, outcome.hint);
        outcomes.set(surface, comparable({ value: value ?? null, code, message, hint }, place) as Outcome);
      }
      const after = await recorded();
      // A command that would create a store finds mistakes before it opens anything.
      const isChecked = row.fails === "ARGUMENTS_INVALID" && after.length === before;
      const isUnsent = surface !== "rest" && row.fails !== undefined && (isChecked || row.reads !== undefined);
      const isIn = isChange && !isUnsent && !apart;
      expect({ surface, added: after.length - before }).toEqual({ surface, added: isIn ? 1 : 0 });
      if (!isIn) continue;
      const newest = after.filter(({ method }) => String(method).endsWith(`/${row.operation}`));
      const who = surface === "here" ? { keyId: null } : { keyId: admin.split("_")[1] };
      const method = `${surface === "here" ? "cli" : "rest"}/${row.operation}`;
      expect(newest).toContainEqual(expect.objectContaining({ ...who, method }));
      if (surface === "here") expect(newest).toContainEqual(expect.objectContaining({ account: expect.any(String) }));
    }
    const [first, ...others] = [...outcomes];
    for (const other of others) expect({ [other[0]]: other[1] }).toEqual({ [other[0]]: first?.[1] });
  });
});

/** Commands that read first are refused for what they read. */
const FOR_ROLES = ROWS.filter((row, at) => {
  const { access, isLocal } = operationOf(row);
  const isFirst = ROWS.findIndex(({ operation }) => operation === row.operation) === at;
  return isFirst && access !== "caller" && isLocal !== true && row.reads === undefined;
});

describe("a key with too low a role is refused in the same words over HTTP and by the command through a gateway", () => {
  test.each(FOR_ROLES)("$operation", async (row) => {
    const refusals = [];
    for (const surface of ["rest", "gateway"] as const) {
      const place = await newPlace(row);
      const key = await world.newKey("caller", place.tenant);
      const { code, message, hint } = await ask(surface, row, { ...place, key });
      refusals.push(comparable({ code, message, hint: neutral(surface, hint) }, place));
    }
    expect(refusals[0]).toMatchObject({ code: "FORBIDDEN", hint: expect.stringContaining("{keys create}") });
    expect(refusals[1]).toEqual(refusals[0]);
  });
});
