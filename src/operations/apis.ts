import { boolean, json, list, map, record, text, type Infer } from "../format/form.ts";
import { originOf, writtenActor, type Actor } from "./actor.ts";
import type { ApiOperations } from "./apis/api-operations.ts";
import { API_INSTANCE, API_VERSION, INSTANCE_LIMITS, PUBLISHED_API, VERSION_STATE } from "./apis/api-view.ts";
import { answer, asItIs, listOf, NAME, PAGE_INPUT, pageOf, SHOWN_NAME, TEXT, TIME, type Page } from "./forms.ts";
import { defineOperation } from "./operation.ts";
import type { Services } from "./services.ts";

/** In requests: what is stored is shown to people, and kept with every version. */
const GIVEN_VERSION = text({ empty: true, most: 32 });
const GIVEN_HASH = text({
  pattern: /^sha256:[0-9a-f]{64}$/,
  not: "is not a hash. Use sha256: and 64 hexadecimal digits.",
});
const ADDRESS = text({ empty: true, most: 2000 });
const MAX_VALUES = 200;

const INSTANCE_CHANGE = {
  server: NAME.says("The id of the server of a new instance.").optional(),
  upstream: ADDRESS.nullable().says("A public address, or `fake`; null: that of the file.").optional(),
  addresses: map(ADDRESS.nullable(), { names: ADDRESS, most: MAX_VALUES })
    .says("With an upstream address: where other addresses of the file are reached, by prefix. Null removes one.")
    .optional(),
  settings: map(text({ empty: true, most: 10_000 }).nullable(), {
    names: text({ empty: true, most: 100 }),
    most: MAX_VALUES,
  })
    .says("Null removes a value.")
    .optional(),
  limits: record({
    timeoutMs: INSTANCE_LIMITS.timeoutMs.nullable().optional(),
    perMinute: INSTANCE_LIMITS.perMinute.nullable().optional(),
  })
    .says("Null removes a limit.")
    .optional(),
};

const GIVEN_APPROVAL = record({
  hash: GIVEN_HASH.says("`sha256:…` of what the tool file compiles to."),
  by: SHOWN_NAME,
  at: TIME,
  version: text({ empty: true, most: 100 }),
});

const TAG = "published APIs";
const PATH = "/tenants/{tenant}/apis/{id}";
/** A tool file and its documents; the description of Kubernetes has 4 MB. */
const MAX_UPLOAD = 32 * 1024 * 1024;

const listApis = defineOperation({
  id: "listApis",
  tag: TAG,
  summary: "The APIs that the tenant has published, and the servers that they are",
  access: "operator",
  http: { method: "GET", path: "/tenants/{tenant}/apis", status: 200 },
  command: "api versions",
  input: PAGE_INPUT,
  output: listOf("PublishedApiList", PUBLISHED_API),
  handle: async (services, actor, { tenant, ...page }) =>
    shown(await (await apisOf(services, actor, tenant)).list(), page, ({ api }) => api),
});

/** What was published, and where it is served. */
const NEWLY_PUBLISHED = answer("NewlyPublished", {
  version: API_VERSION,
  isNew: boolean().says("False: the version existed, and the instance was set to it."),
  instance: API_INSTANCE,
  changes: list(map(json())).says("What it changes, the breaking changes first."),
});

export type NewlyPublished = Infer<typeof NEWLY_PUBLISHED>;

const publishApi = defineOperation({
  id: "publishApi",
  tag: TAG,
  summary: "Publish an approved tool file; gateways serve it within two seconds",
  description:
    "The gateway compiles the file itself, and refuses it if the approval is about something else. A breaking change needs a new major version. The addresses that the file reaches must be public.",
  access: "admin",
  http: { method: "POST", path: "/tenants/{tenant}/apis", status: 201, maxBytes: MAX_UPLOAD },
  command: "api publish {api}",
  input: record({
    text: text({ empty: true, least: 1 }).says("The tool file as it is written."),
    documents: map(TEXT, { names: text({ empty: true, most: 255 }), most: MAX_VALUES }).says(
      "The texts of its documents, by their names in the file.",
    ),
    approval: GIVEN_APPROVAL.says("The newest approval in its lock file."),
    as: GIVEN_VERSION.says("The number of the version; default: the next one that its changes allow.").optional(),
    instance: NAME.says("The instance that serves it; default: `live`.").optional(),
    ...INSTANCE_CHANGE,
  }).named("NewApiVersion"),
  output: NEWLY_PUBLISHED,
  async handle(services, actor, { tenant, ...request }, { signal }) {
    const { changes, ...published } = await (await apisOf(services, actor, tenant)).publish(request, signal);
    return { ...published, changes: changes.map((change) => ({ ...change })) };
  },
});

const listApiVersions = defineOperation({
  id: "listApiVersions",
  tag: TAG,
  summary: "The versions of an API, the lowest first, with their approvals and how much they are used",
  access: "operator",
  http: { method: "GET", path: `${PATH}/versions`, status: 200 },
  command: "api versions {id}",
  input: PAGE_INPUT,
  output: listOf("ApiVersionList", API_VERSION),
  handle: async (services, actor, { tenant, id, ...page }) =>
    shown(await (await apisOf(services, actor, tenant)).versions(id), page, ({ version }) => inOrder(version)),
});

const changeApiVersion = defineOperation({
  id: "changeApiVersion",
  tag: TAG,
  summary: "Retire a version that no instance serves, or take it back",
  access: "admin",
  http: { method: "PATCH", path: `${PATH}/versions/{version}`, status: 200 },
  command: "api versions {id} --restore {version}",
  input: record({ state: VERSION_STATE }).named("ApiVersionState"),
  output: API_VERSION,
  handle: async (services, actor, { tenant, id, version, state }) =>
    (await apisOf(services, actor, tenant)).setState(id, version, state),
});

const listApiInstances = defineOperation({
  id: "listApiInstances",
  tag: TAG,
  summary: "The servers that an API is: each serves one version with its own address, settings and limits",
  access: "operator",
  http: { method: "GET", path: `${PATH}/instances`, status: 200 },
  command: "api instances {id}",
  input: PAGE_INPUT,
  output: listOf("ApiInstanceList", API_INSTANCE),
  handle: async (services, actor, { tenant, id, ...page }) =>
    shown(await (await apisOf(services, actor, tenant)).instances(id), page, ({ name }) => name),
});

const changeApiInstance = defineOperation({
  id: "changeApiInstance",
  tag: TAG,
  summary: "Add an instance of an API, or change one",
  access: "admin",
  http: { method: "PATCH", path: `${PATH}/instances/{name}`, status: 200 },
  command: "api instances {id} set {name}",
  input: record({
    version: GIVEN_VERSION.says("Three numbers: `1.4.0`.").optional(),
    ...INSTANCE_CHANGE,
  }).named("ApiInstanceChange"),
  output: API_INSTANCE,
  handle: async (services, actor, { tenant, id, name, ...change }) =>
    (await apisOf(services, actor, tenant)).putInstance(id, name, change),
});

const removeApiInstance = defineOperation({
  id: "removeApiInstance",
  tag: TAG,
  summary: "Remove an instance; its server ends, its versions stay",
  access: "admin",
  http: { method: "DELETE", path: `${PATH}/instances/{name}`, status: 204 },
  command: "api instances {id} remove {name}",
  handle: async (services, actor, { tenant, id, name }) =>
    (await apisOf(services, actor, tenant)).removeInstance(id, name),
});

const rollBackApi = defineOperation({
  id: "rollBackApi",
  tag: TAG,
  summary: "Serve the version that an instance served before, or another one",
  access: "admin",
  http: { method: "POST", path: `${PATH}/instances/{name}/rollback`, status: 200 },
  command: "api rollback {id}",
  input: record({
    to: GIVEN_VERSION.says("Default: the version that the instance served before.").optional(),
  }).named("ApiRollback"),
  output: API_INSTANCE,
  handle: async (services, actor, { tenant, id, name: instance, to }) =>
    (await apisOf(services, actor, tenant)).rollback(id, { instance, to }),
});

/** All of them, in the order of the reference. */
export const APIS = {
  listApis,
  publishApi,
  listApiVersions,
  changeApiVersion,
  listApiInstances,
  changeApiInstance,
  removeApiInstance,
  rollBackApi,
};

function shown<T>(items: readonly T[], page: Infer<typeof PAGE_INPUT>, keyOf: (item: T) => string): Page<T> {
  return pageOf(items, page, { keyOf, show: asItIs<T> });
}

/** Versions are in the order of their numbers, also those with more digits. */
function inOrder(version: string): string {
  return version.replaceAll(/\d+/g, (digits) => digits.padStart(9, "0"));
}

async function apisOf({ store, compiler }: Services, actor: Actor, tenant: string): Promise<ApiOperations> {
  await store.tenants.require(tenant);
  const { ApiOperations: Operations } = await import("./apis/api-operations.ts");
  return new Operations(store.apis(tenant), {
    by: writtenActor(actor),
    origin: originOf(actor),
    ...(compiler ? { compiler } : {}),
  });
}
