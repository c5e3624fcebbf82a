import { DEFAULT_TENANT } from "../auth/server-instance.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { boolean, choice, list, record, text, whole, type Infer } from "../format/form.ts";
import { writeForm } from "../format/write-form.ts";
import { KEY_ROLES, type ApiKey, type IssuedKey } from "../store/keep/api-keys.ts";
import { changedLimits, parseLimits, writtenLimits } from "../store/keep/request-limits.ts";
import { unknownTenant } from "../store/keep/tenants.ts";
import { parseGrant } from "../team/grant-pattern.ts";
import { isoTime, parseDuration } from "../text/duration.ts";
import type { Actor } from "./actor.ts";
import { explainUse } from "./explain-use.ts";
import { answer, asItIs, DURATION, listOf, PAGE_INPUT, pageOf, SHOWN_NAME, TEXT, TEXT_OR_NULL } from "./forms.ts";
import { invalidInput } from "./input.ts";
import { defineOperation } from "./operation.ts";
import type { Services } from "./services.ts";

/** A hundred years: a key cannot last longer, nor its old secret. Far later there are no dates. */
const MAX_KEY_MS = 36_500 * 86_400_000;

const PATTERN = text({ empty: true, least: 1, most: 500 }).check((pattern, part) => {
  try {
    parseGrant(pattern);
  } catch {
    part.error(
      `${JSON.stringify(pattern)} is not a valid pattern. Use one that starts with a server id, or with * for every server: github, github.search*, github/resources, '*'. A set is set:NAME.`,
    );
  }
});
const PATTERNS = list(PATTERN, { mostOverNetwork: 200 });
const ALLOWS_NOTHING = "must name something: the key would allow nothing";
const ROLE = choice(KEY_ROLES);

/** A duration of at least so long. */
function lasting(leastMs: number) {
  return DURATION.check((given, part) => {
    const ms = parseDuration(given);
    if (ms === undefined || (ms >= leastMs && ms <= MAX_KEY_MS && Number.isSafeInteger(ms))) return;
    const least = leastMs === 0 ? "" : ", at least one second";
    part.error(
      `"${given.slice(0, 100)}" is not a valid duration. Use a number with s, m, h or d${least}, at most 36500d: 90d, 12h.`,
    );
  });
}

/** As people write them, and as they are shown. */
export const LIMITS = answer("Limits", {
  rate: TEXT.says("Requests in a second, minute or hour: `10/s`, `600/m`, `5000/h`.").optional(),
  perDay: whole().says("Requests in 24 hours.").optional(),
  concurrent: whole().says("Calls that run at the same time.").optional(),
  maxRequest: whole().says("Bytes of one request.").optional(),
});

const RATE = text({ pattern: /^[1-9]\d{0,8}\/[smh]$/, not: "is not a rate. Use 10/s, 600/m or 5000/h." });
const LIMIT = whole({ least: 1 }).nullable();

export const LIMIT_CHANGE = record({
  rate: RATE.nullable().says("`10/s`, `600/m`, `5000/h`; null removes the limit.").optional(),
  perDay: LIMIT.optional(),
  concurrent: LIMIT.optional(),
  maxRequest: LIMIT.says("Bytes.").optional(),
}).named("LimitChange");

const GRANTS = {
  allow: list(TEXT).says("Patterns of what it may use."),
  deny: list(TEXT).says("Patterns of what it may not use. They win."),
  readOnly: boolean(),
};

const KEY = answer("Key", {
  id: TEXT,
  name: TEXT,
  tenant: TEXT,
  role: ROLE,
  ...GRANTS,
  limits: LIMITS,
  allTenants: boolean().says("Whether it manages all tenants."),
  created: TEXT,
  expires: TEXT_OR_NULL,
  revoked: TEXT_OR_NULL,
  lastUsed: TEXT_OR_NULL,
});

/** What is told about a key; never its secret. */
export type KeyView = Infer<typeof KEY>;

const NEW_GRANTS = {
  allow: PATTERNS.default([]).says(
    "What the key may use: `github`, `github.search*`, `github/resources`, `set:support`, `*`. Only an operator or admin may do without: such a key manages, and calls nothing.",
  ),
  deny: PATTERNS.default([]).says("What it may not use. It wins over allow."),
  readOnly: boolean().default(false).says("Only tools that are annotated as read-only, resources and prompts."),
};

const NEW_KEY = record({
  ...NEW_GRANTS,
  name: SHOWN_NAME.says("Who uses it."),
  role: ROLE.default("caller"),
  limits: LIMIT_CHANGE.optional(),
  expires: lasting(1000).says("How long it works: 90d, 12h. Without it, until it is revoked.").optional(),
  allTenants: boolean().default(false).says("Whether the admin manages all tenants; only for the tenant default."),
})
  .named("NewKey")
  .check(({ role, allow, allTenants }, part) => {
    if (part.problems.hasErrors) return;
    if (role === "caller" && allow.length === 0) part.part("allow").error(ALLOWS_NOTHING);
    if (role !== "admin" && allTenants) part.part("allTenants").error("is only for admins");
  });

/** A new key or a new secret, which is shown only once. */
const ISSUED_KEY = answer("IssuedKey", {
  id: TEXT,
  key: TEXT.says("The key itself. It is shown only once."),
  name: TEXT,
  tenant: TEXT,
  role: ROLE,
  expires: TEXT_OR_NULL,
});

export type IssuedKeyView = Infer<typeof ISSUED_KEY>;

const TAG = "keys";
const PATH = "/tenants/{tenant}/keys/{id}";

const listKeys = defineOperation({
  id: "listKeys",
  tag: TAG,
  summary: "The keys of a tenant, the oldest first; never a key itself",
  access: "admin",
  http: { method: "GET", path: "/tenants/{tenant}/keys", status: 200 },
  command: "keys list",
  input: PAGE_INPUT,
  output: listOf("KeyList", KEY),
  async handle({ store }, _actor, { tenant, ...page }) {
    const keys = await store.keys.list(tenant);
    if (keys.length === 0) await store.tenants.require(tenant);
    return pageOf(keys.map(keyView), page, { keyOf: ({ created, id }) => `${created} ${id}`, show: asItIs });
  },
});

const createKey = defineOperation({
  id: "createKey",
  tag: TAG,
  summary: "Create a key; the answer shows it once",
  access: "admin",
  http: { method: "POST", path: "/tenants/{tenant}/keys", status: 201 },
  command: "keys create {name} --role {role}",
  input: NEW_KEY,
  output: ISSUED_KEY,
  async handle({ store }, actor, { limits = {}, expires, allow, deny, readOnly, ...given }) {
    const { tenant, allTenants } = given;
    if (allTenants && !actor.allTenants) throw onlyForAllTenants();
    if (allTenants && tenant !== DEFAULT_TENANT) throw notThere();
    const issued = await store.keys.create({
      ...given,
      grants: { allow, deny, readOnly },
      limits: changedLimits({}, parseLimits(limits)),
      expiresAt: expires === undefined ? undefined : Date.now() + msOf(expires),
    });
    return issuedKeyView(issued);
  },
});

const getKey = defineOperation({
  id: "getKey",
  tag: TAG,
  summary: "One key, without its secret",
  access: "admin",
  http: { method: "GET", path: PATH, status: 200 },
  command: "keys show {id}",
  output: KEY,
  volatile: ["lastUsed"],
  handle: async (services, _actor, input) => keyView(await findKey(services, input)),
});

const revokeKey = defineOperation({
  id: "revokeKey",
  tag: TAG,
  summary: "Revoke a key: it is refused within a second, and its streams end within two",
  access: "admin",
  http: { method: "DELETE", path: PATH, status: 200 },
  command: "keys revoke {id}",
  output: KEY,
  handle: (services, actor, input) => changeKey(services, actor, input, ({ id }) => services.store.keys.revoke(id)),
});

const rotateKey = defineOperation({
  id: "rotateKey",
  tag: TAG,
  summary: "Give a key a new secret; the answer shows it once",
  access: "admin",
  http: { method: "POST", path: `${PATH}/rotate`, status: 200 },
  command: "keys rotate {id}",
  input: record({
    overlap: lasting(0).default("1h").says("How long the old secret works; 0s ends it now."),
  }).named("Rotation"),
  output: ISSUED_KEY,
  async handle(services, actor, { overlap, ...input }) {
    const { id } = await managedKey(services, actor, input);
    const issued = await services.store.keys.rotate(id, msOf(overlap));
    if (!issued) throw unknownKey(id);
    return issuedKeyView(issued);
  },
});

const getGrants = defineOperation({
  id: "getGrants",
  tag: TAG,
  summary: "What a key may use",
  access: "admin",
  http: { method: "GET", path: `${PATH}/grants`, status: 200 },
  command: "keys show {id}",
  output: answer("Grants", GRANTS),
  handle: async (services, _actor, input) => (await findKey(services, input)).grants,
});

const setGrants = defineOperation({
  id: "setGrants",
  tag: TAG,
  summary: "Change what a key may use; it counts within a second",
  access: "admin",
  http: { method: "PUT", path: `${PATH}/grants`, status: 200 },
  command: "keys grant {id}",
  input: record(NEW_GRANTS).named("NewGrants"),
  output: answer("Grants", GRANTS),
  async handle(services, actor, { tenant, id, ...grants }) {
    const { allow, deny, readOnly } = await changeKey(services, actor, { tenant, id }, ({ role }) => {
      if (grants.allow.length === 0 && role === "caller")
        throw invalidInput([{ at: "body/allow", message: ALLOWS_NOTHING }]);
      return services.store.keys.setGrants(id, grants);
    });
    return { allow, deny, readOnly };
  },
});

const getLimits = defineOperation({
  id: "getLimits",
  tag: TAG,
  summary: "The limits of a key",
  access: "admin",
  http: { method: "GET", path: `${PATH}/limits`, status: 200 },
  command: "keys show {id}",
  output: LIMITS,
  handle: async (services, _actor, input) => writtenLimits((await findKey(services, input)).limits),
});

const changeLimits = defineOperation({
  id: "changeLimits",
  tag: TAG,
  summary: "Change limits of a key; they count within a second, and what was used before counts also",
  access: "admin",
  http: { method: "PATCH", path: `${PATH}/limits`, status: 200 },
  command: "keys limit {id}",
  input: LIMIT_CHANGE,
  output: LIMITS,
  async handle(services, actor, { tenant, id, ...limits }) {
    const { keys } = services.store;
    return (await changeKey(services, actor, { tenant, id }, () => keys.setLimits(id, parseLimits(limits)))).limits;
  },
});

const explainKey = defineOperation({
  id: "explainKey",
  tag: TAG,
  summary: "Whether a key may use a tool or a set, and which rule decides",
  access: "admin",
  http: { method: "GET", path: `${PATH}/explain`, status: 200 },
  command: "keys explain {id} {target}",
  input: record({
    target: text({ empty: true, least: 1, most: 1000 }).says("`SERVER.TOOL` or `set:NAME`."),
    set: text({ empty: true, least: 1, most: 200 }).says("The set in which the tool is used.").optional(),
  }),
  output: answer("Explanation", {
    allowed: boolean(),
    reason: TEXT,
    rule: TEXT_OR_NULL.says("The pattern or flag that decides; null where none applies."),
  }),
  async handle(services, _actor, { target, set, ...input }) {
    const key = await findKey(services, input);
    const { allowed, reason, rule } = await explainUse(
      key,
      { full: target, set },
      {
        sets: services.store.sets,
        async useServers(use) {
          const explained = await services.useServers(key.tenant, use);
          if (!explained) throw unknownTenant(key.tenant);
          return explained;
        },
      },
    );
    return { allowed, reason, rule: rule ?? null };
  },
});

/** All of them, in the order of the reference. */
export const KEYS = {
  listKeys,
  createKey,
  getKey,
  revokeKey,
  rotateKey,
  getGrants,
  setGrants,
  getLimits,
  changeLimits,
  explainKey,
};

interface NamedKey {
  tenant: string;
  id: string;
}

/** Of this tenant. Throws NAME_UNKNOWN. */
async function findKey({ store }: Pick<Services, "store">, { tenant, id }: NamedKey): Promise<ApiKey> {
  const key = await store.keys.find(id);
  if (key?.tenant === tenant) return key;
  await store.tenants.require(tenant);
  const others = await store.keys.list(tenant);
  throw unknownKey(
    id,
    others.filter(({ revokedAt }) => revokedAt === undefined),
  );
}

/** A key that the actor may change: an admin of one tenant must not take over a key for all of them. */
async function managedKey(services: Services, actor: Actor, input: NamedKey): Promise<ApiKey> {
  const key = await findKey(services, input);
  if (key.allTenants && !actor.allTenants) throw onlyForAllTenants();
  return key;
}

/** What is undefined is a key that was revoked, or has expired. */
async function changeKey(
  services: Services,
  actor: Actor,
  input: NamedKey,
  change: (key: ApiKey) => Promise<ApiKey | undefined>,
): Promise<KeyView> {
  const key = await managedKey(services, actor, input);
  const changed = await change(key);
  if (!changed) throw unknownKey(key.id);
  return keyView(changed);
}

/** `others`: keys that may be meant. A name is no id: several keys can have the same one. */
function unknownKey(id: string, others: readonly Pick<ApiKey, "id" | "name">[] = []): NexusError {
  const named = others.filter(({ name }) => name === id).map((key) => key.id);
  const hint =
    named.length === 0
      ? `"{listKeys}" shows the ids of all keys.`
      : `"${id}" is the name of a key. Use its id: ${named.join(" or ")}`;
  return new NexusError("NAME_UNKNOWN", `There is no usable key with the id "${id}"`, { hint, mayHaveReached: false });
}

function keyView({ grants, limits, createdAt, expiresAt, revokedAt, usedAt, ...same }: ApiKey): KeyView {
  const times = { expires: timeText(expiresAt), revoked: timeText(revokedAt), lastUsed: timeText(usedAt) };
  const view = { ...same, ...grants, ...times, limits: writtenLimits(limits), created: isoTime(createdAt) };
  // Written by the form, it has the members of the form.
  return writeForm(KEY, view) as KeyView;
}

function issuedKeyView({ key, about }: IssuedKey): IssuedKeyView {
  return writeForm(ISSUED_KEY, { ...keyView(about), key }) as IssuedKeyView;
}

function timeText(at: number | undefined): string | null {
  return at === undefined ? null : isoTime(at);
}

/** The form lets only durations through. */
function msOf(duration: string): number {
  return parseDuration(duration) ?? 0;
}

function notThere(): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `Only admins of the tenant "${DEFAULT_TENANT}" can manage all tenants`, {
    hint: "Create the key there.",
    mayHaveReached: false,
  });
}

function onlyForAllTenants(): NexusError {
  return new NexusError("DENIED", "Only an admin of all tenants manages keys for all tenants", {
    mayHaveReached: false,
  });
}
