import { readFileSync } from "node:fs";
import { ApiOperations } from "../../src/operations/apis/api-operations.ts";
import { compileApi } from "../../src/workshop/compile/compile.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";
import type { RestWorld } from "./rest-world.ts";

/** A request that succeeds. */
export interface Example {
  params?: Record<string, string>;
  query?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

type MakeExample = (world: RestWorld, admin: string) => Promise<Example> | Example;

const shop = { tenant: "shop" };
let count = 0;

async function ofKey(world: RestWorld, body?: unknown): Promise<Example> {
  const grants = { allow: ["*"], deny: [], readOnly: false };
  const { about } = await world.store.keys.create({ tenant: "shop", name: "example", role: "caller", grants });
  return { params: { ...shop, id: about.id }, body };
}

async function ofSet(world: RestWorld, body?: unknown): Promise<Example> {
  const name = `set${++count}`;
  await world.store.sets.put({ tenant: "shop", name, definition: JSON.stringify({ allow: ["*"] }) });
  return { params: { ...shop, name }, body };
}

async function ofServer(world: RestWorld, body?: unknown): Promise<Example> {
  const name = `server${++count}`;
  const entry = { url: "https://mcp.example/mcp", auto_start: false };
  await world.store.servers("shop").put({ name, entry, origin: "network" });
  return { params: { ...shop, id: name }, body };
}

const ORDERS = readFileSync(new URL("../fixtures/tool-files/orders.nexus.yaml", import.meta.url), "utf8");

/** An approved tool file, under a name of its own. */
export function approvedFile(api: string, text = ORDERS) {
  const named = text.replace("api: orders", `api: ${api}`);
  const { file } = readToolFile(named, api);
  if (!file) throw new Error("not a tool file");
  const approval = { hash: compileApi(file, {}).api.hash, by: "Ada", at: "2026-11-02T09:00:00.000Z", version: "1.0.0" };
  return { text: named, documents: {}, approval };
}

/** An API with two versions; the second one is served. */
async function ofApi(world: RestWorld, more: Partial<Example> = {}): Promise<Example> {
  const id = `orders${++count}`;
  const apis = new ApiOperations(world.store.apis("shop"), { by: "Grace", origin: "network" });
  await apis.publish(approvedFile(id));
  await apis.publish(approvedFile(id, ORDERS.replace("maxItems: 3", "maxItems: 4")));
  return { ...more, params: { ...shop, id, ...more.params } };
}

/** What a server lists, by the names of tools with their descriptions. */
export function listOfTools(server: string, tools: Record<string, string>) {
  const definitions = Object.entries(tools).map(
    ([name, description]) => [name, { hash: description, received: { name, description } }] as const,
  );
  return { server, kind: "tools" as const, isCommon: true, isPinned: false, definitions: new Map(definitions) };
}

async function ofChange(world: RestWorld): Promise<{ id: string; hash: string | null }> {
  const server = `changed${++count}`;
  const definitions = world.store.definitions("shop");
  await definitions.record(listOfTools(server, { search: "before" }));
  await definitions.record(listOfTools(server, { search: "after" }));
  const [pending] = await definitions.pending(server);
  return { id: pending?.id ?? "", hash: pending?.hash ?? null };
}

async function ofAudit(world: RestWorld): Promise<Example> {
  const record = {
    at: new Date().toISOString(),
    tenant: "shop",
    keyId: "k",
    server: "s",
    method: "tools/call",
    target: "t",
    outcome: "ok",
    durationMs: 1,
  };
  const entry = { at: Date.parse(record.at), text: JSON.stringify(record) };
  const { seq } = await world.store.audit.append("shop", [entry]);
  return { params: { ...shop, seq: String(seq) } };
}

/** One for every operation of the API. */
export const examples: Record<string, MakeExample> = {
  getSession: () => ({}),
  signIn: (_world, key) => ({ body: { key } }),
  signOut: () => ({}),
  listTenants: () => ({ query: "?limit=1" }),
  createTenant: () => ({ body: { name: `tenant${++count}` } }),
  getTenant: () => ({ params: shop }),
  limitTenant: () => ({ params: shop, body: { rate: "1000/s", perDay: null } }),
  async removeTenant(world) {
    const { name } = await world.store.tenants.create(`tenant${++count}`);
    return { params: { tenant: name } };
  },
  listKeys: () => ({ params: shop }),
  createKey: () => ({
    params: shop,
    body: { name: "ci", allow: ["everything"], expires: "1d", limits: { rate: "10/s" } },
  }),
  getKey: (world) => ofKey(world),
  revokeKey: (world) => ofKey(world),
  rotateKey: (world) => ofKey(world, { overlap: "0s" }),
  getGrants: (world) => ofKey(world),
  setGrants: (world) => ofKey(world, { allow: ["everything.echo"], readOnly: true }),
  getLimits: (world) => ofKey(world),
  explainKey: async (world) => ({ ...(await ofKey(world)), query: "?target=everything.echo" }),
  changeLimits: (world) => ofKey(world, { rate: "5/m", perDay: null }),
  listServers: () => ({ params: { tenant: "default" } }),
  addServer: () => ({ params: shop, body: { name: `added${++count}`, entry: { url: "https://mcp.example/mcp" } } }),
  getServer: () => ({ params: { tenant: "default", id: "everything" } }),
  changeServer: (world) => ofServer(world, { entry: { url: "https://other.example/mcp" } }),
  switchServer: (world) => ofServer(world, { enabled: false }),
  removeServer: (world) => ofServer(world),
  retryServer: () => ({ params: { tenant: "default", id: "everything" } }),
  getServerLog: () => ({ params: { tenant: "default", id: "everything" }, query: "?lines=10" }),
  async listSecrets(world) {
    await world.store.secrets("shop").set("listed", "value of the test");
    return { params: shop };
  },
  setSecret: () => ({
    params: { ...shop, name: `secret${++count}` },
    body: { value: "value of the test", origins: ["https://api.example"] },
  }),
  async removeSecret(world) {
    await world.store.secrets("shop").set("removed", "value of the test");
    return { params: { ...shop, name: "removed" } };
  },
  listTools: () => ({ params: { tenant: "default" } }),
  listToolFiles: () => ({ params: { tenant: "default" } }),
  getToolFile: () => ({ params: { tenant: "default", id: "hotel" } }),
  listApis: (world) => ofApi(world),
  publishApi: () => ({ params: shop, body: { ...approvedFile(`orders${++count}`), settings: { region: "south" } } }),
  listApiVersions: (world) => ofApi(world),
  changeApiVersion: (world) => ofApi(world, { params: { version: "1.0.0" }, body: { state: "retired" } }),
  listApiInstances: (world) => ofApi(world),
  changeApiInstance: (world) =>
    ofApi(world, { params: { name: "test" }, body: { version: "1.0.0", limits: { perMinute: 60 } } }),
  removeApiInstance: (world) => ofApi(world, { params: { name: "live" } }),
  rollBackApi: (world) => ofApi(world, { params: { name: "live" }, body: { to: "1.0.0" } }),
  async listDefinitions(world) {
    await ofChange(world);
    return { params: shop };
  },
  async listChanges(world) {
    await ofChange(world);
    return { params: shop };
  },
  getChange: async (world) => ({ params: { ...shop, id: (await ofChange(world)).id } }),
  acceptChanges: async (world) => ({ params: shop, body: { changes: [await ofChange(world)] } }),
  listSets: (world) => ofSet(world),
  createSet: () => ({ params: shop, body: { name: `made${++count}`, allow: ["everything"] } }),
  getSet: (world) => ofSet(world),
  replaceSet: (world) => ofSet(world, { allow: ["everything.echo"], readOnly: true }),
  removeSet: (world) => ofSet(world),
  listAudit: (world) => ofAudit(world),
  exportAudit: (world) => ofAudit(world),
  verifyAudit: (world) => ofAudit(world),
  pruneAudit: async (world) => ({ ...(await ofAudit(world)), body: { before: "2020-01-01T00:00:00Z" } }),
  getAuditRecord: (world) => ofAudit(world),
  getUsage: (world) => ofAudit(world),
  getMetrics: () => ({ params: { tenant: "default" } }),
  streamEvents: () => ({}),
};
