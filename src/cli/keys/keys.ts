import { wrongUsage } from "../command/command-line.ts";
import type { Options } from "../command/command.ts";
import { inputOf, optionsOf } from "../command/operation-options.ts";
import type { Output } from "../output/output.ts";
import { type Cell, showTable } from "../output/table.ts";
import { OPERATED_OPTIONS, tenantOption } from "../store/open-operations.ts";
import { operatedCommand } from "../store/operated-command.ts";
import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { type OperationClient, requireValid } from "../../operations/client.ts";
import { KEYS, LIMIT_CHANGE, type IssuedKeyView, type KeyView } from "../../operations/keys.ts";
import { getSession } from "../../operations/session.ts";
import { SETS } from "../../operations/sets.ts";
import { idInKey } from "../../store/keep/key-text.ts";
import { parseGrant } from "../../team/grant-pattern.ts";
import { parseByteSize, sizeText } from "../../text/byte-size.ts";
import { agoText } from "../../text/duration.ts";

/** For every command about a key. */
const TENANT_OPTIONS = {
  tenant: tenantOption(" of the key"),
  ...OPERATED_OPTIONS,
} as const satisfies Options;

/** For commands about limits of a key or a tenant. */
export const LIMIT_OPTIONS = optionsOf(LIMIT_CHANGE, {
  rate: ["10/s", "requests per second (s), minute (m) or hour (h), from the first one on"],
  perDay: ["10000", "requests in 24 hours, from the first one on"],
  concurrent: ["8", "calls that run at the same time, in each process of the gateway"],
  maxRequest: ["64kB", "bytes of one request"],
});

export type LimitValues = { readonly [Name in keyof typeof LIMIT_OPTIONS]?: string | undefined };

/** What the options of a command line ask for. `none` removes a limit. */
export function limitsIn(options: LimitValues) {
  const size = options["max-request"];
  const bytes = size === undefined ? undefined : (parseByteSize(size) ?? size);
  return inputOf(LIMIT_CHANGE, { ...options, "max-request": bytes });
}

/** Throws where a command that changes limits names none. */
export function requireLimits<T extends object>(change: T): T {
  if (Object.keys(change).length > 0) return change;
  const names = Object.keys(LIMIT_OPTIONS).map((name) => `--${name}`);
  throw wrongUsage("No limit is named", `Use ${names.join(", ")}. The value "none" removes a limit.`);
}

/** Limits for people: `10/s, 10000 per day, 8 at once, requests up to 64.0 kB`. */
export function limitsText({ rate, perDay, concurrent, maxRequest }: KeyView["limits"]): string {
  return [
    ...(rate === undefined ? [] : [rate]),
    ...(perDay === undefined ? [] : [`${perDay} per day`]),
    ...(concurrent === undefined ? [] : [`${concurrent} at once`]),
    ...(maxRequest === undefined ? [] : [`requests up to ${sizeText(maxRequest)}`]),
  ].join(", ");
}

/** The key itself is the only line on stdout, so that a script can take it; everything else is a note. */
function tellIssued(out: Output, { key }: IssuedKeyView, done: string): void {
  out.note(done);
  out.line(key);
  out.note(`It is shown only once. Clients send it as a header: Authorization: Bearer ${key.slice(0, 8)}…`);
}

/** What a key may use and how often, in one line. */
function rulesText({ allow, deny, readOnly, limits }: KeyView): string {
  const text = limitsText(limits);
  const rules = [...allow, ...deny.map((pattern) => `not ${pattern}`), ...(readOnly ? ["read-only"] : [])];
  return [...(allow.length === 0 ? ["nothing"] : []), ...rules, ...(text === "" ? [] : [text])].join(", ");
}

function stateCell({ revoked, expires, lastUsed }: KeyView): Cell {
  if (revoked !== null) return { text: `revoked ${agoText(Date.parse(revoked))}`, style: "red" };
  if (expires !== null && Date.parse(expires) <= Date.now()) {
    return { text: `expired ${agoText(Date.parse(expires))}`, style: "red" };
  }
  return lastUsed === null ? { text: "not used yet", style: "dim" } : `used ${agoText(Date.parse(lastUsed))}`;
}

/** The keys of the tenants that the caller manages, or of one; the oldest first. */
async function keysOf(client: OperationClient, tenant: string | undefined): Promise<KeyView[]> {
  const lists = (tenant === undefined ? await client.managedTenants() : [tenant]).map((each) =>
    client.list(KEYS.listKeys, { tenant: each }),
  );
  const keys = (await Promise.all(lists)).flat();
  return keys.toSorted((a, b) => (`${a.created} ${a.id}` < `${b.created} ${b.id}` ? -1 : 1));
}

interface NamingContext {
  words: readonly string[];
  options: { readonly tenant?: string | undefined };
}

/** The tenant and the id of a key, for operations on it. Without a tenant, it is looked for in those that the caller manages. */
async function namedKey(
  client: OperationClient,
  { words: [id = ""], options: { tenant } }: NamingContext,
): Promise<{ tenant: string; id: string }> {
  refuseWholeKey(id);
  if (tenant !== undefined) return { tenant, id };
  const found = (await keysOf(client, undefined)).find((key) => key.id === id);
  return { tenant: found?.tenant ?? (await client.ownTenant()), id };
}

/** Throws for a whole key. Never repeats it: messages are kept in many places. */
export function refuseWholeKey(text: string): void {
  if (!text.startsWith("nxs_")) return;
  const id = idInKey(text);
  throw wrongUsage(
    "A whole key is secret and does not belong into a command line",
    id === undefined ? `Use its id: "nexus keys list" shows the ids of all keys.` : `Use its id: ${id}`,
  );
}

const DENIED = 8;
const PATTERNS = ["PATTERN", "what the key may use"] as const;
const DENIED_PATTERNS = ["PATTERN", "what it may not use"] as const;
const PATTERN_HELP = `A pattern starts with a server id, or with * for every server: github is everything of a server, github.search* its tools by
name, github/resources, github/prompts and github/methods the other kinds, and * everything of the tenant. set:support is a set,
at its own address only. --deny wins over --allow, also in sets. What a key may not use is answered like something that does not exist.`;

/** nexus keys create ci --allow github */
export const keysCreate = operatedCommand({
  usage:
    "nexus keys create <name> --allow PATTERN… [--deny PATTERN]… [--role ROLE] [--read-only] [--expires 90d] [--rate 10/s] [--per-day 10000]",
  description: `Creates an API key for a client of the gateway and prints it once; only its hash is stored. From the first key on, a gateway on
the same database needs a key for every call.

${PATTERN_HELP}

Limits: every request counts except initialize, server/discover, ping, notifications and answers. A window starts with its first
request. Over a limit a caller gets HTTP 429 with Retry-After. nexus keys limit changes them, and nexus keys grant what the key may use.

Roles: a caller uses MCP; an operator also sees the metrics of its tenant; an admin also manages servers and keys of its tenant. The
key of an operator or admin without --allow manages, and calls nothing.`,
  options: {
    ...optionsOf(KEYS.createKey.input, {
      allow: ["PATTERN", "what the key may use; at least one for a caller"],
      deny: DENIED_PATTERNS,
      role: ["ROLE", "caller, operator, admin; default: caller"],
      readOnly: [""],
      expires: ["90d", "how long the key works; default: until it is revoked"],
    }),
    ...LIMIT_OPTIONS,
    ...optionsOf(KEYS.createKey.input, { allTenants: [""] }),
    ...TENANT_OPTIONS,
  },
  examples: [
    ["nexus keys create ci --allow github.search*", "a key for some tools of one server"],
    ["nexus keys create desk --allow set:support", "a key for a set, and for nothing else"],
    ["nexus keys create ada --allow '*' --deny 'github.delete*' --expires 90d", "everything else, for 90 days"],
    ["nexus keys create batch --allow docs --rate 10/s --per-day 10000", "a key with limits"],
    ["nexus keys create grace --role admin", "a key that manages the tenant, and calls nothing"],
    ["nexus keys create reader --allow '*' --read-only --json", `{"id":"…","key":"nxs_…","name":"reader",…}`],
  ],

  creates({ words, options }) {
    requireValid(KEYS.createKey, newKey(words, options, options.tenant ?? DEFAULT_TENANT));
  },
  async does({ client, again }, { words, options, out }) {
    const tenant = options.tenant ?? (await client.ownTenant());
    const issued = await client.call(KEYS.createKey, newKey(words, options, tenant));
    await noteUnknownSets(client, issued, { out, again, named: [...(options.allow ?? []), ...(options.deny ?? [])] });
    return issued;
  },
  tell: (issued, { out }) =>
    tellIssued(out, issued, `Created the key ${issued.id} ("${issued.name}") for the tenant "${issued.tenant}":`),
});

/** nexus keys list */
export const keysList = operatedCommand({
  usage: "nexus keys list [--tenant NAME]",
  description:
    "Lists the keys of all tenants, or of one: id, name, tenant, role, what they allow, their limits, and their state. Never a key itself.",
  options: { ...TENANT_OPTIONS, tenant: { ...TENANT_OPTIONS.tenant, help: "only keys of this tenant" } },
  examples: [
    ["nexus keys list", "all keys, the oldest first"],
    ["nexus keys list --tenant shop --json", `{"items":[{"id":"…","name":"ci","tenant":"shop",…}]}`],
  ],

  does: async ({ client }, { options }) => ({ items: await keysOf(client, options.tenant) }),
  tell({ items }, { out }, { again }) {
    const rows = items.map((key) => [key.id, key.name, key.tenant, key.role, stateCell(key), rulesText(key)]);
    showTable(out, rows, `There are no keys. Create one: nexus keys create NAME --allow PATTERN${again}`);
  },
});

/** nexus keys whoami --gateway https://gateway.example */
export const keysWhoami = operatedCommand({
  usage: "nexus keys whoami",
  description: `Says what a command may do: at a gateway, the id, role and tenant of the key in NEXUS_KEY. Who can open the database on
the machine of the gateway is admin of all tenants, without a key.`,
  options: OPERATED_OPTIONS,
  examples: [
    ["nexus keys whoami --gateway https://gateway.example", "whether the key in NEXUS_KEY works, and for what"],
    ["nexus keys whoami --json", `{"tenant":"default","role":"admin","allTenants":true,"keyId":null,"version":"…"}`],
  ],

  async does({ client }) {
    const { tenant, role, allTenants, keyId, version } = await client.call(getSession, {});
    return { tenant, role, allTenants, keyId, version };
  },
  tell({ tenant, role, allTenants, keyId, version }, { out }) {
    const who = keyId === null ? "This account, which can open the database," : `The key ${keyId}`;
    out.line(`${who} is ${role} of ${allTenants ? "all tenants" : `the tenant "${tenant}"`}. Nexus ${version}.`);
  },
});

/** nexus keys show 3fA9… */
export const keysShow = operatedCommand({
  usage: "nexus keys show <id> [--tenant NAME]",
  description: "Shows a key: its role, what it may use, its limits, and when it was used last. Never the key itself.",
  options: TENANT_OPTIONS,
  examples: [
    ["nexus keys show 3fA9cK2mQx7Ytz01", "everything about the key but its secret"],
    ["nexus keys show 3fA9cK2mQx7Ytz01 --json", `{"id":"3fA9cK2mQx7Ytz01","name":"ci",…,"limits":{"rate":"10/s"}}`],
  ],

  does: async ({ client }, context) => client.call(KEYS.getKey, await namedKey(client, context)),
  tell(key, { out }) {
    const { name, tenant, role, created, expires, allTenants } = key;
    showTable(out, [
      ["name", name],
      ["tenant", allTenants ? `${tenant} (manages all tenants)` : tenant],
      ["role", role],
      ["may use", rulesText(key)],
      ["created", agoText(Date.parse(created))],
      ["expires", expires ?? "never"],
      ["state", stateCell(key)],
    ]);
  },
});

/** nexus keys grant 3fA9… --allow github */
export const keysGrant = operatedCommand({
  usage: "nexus keys grant <id> --allow PATTERN… [--deny PATTERN]… [--read-only]",
  description: `Changes what a key may use: the options replace everything that was said before. Every gateway on the same database applies it within
a second. The key of an operator or admin without --allow manages, and calls nothing.

${PATTERN_HELP}`,
  options: {
    ...optionsOf(KEYS.setGrants.input, { allow: PATTERNS, deny: DENIED_PATTERNS, readOnly: [""] }),
    ...TENANT_OPTIONS,
  },
  examples: [
    ["nexus keys grant 3fA9cK2mQx7Ytz01 --allow github --deny github.delete*", "these, and nothing else"],
    [
      "nexus keys grant 3fA9cK2mQx7Ytz01 --allow '*' --read-only --json",
      `{"id":"3fA9cK2mQx7Ytz01",…,"allow":["*"],"deny":[],"readOnly":true,…}`,
    ],
  ],

  async does({ client }, context) {
    const named = await namedKey(client, context);
    await client.call(KEYS.setGrants, { ...inputOf(KEYS.setGrants.input, context.options), ...named });
    return client.call(KEYS.getKey, named);
  },
  tell: (key, { out }) => out.line(`The key ${key.id} ("${key.name}") may use: ${rulesText({ ...key, limits: {} })}.`),
});

/** nexus keys rotate 3fA9… --overlap 10m */
export const keysRotate = operatedCommand({
  usage: "nexus keys rotate <id> [--overlap 1h]",
  description: `Gives a key a new secret and prints it once. The id, the name and the rules stay. The old secret works for the overlap, so that
clients can be changed one after the other.`,
  options: {
    ...optionsOf(KEYS.rotateKey.input, {
      overlap: ["1h", "how long the old secret works; default: 1h, 0s ends it now"],
    }),
    ...TENANT_OPTIONS,
  },
  examples: [
    ["nexus keys rotate 3fA9cK2mQx7Ytz01", "the old secret works for an hour"],
    ["nexus keys rotate 3fA9cK2mQx7Ytz01 --overlap 0s", "the old secret stops now, for example because it leaked"],
  ],

  does: async ({ client }, context) =>
    client.call(KEYS.rotateKey, {
      ...inputOf(KEYS.rotateKey.input, context.options),
      ...(await namedKey(client, context)),
    }),
  tell(issued, { out, options: { overlap = "1h" } }) {
    const old = /^0+(\.0+)?[a-z]+$/.test(overlap) ? "does not work any more" : `works for ${overlap}`;
    tellIssued(out, issued, `The key ${issued.id} has a new secret; the old one ${old}:`);
  },
});

/** nexus keys revoke 3fA9… */
export const keysRevoke = operatedCommand({
  usage: "nexus keys revoke <id>",
  description: `Ends a key for good. Every gateway on the same database refuses it within a second and ends its streams within two.`,
  options: TENANT_OPTIONS,
  examples: [
    ["nexus keys revoke 3fA9cK2mQx7Ytz01", "the key is refused from now on"],
    ["nexus keys revoke 3fA9cK2mQx7Ytz01 --json", `{"id":"3fA9cK2mQx7Ytz01","name":"ci",…,"revoked":"…"}`],
  ],

  does: async ({ client }, context) => client.call(KEYS.revokeKey, await namedKey(client, context)),
  tell: ({ id, name }, { out }) => out.line(`Revoked the key ${id} ("${name}").`),
});

/** nexus keys limit 3fA9… --rate 10/s */
export const keysLimit = operatedCommand({
  usage: "nexus keys limit <id> [--rate 10/s] [--per-day 10000] [--concurrent 8] [--max-request 64kB]",
  description: `Changes the limits of a key. The value "none" removes a limit; limits that are not named stay. Every gateway on the same database
applies them within a second, and counts what was used before.

Every request counts except initialize, server/discover, ping, notifications and answers. Over a limit a caller gets HTTP 429 with
Retry-After, and the error RATE_LIMITED, which names the limit. Limits of a tenant (nexus tenants limit) apply also.`,
  options: { ...LIMIT_OPTIONS, ...TENANT_OPTIONS },
  examples: [
    ["nexus keys limit 3fA9cK2mQx7Ytz01 --rate 10/s --per-day 10000", "both limits apply"],
    ["nexus keys limit 3fA9cK2mQx7Ytz01 --rate none", "removes one limit"],
    ["nexus keys limit 3fA9cK2mQx7Ytz01 --concurrent 8 --json", `{"id":"…",…,"limits":{"concurrent":8}}`],
  ],

  async does({ client }, context) {
    const change = requireLimits(limitsIn(context.options));
    const named = await namedKey(client, context);
    await client.call(KEYS.changeLimits, { ...change, ...named });
    return client.call(KEYS.getKey, named);
  },
  tell: ({ id, name, limits }, { out }) =>
    out.line(`Limits of the key ${id} ("${name}"): ${limitsText(limits) || "none"}.`),
});

/** nexus keys explain 3fA9… github.search */
export const keysExplain = operatedCommand({
  usage: "nexus keys explain <id> <server.tool>|set:NAME [--set NAME]",
  description: `Says whether a key may use a tool or a set, and which of its rules decides. With --set the tool is used in that set, whose own
rules also decide. Where something is read-only, the annotations of the tool are needed: then the server is connected. Exit
code 0: allowed; 8: not allowed.`,
  options: {
    ...optionsOf(KEYS.explainKey.input, { set: ["NAME", "the set in which the tool is used"] }),
    ...TENANT_OPTIONS,
  },
  examples: [
    ["nexus keys explain 3fA9cK2mQx7Ytz01 github.search", "whether this key may call the tool, and why"],
    ["nexus keys explain 3fA9cK2mQx7Ytz01 github.search --set support", "the same in a set"],
    [
      "nexus keys explain 3fA9cK2mQx7Ytz01 github.search --gateway https://gateway.example",
      "as this gateway decides, with the key of an admin in NEXUS_KEY",
    ],
    ["nexus keys explain 3fA9cK2mQx7Ytz01 set:support", "whether this key may use the set"],
    ["nexus keys explain 3fA9cK2mQx7Ytz01 github.search --json", `{"allowed":true,"reason":"…","rule":"allow github"}`],
  ],

  does: async ({ client }, context) =>
    client.call(KEYS.explainKey, {
      ...(await namedKey(client, context)),
      target: context.words[1] ?? "",
      set: context.options.set,
    }),
  tell({ allowed, reason, rule }, { out, words: [id, target] }) {
    const by = rule === null ? "" : ` (${rule})`;
    out.line(`The key ${id} ${allowed ? "may" : "may not"} use ${target}: ${reason}${by}.`);
  },
  exitCode: ({ allowed }) => (allowed ? 0 : DENIED),
});

interface NewKeyOptions extends LimitValues {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

function newKey([name = ""]: readonly string[], options: NewKeyOptions, tenant: string) {
  return { ...inputOf(KEYS.createKey.input, options), tenant, name, limits: limitsIn(options) };
}

interface NamedSets {
  out: Output;
  again: string;
  /** Patterns, some of which are sets. */
  named: readonly string[];
}

/** A key may be for a set that is created later. */
async function noteUnknownSets(client: OperationClient, { tenant }: IssuedKeyView, { out, again, named }: NamedSets) {
  const sets = named.flatMap((pattern) => {
    const grant = parseGrant(pattern);
    return grant.kind === "set" && !grant.name.includes("*") ? [grant.name] : [];
  });
  const known = sets.length === 0 ? [] : (await client.list(SETS.listSets, { tenant })).map((set) => set.name);
  for (const set of sets.filter((each) => !known.includes(each))) {
    out.note(
      `There is no set "${set}" in the tenant "${tenant}" yet. To create it: nexus sets create ${set} --allow PATTERN${again}`,
    );
  }
}
