import { basename } from "node:path";
import { NexusError } from "../errors/nexus-error.ts";
import { choice, json, list, map, record, whole, type Infer } from "../format/form.ts";
import { maskUrl } from "../masking/mask-words.ts";
import type { ApiReach } from "../transport/server-entry.ts";
import type { LoadedApi } from "../workshop/load-api.ts";
import { answer, asItIs, listOf, PAGE_INPUT, pageOf, TEXT, TEXT_OR_NULL } from "./forms.ts";
import { defineOperation } from "./operation.ts";
import type { Services } from "./services.ts";

const APPROVAL = record({ hash: TEXT, version: TEXT, by: TEXT, at: TEXT }, { open: true });

const SHORT = {
  server: TEXT.says("The server that its tools belong to."),
  file: TEXT.says("The name of the file, without its folder."),
  api: TEXT_OR_NULL.says("The id of the API, as the file has it."),
  title: TEXT_OR_NULL,
  version: TEXT_OR_NULL.says("As the file says now."),
  hash: TEXT_OR_NULL.says("Of what the file compiles to now; an approval is about one hash."),
  state: choice(["approved", "changed", "not approved", "invalid"]).says(
    "`changed`: since it was approved. Only what is approved is served.",
  ),
  approved: APPROVAL.nullable().says("The newest approval."),
  upstream: TEXT_OR_NULL.says("Where requests go: an address, or `fake`."),
  tools: whole().nullable().says("The number of tools in the file."),
  problem: TEXT_OR_NULL.says("The first mistake of an invalid file."),
};

const TOOL_FILE = answer("ToolFile", SHORT);

const TOOL_FILE_DETAILS = answer("ToolFileDetails", {
  ...SHORT,
  description: TEXT_OR_NULL,
  reaches: list(TEXT).says("Prefixes of the addresses that requests can go to."),
  secrets: list(TEXT).says("The names of the secrets that requests need; `{…}` stands for many."),
  documents: list(record({ file: TEXT, title: TEXT_OR_NULL, sha256: TEXT }, { open: true })),
  definitions: list(map(json())).says("The tools as clients see them."),
  approvals: list(APPROVAL).says("All approvals with their versions, the oldest first. Only the newest one counts."),
});

const listToolFiles = defineOperation({
  id: "listToolFiles",
  tag: "tool files",
  summary: "The tool files that servers of the tenant are made of, and whether they are approved",
  access: "operator",
  http: { method: "GET", path: "/tenants/{tenant}/tool-files", status: 200 },
  command: "api files",
  input: PAGE_INPUT,
  output: listOf("ToolFileList", TOOL_FILE),
  async handle(services, _actor, { tenant, ...page }) {
    const { items, next } = pageOf(await servedFiles(services, tenant), page, {
      keyOf: ({ server }) => server,
      show: asItIs,
    });
    const shown = [];
    for (const served of items) shown.push(shortView(served, await services.toolFiles.load(served.reach.file)));
    return { items: shown, next };
  },
});

const getToolFile = defineOperation({
  id: "getToolFile",
  tag: "tool files",
  summary: "The tool file of one server: its tools, addresses, secrets and approvals",
  access: "operator",
  http: { method: "GET", path: "/tenants/{tenant}/tool-files/{id}", status: 200 },
  command: "api files {id}",
  output: TOOL_FILE_DETAILS,
  async handle(services, _actor, { tenant, id }) {
    const served = (await servedFiles(services, tenant)).find(({ server }) => server === id);
    if (served) return details(served, await services.toolFiles.load(served.reach.file));
    throw new NexusError("NAME_UNKNOWN", `There is no server "${id}" with a tool file`, {
      hint: `"{listToolFiles}" lists those that have one.`,
      mayHaveReached: false,
    });
  },
});

/** All of them, in the order of the reference. */
export const TOOL_FILES = { listToolFiles, getToolFile };

interface ServedFile {
  server: string;
  reach: ApiReach;
}

async function servedFiles(services: Services, tenant: string): Promise<ServedFile[]> {
  await services.store.tenants.require(tenant);
  const found = await services.useServers(tenant, async ({ directory }) =>
    directory.all().flatMap(({ id, entry }) => {
      const reach = entry?.reach;
      return reach?.kind === "api" && !reach.published ? [{ server: id, reach }] : [];
    }),
  );
  return found ?? [];
}

function shortView({ server, reach }: ServedFile, loaded: LoadedApi | string): Infer<typeof TOOL_FILE> {
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

async function details(served: ServedFile, loaded: LoadedApi | string): Promise<Infer<typeof TOOL_FILE_DETAILS>> {
  const { neededSecrets } = await import("../workshop/file/model/secret-names.ts");
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
