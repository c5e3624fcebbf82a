import * as z from "zod";
import type { ApiOperations } from "../../team/operate/api-operations.ts";
import type { Actor } from "../access/actor.ts";
import { listOf, PAGE_QUERY, pageOf } from "../http/page.ts";
import { NAME_FORM, SHOWN_NAME, writtenForm } from "../http/written-form.ts";
import { defineOperation, type ApiContext, type ApiOperation } from "./api-context.ts";

const HASH = z.string().describe("`sha256:…` of what the tool file compiles to.");
const VERSION = z.string().describe("Three numbers: `1.4.0`.");
/** In requests: what is stored is shown to people, and kept with every version. */
const GIVEN_VERSION = z.string().max(32).describe("Three numbers: `1.4.0`.");
const GIVEN_HASH = writtenForm(/^sha256:[0-9a-f]{64}$/, "a hash. Use sha256: and 64 hexadecimal digits.");
const TIME = z.iso.datetime({ offset: true }).max(40);
const ADDRESS = z.string().max(2000);
const MAX_VALUES = 200;
const LIMITS = {
  timeoutMs: z.int().min(1).max(3_600_000).describe("The most time for a call; never more than the tool file allows."),
  perMinute: z.int().min(1).max(1_000_000).describe("Requests to upstream per minute, in each gateway."),
};

const ApiInstance = z.object({
  api: z.string(),
  name: z.string().describe("`live`, `test` and so on."),
  server: z.string().describe("The id of its server; its secrets are `<server>.<name>`."),
  version: VERSION,
  former: z.array(z.string()).describe("Versions that it served before, the newest last."),
  upstream: z.string().nullable().describe("An address, or `fake`; null: the address of the tool file."),
  addresses: z.record(z.string(), z.string()).describe("Where other addresses of the tool file are reached."),
  settings: z.record(z.string(), z.string()),
  limits: z.object(LIMITS).partial(),
  origin: z.enum(["local", "network"]).describe("`network`: its upstream address must be a public one."),
});

const Change = z.object({
  kind: z.enum(["breaking", "widened", "wording", "none"]),
  since: z.string().describe("The version that it is compared with."),
});

const ApiVersion = z.object({
  api: z.string(),
  version: VERSION,
  hash: HASH,
  approval: z.object({ hash: HASH, by: z.string(), at: z.string(), version: z.string() }),
  change: Change.nullable().describe("Null for the first version."),
  publishedBy: z.string(),
  publishedAt: z.string(),
  origin: z.enum(["local", "network"]),
  state: z.enum(["published", "retired"]),
  instances: z.array(z.string()).describe("The instances that serve it."),
  calls: z.int().describe("How often it was called."),
  lastUsed: z.string().nullable(),
});

const PublishedApi = z.object({
  api: z.string(),
  newest: z.string().nullable().describe("The highest version that is not retired."),
  versions: z.int(),
  instances: z.array(ApiInstance),
});

const INSTANCE_CHANGE = {
  server: NAME_FORM.optional().describe("The id of the server of a new instance."),
  upstream: ADDRESS.nullable().optional().describe("A public address, or `fake`; null: that of the file."),
  addresses: bounded(z.record(ADDRESS, ADDRESS.nullable()))
    .optional()
    .describe("With an upstream address: where other addresses of the file are reached, by prefix. Null removes one."),
  settings: bounded(z.record(z.string().max(100), z.string().max(10_000).nullable()))
    .optional()
    .describe("Null removes a value."),
  limits: z
    .strictObject({ timeoutMs: LIMITS.timeoutMs.nullable(), perMinute: LIMITS.perMinute.nullable() })
    .partial()
    .optional()
    .describe("Null removes a limit."),
};

const GivenApproval = z.strictObject({
  hash: GIVEN_HASH.describe("`sha256:…` of what the tool file compiles to."),
  by: SHOWN_NAME,
  at: TIME,
  version: z.string().max(100),
});

const NewApiVersion = z.strictObject({
  text: z.string().min(1).describe("The tool file as it is written."),
  documents: bounded(z.record(z.string().max(255), z.string())).describe(
    "The texts of its documents, by their names in the file.",
  ),
  approval: GivenApproval.describe("The newest approval in its lock file."),
  as: GIVEN_VERSION.optional().describe("The number of the version; default: the next one that its changes allow."),
  instance: NAME_FORM.optional().describe("The instance that serves it; default: `live`."),
  ...INSTANCE_CHANGE,
});

export const API_SCHEMAS = {
  PublishedApi,
  PublishedApiList: listOf(PublishedApi),
  ApiVersion,
  ApiVersionList: listOf(ApiVersion),
  ApiInstance,
  ApiInstanceList: listOf(ApiInstance),
  NewApiVersion,
  NewlyPublished: z.object({
    version: ApiVersion,
    isNew: z.boolean().describe("False: the version existed, and the instance was set to it."),
    instance: ApiInstance,
    changes: z.array(z.record(z.string(), z.unknown())).describe("What it changes, the breaking changes first."),
  }),
  ApiVersionState: z.strictObject({ state: ApiVersion.shape.state }),
  ApiInstanceChange: z.strictObject({ version: GIVEN_VERSION.optional(), ...INSTANCE_CHANGE }),
  ApiRollback: z.strictObject({
    to: GIVEN_VERSION.optional().describe("Default: the version that the instance served before."),
  }),
};

const TAG = "published APIs";
const PATH = "/tenants/{tenant}/apis/{id}";
/** A tool file and its documents; the description of Kubernetes has 4 MB. */
const MAX_UPLOAD = 32 * 1024 * 1024;

const listApis = listing({
  id: "listApis",
  path: "/tenants/{tenant}/apis",
  summary: "The APIs that the tenant has published, and the servers that they are",
  schema: API_SCHEMAS.PublishedApiList,
  list: (apis) => apis.list(),
  keyOf: ({ api }) => api,
});

const publishApi = defineOperation({
  id: "publishApi",
  method: "POST",
  path: "/tenants/{tenant}/apis",
  tag: TAG,
  summary: "Publish an approved tool file; gateways serve it within two seconds",
  description:
    "The gateway compiles the file itself, and refuses it if the approval is about something else. A breaking change needs a new major version. The addresses that the file reaches must be public.",
  access: "admin",
  maxBytes: MAX_UPLOAD,
  body: NewApiVersion,
  answer: { status: 201, schema: API_SCHEMAS.NewlyPublished },
  handle: async ({ api, actor, params, body, signal }) => (await apisOf(api, actor, params)).publish(body, signal),
});

const listApiVersions = listing({
  id: "listApiVersions",
  path: `${PATH}/versions`,
  summary: "The versions of an API, the lowest first, with their approvals and how much they are used",
  schema: API_SCHEMAS.ApiVersionList,
  list: (apis, id) => apis.versions(id),
  keyOf: ({ version }) => inOrder(version),
});

const changeApiVersion = defineOperation({
  id: "changeApiVersion",
  method: "PATCH",
  path: `${PATH}/versions/{version}`,
  tag: TAG,
  summary: "Retire a version that no instance serves, or take it back",
  access: "admin",
  body: API_SCHEMAS.ApiVersionState,
  answer: { status: 200, schema: ApiVersion },
  handle: async ({ api, actor, params, body: { state } }) =>
    (await apisOf(api, actor, params)).setState(params["id"] ?? "", params["version"] ?? "", state),
});

const listApiInstances = listing({
  id: "listApiInstances",
  path: `${PATH}/instances`,
  summary: "The servers that an API is: each serves one version with its own address, settings and limits",
  schema: API_SCHEMAS.ApiInstanceList,
  list: (apis, id) => apis.instances(id),
  keyOf: ({ name }) => name,
});

const changeApiInstance = defineOperation({
  id: "changeApiInstance",
  method: "PATCH",
  path: `${PATH}/instances/{name}`,
  tag: TAG,
  summary: "Add an instance of an API, or change one",
  access: "admin",
  body: API_SCHEMAS.ApiInstanceChange,
  answer: { status: 200, schema: ApiInstance },
  handle: async ({ api, actor, params, body }) =>
    (await apisOf(api, actor, params)).putInstance(params["id"] ?? "", params["name"] ?? "", body),
});

const removeApiInstance = defineOperation({
  id: "removeApiInstance",
  method: "DELETE",
  path: `${PATH}/instances/{name}`,
  tag: TAG,
  summary: "Remove an instance; its server ends, its versions stay",
  access: "admin",
  answer: { status: 204 },
  handle: async ({ api, actor, params }) =>
    (await apisOf(api, actor, params)).removeInstance(params["id"] ?? "", params["name"] ?? ""),
});

const rollBackApi = defineOperation({
  id: "rollBackApi",
  method: "POST",
  path: `${PATH}/instances/{name}/rollback`,
  tag: TAG,
  summary: "Serve the version that an instance served before, or another one",
  access: "admin",
  body: API_SCHEMAS.ApiRollback,
  answer: { status: 200, schema: ApiInstance },
  handle: async ({ api, actor, params, body: { to } }) =>
    (await apisOf(api, actor, params)).rollback(params["id"] ?? "", { instance: params["name"], to }),
});

export const API_OPERATIONS = [
  listApis,
  publishApi,
  listApiVersions,
  changeApiVersion,
  listApiInstances,
  changeApiInstance,
  removeApiInstance,
  rollBackApi,
];

interface Listing<T> {
  id: string;
  path: string;
  summary: string;
  schema: z.ZodType;
  list: (apis: ApiOperations, id: string) => Promise<T[]>;
  /** Unique, and the order of the list. */
  keyOf: (item: T) => string;
}

function listing<T>({ id, path, summary, schema, list, keyOf }: Listing<T>): ApiOperation {
  return defineOperation({
    id,
    method: "GET",
    path,
    tag: TAG,
    summary,
    access: "operator",
    query: z.strictObject(PAGE_QUERY),
    answer: { status: 200, schema },
    handle: async ({ api, actor, params, query }) =>
      pageOf(await list(await apisOf(api, actor, params), params["id"] ?? ""), query, keyOf),
  });
}

/** A record of values from outside. */
function bounded<V extends z.ZodType>(record: z.ZodRecord<z.ZodString, V>) {
  return record.refine((values) => Object.keys(values).length <= MAX_VALUES, `must not have more than ${MAX_VALUES}`);
}

/** Versions are in the order of their numbers, also those with more digits. */
function inOrder(version: string): string {
  return version.replaceAll(/\d+/g, (digits) => digits.padStart(9, "0"));
}

async function apisOf(
  { store, compiler }: ApiContext,
  { keyId }: Actor,
  { tenant = "" }: Readonly<Record<string, string>>,
): Promise<ApiOperations> {
  await store.tenants.require(tenant);
  const { ApiOperations: Operations } = await import("../../team/operate/api-operations.ts");
  return new Operations(store.apis(tenant), {
    by: keyId === undefined ? "console" : `key ${keyId}`,
    origin: "network",
    compiler,
  });
}
