import { basename } from "node:path";
import * as z from "zod";
import { NexusError } from "../../errors/nexus-error.ts";
import { maskUrl } from "../../text/mask-secrets.ts";
import type { ApiReach } from "../../transport/server-entry.ts";
import type { LoadedApi } from "../../workshop/load-api.ts";
import { listOf, PAGE_QUERY, pageOf } from "../http/page.ts";
import { defineOperation, type ApiContext } from "./api-context.ts";

const ToolFile = z.object({
  server: z.string().describe("The server that its tools belong to."),
  file: z.string().describe("The name of the file, without its folder."),
  api: z.string().nullable().describe("The id of the API, as the file has it."),
  title: z.string().nullable(),
  version: z.string().nullable().describe("As the file says now."),
  hash: z.string().nullable().describe("Of what the file compiles to now; an approval is about one hash."),
  state: z
    .enum(["approved", "changed", "not approved", "invalid"])
    .describe("`changed`: since it was approved. Only what is approved is served."),
  approved: z
    .object({ hash: z.string(), version: z.string(), by: z.string(), at: z.string() })
    .nullable()
    .describe("The newest approval."),
  upstream: z.string().nullable().describe("Where requests go: an address, or `fake`."),
  tools: z.int().nullable().describe("The number of tools in the file."),
  problem: z.string().nullable().describe("The first mistake of an invalid file."),
});

const ToolFileDetails = ToolFile.extend({
  description: z.string().nullable(),
  reaches: z.array(z.string()).describe("Prefixes of the addresses that requests can go to."),
  secrets: z.array(z.string()).describe("The names of the secrets that requests need; `{…}` stands for many."),
  documents: z.array(z.object({ file: z.string(), title: z.string().nullable(), sha256: z.string() })),
  definitions: z.array(z.record(z.string(), z.unknown())).describe("The tools as clients see them."),
  approvals: z
    .array(ToolFile.shape.approved.unwrap())
    .describe("All approvals with their versions, the oldest first. Only the newest one counts."),
});

export const TOOL_FILE_SCHEMAS = { ToolFile, ToolFileList: listOf(ToolFile), ToolFileDetails };

const listToolFiles = defineOperation({
  id: "listToolFiles",
  method: "GET",
  path: "/tenants/{tenant}/tool-files",
  tag: "tool files",
  summary: "The tool files that servers of the tenant are made of, and whether they are approved",
  access: "operator",
  query: z.strictObject(PAGE_QUERY),
  answer: { status: 200, schema: TOOL_FILE_SCHEMAS.ToolFileList },
  async handle({ api, params: { tenant = "" }, query }) {
    const { items, next } = pageOf(await servedFiles(api, tenant), query, ({ server }) => server);
    const shown = [];
    for (const served of items) shown.push(shortView(served, await api.toolFiles.load(served.reach.file)));
    return { items: shown, next };
  },
});

const getToolFile = defineOperation({
  id: "getToolFile",
  method: "GET",
  path: "/tenants/{tenant}/tool-files/{id}",
  tag: "tool files",
  summary: "The tool file of one server: its tools, addresses, secrets and approvals",
  access: "operator",
  answer: { status: 200, schema: ToolFileDetails },
  async handle({ api, params: { tenant = "", id = "" } }) {
    const served = (await servedFiles(api, tenant)).find(({ server }) => server === id);
    if (served) return details(served, await api.toolFiles.load(served.reach.file));
    throw new NexusError("NAME_UNKNOWN", `There is no server "${id}" with a tool file`, { mayHaveReached: false });
  },
});

export const TOOL_FILE_OPERATIONS = [listToolFiles, getToolFile];

interface ServedFile {
  server: string;
  reach: ApiReach;
}

async function servedFiles({ store, gateway }: ApiContext, tenant: string): Promise<ServedFile[]> {
  await store.tenants.require(tenant);
  const found = await gateway.useHost(tenant, (host) =>
    host.servers().flatMap(({ id, definition }) => {
      const reach = definition.entry?.reach;
      return reach?.kind === "api" && !reach.published ? [{ server: id, reach }] : [];
    }),
  );
  return found ?? [];
}

function shortView({ server, reach }: ServedFile, loaded: LoadedApi | string): z.infer<typeof ToolFile> {
  const { file, api, lock, problems } = typeof loaded === "string" ? NOTHING : loaded;
  const approved = lock?.approvals.at(-1) ?? null;
  const mistake = problems.find(({ severity }) => severity === "error")?.message;
  const problem = typeof loaded === "string" ? loaded : (mistake ?? null);
  const isValid = problem === null && api !== undefined;
  const upstream = reach.upstream ?? file?.upstream.base;
  return {
    server,
    file: basename(reach.file),
    api: file?.api ?? null,
    title: file?.title ?? null,
    version: file?.version ?? null,
    hash: api?.hash ?? null,
    state: !isValid ? "invalid" : !approved ? "not approved" : approved.hash === api.hash ? "approved" : "changed",
    approved: approved && approvalView(approved),
    upstream: upstream === undefined ? null : maskUrl(upstream),
    tools: file ? Object.keys(file.tools).length : null,
    problem,
  };
}

async function details(served: ServedFile, loaded: LoadedApi | string): Promise<z.infer<typeof ToolFileDetails>> {
  const { neededSecrets } = await import("../../workshop/file/model/secret-names.ts");
  const { file, api, lock } = typeof loaded === "string" ? NOTHING : loaded;
  const documents = Object.values(file?.documents ?? {});
  return {
    ...shortView(served, loaded),
    description: file?.description ?? null,
    reaches: file?.upstream.allow ?? [],
    secrets: file ? neededSecrets(file, served.server) : [],
    documents: documents.map(({ file: name, title = null, sha256 }) => ({ file: name, title, sha256 })),
    definitions: Object.values(api?.tools ?? {}).map((tool) => ({ ...tool })),
    approvals: (lock?.approvals ?? []).map(approvalView),
  };
}

type Approval = NonNullable<LoadedApi["lock"]>["approvals"][number];

function approvalView({ hash, version, by, at }: Approval) {
  return { hash, version, by, at };
}

const NOTHING: Partial<LoadedApi> & Pick<LoadedApi, "problems"> = { problems: [] };
