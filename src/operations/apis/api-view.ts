import { choice, list, map, record, whole, type Infer } from "../../format/form.ts";
import { answer, TEXT, TEXT_OR_NULL } from "../forms.ts";

const HASH = TEXT.says("`sha256:…` of what the tool file compiles to.");
const VERSION = TEXT.says("Three numbers: `1.4.0`.");
const ORIGIN = choice(["local", "network"]);
export const VERSION_STATE = choice(["published", "retired"]);

export const INSTANCE_LIMITS = {
  timeoutMs: whole({ least: 1, most: 3_600_000 }).says(
    "The most time for a call; never more than the tool file allows.",
  ),
  perMinute: whole({ least: 1, most: 1_000_000 }).says("Requests to upstream per minute, in each gateway."),
};

export const API_INSTANCE = answer("ApiInstance", {
  api: TEXT,
  name: TEXT.says("`live`, `test` and so on."),
  server: TEXT.says("The id of its server; its secrets are `<server>.<name>`."),
  version: VERSION,
  former: list(TEXT).says("Versions that it served before, the newest last."),
  upstream: TEXT_OR_NULL.says("An address, or `fake`; null: the address of the tool file."),
  addresses: map(TEXT).says("Where other addresses of the tool file are reached."),
  settings: map(TEXT),
  limits: record(
    { timeoutMs: INSTANCE_LIMITS.timeoutMs.optional(), perMinute: INSTANCE_LIMITS.perMinute.optional() },
    { open: true },
  ),
  origin: ORIGIN.says("`network`: its upstream address must be a public one."),
});

/** What is told about an instance. */
export type InstanceView = Infer<typeof API_INSTANCE>;

export const API_VERSION = answer("ApiVersion", {
  api: TEXT,
  version: VERSION,
  hash: HASH,
  approval: record({ hash: HASH, by: TEXT, at: TEXT, version: TEXT }, { open: true }),
  change: record(
    {
      kind: choice(["breaking", "widened", "wording", "none"]),
      since: TEXT.says("The version that it is compared with."),
    },
    { open: true },
  )
    .nullable()
    .says("Null for the first version."),
  publishedBy: TEXT,
  publishedAt: TEXT,
  origin: ORIGIN,
  state: VERSION_STATE,
  instances: list(TEXT).says("The instances that serve it."),
  calls: whole().says("How often it was called."),
  lastUsed: TEXT_OR_NULL,
});

/** What is told about a published version. */
export type VersionView = Infer<typeof API_VERSION>;

export const PUBLISHED_API = answer("PublishedApi", {
  api: TEXT,
  newest: TEXT_OR_NULL.says("The highest version that is not retired."),
  versions: whole(),
  instances: list(API_INSTANCE),
});

/** An API with its highest version that is not retired. */
export type ApiSummary = Infer<typeof PUBLISHED_API>;
