import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { requireValid } from "../../operations/client.ts";
import { KEYS } from "../../operations/keys.ts";
import { getSession } from "../../operations/session.ts";
import { SETS } from "../../operations/sets.ts";
import { parseGrant } from "../../team/grant-pattern.ts";
import { agoText } from "../../text/duration.ts";
import { defineCommand } from "../command/command.ts";
import { inputOf, optionsOf } from "../command/operation-options.ts";
import { tableLines } from "../output/table.ts";
import { openOperations, OPERATED_OPTIONS } from "../store/open-operations.ts";
import {
  findKey,
  keysOf,
  LIMIT_OPTIONS,
  limitsIn,
  limitsText,
  requireLimits,
  rulesText,
  shownKey,
  stateCell,
  tellIssued,
  TENANT_OPTIONS,
} from "./key-words.ts";

const DENIED = 8;
const PATTERNS = ["PATTERN", "what the key may use; repeatable"] as const;
const DENIED_PATTERNS = ["PATTERN", "what it may not use; repeatable"] as const;
const PATTERN_HELP = `A pattern starts with a server id, or with * for every server: github is everything of a server, github.search* its tools by
name, github/resources, github/prompts and github/methods the other kinds, and * everything of the tenant. set:support is a set,
at its own address only. --deny wins over --allow, also in sets. What a key may not use is answered like something that does not exist.`;

/** nexus keys create ci --allow github */
export const keysCreate = defineCommand({
  usage:
    "nexus keys create <name> --allow PATTERN… [--deny PATTERN]… [--role ROLE] [--read-only] [--expires 90d] [--rate 10/s] [--per-day 10000]",
  description: `Creates an API key for a client of the gateway and prints it once; only its hash is stored. From the first key on, a gateway on
the same database needs a key for every call.

${PATTERN_HELP}

Limits: every request counts except initialize, server/discover, ping, notifications and answers. A window starts with its first
request. Over a limit a caller gets HTTP 429 with Retry-After. nexus keys limit changes them, and nexus keys grant what the key may use.

Roles: a caller uses MCP; an operator also sees the metrics of its tenant; an admin also manages servers and keys of its tenant. The
key of an operator or admin without --allow manages, and calls nothing.`,
  words: { min: 1, max: 1 },
  options: {
    ...optionsOf(KEYS.createKey.input, {
      allow: ["PATTERN", "what the key may use; at least one for a caller; repeatable"],
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

  async run(context) {
    const { out, words, options } = context;
    const [name = ""] = words;
    const { tenant = DEFAULT_TENANT, allow = [], deny = [] } = options;
    const limits = limitsIn(options);
    const input = { ...inputOf(KEYS.createKey.input, options), tenant, name, limits };
    requireValid(KEYS.createKey, input);
    await using opened = await openOperations(context, { creates: true });
    const { client } = opened;
    const issued = await client.call(KEYS.createKey, input);
    const sets = [...allow, ...deny].flatMap((pattern) => {
      const grant = parseGrant(pattern);
      return grant.kind === "set" && !grant.name.includes("*") ? [grant.name] : [];
    });
    const known = sets.length === 0 ? [] : (await client.list(SETS.listSets, { tenant })).map((set) => set.name);
    for (const set of sets.filter((each) => !known.includes(each))) {
      out.note(
        `There is no set "${set}" in the tenant "${tenant}" yet. To create it: nexus sets create ${set} --allow PATTERN`,
      );
    }
    tellIssued(out, issued, `Created the key ${issued.id} ("${issued.name}") for the tenant "${tenant}":`);
  },
});

/** nexus keys list */
export const keysList = defineCommand({
  usage: "nexus keys list [--tenant NAME]",
  description:
    "Lists the keys of all tenants, or of one: id, name, tenant, role, what they allow, their limits, and their state. Never a key itself.",
  words: { min: 0, max: 0 },
  options: { ...TENANT_OPTIONS, tenant: { ...TENANT_OPTIONS.tenant, help: "only keys of this tenant" } },
  examples: [
    ["nexus keys list", "all keys, the oldest first"],
    ["nexus keys list --tenant shop --json", `{"items":[{"id":"…","name":"ci","tenant":"shop",…}]}`],
  ],

  async run(context) {
    const { out, options } = context;
    await using opened = await openOperations(context);
    const items = await keysOf(opened.client, options.tenant);
    if (out.json) return out.value({ items });
    const rows = items.map((key) => [
      ...[key.id, key.name, key.tenant, key.role].map((text) => ({ text })),
      stateCell(key),
      { text: rulesText(key) },
    ]);
    for (const line of tableLines(out, rows)) out.line(line);
    if (items.length === 0) out.note("There are no keys. Create one: nexus keys create NAME --allow PATTERN");
  },
});

/** nexus keys whoami --gateway https://gateway.example */
export const keysWhoami = defineCommand({
  usage: "nexus keys whoami",
  description: `Says what a command may do: at a gateway, the id, role and tenant of the key in NEXUS_KEY. Whoever can open the database on the
machine of the gateway is admin of all tenants, without a key.`,
  words: { min: 0, max: 0 },
  options: OPERATED_OPTIONS,
  examples: [
    ["nexus keys whoami --gateway https://gateway.example", "whether the key in NEXUS_KEY works, and for what"],
    ["nexus keys whoami --json", `{"tenant":"default","role":"admin","allTenants":true,"keyId":null,"version":"…"}`],
  ],

  async run(context) {
    const { out } = context;
    await using opened = await openOperations(context);
    const { tenant, role, allTenants, keyId, version } = await opened.client.call(getSession, {});
    if (out.json) return out.value({ tenant, role, allTenants, keyId, version });
    const who = keyId === null ? "Whoever can open the database" : `The key ${keyId}`;
    const where = allTenants ? "all tenants" : `the tenant "${tenant}"`;
    out.line(`${who} is ${role} of ${where}. Nexus ${version}.`);
  },
});

/** nexus keys show 3fA9… */
export const keysShow = defineCommand({
  usage: "nexus keys show <id> [--tenant NAME]",
  description: "Shows a key: its role, what it may use, its limits, and when it was used last. Never the key itself.",
  words: { min: 1, max: 1 },
  options: TENANT_OPTIONS,
  examples: [
    ["nexus keys show 3fA9cK2mQx7Ytz01", "everything about the key but its secret"],
    ["nexus keys show 3fA9cK2mQx7Ytz01 --json", `{"id":"3fA9cK2mQx7Ytz01","name":"ci",…,"limits":{"rate":"10/s"}}`],
  ],

  async run(context) {
    const { out, words, options } = context;
    await using opened = await openOperations(context);
    const key = await shownKey(opened.client, await findKey(opened.client, words[0] ?? "", options.tenant));
    if (out.json) return out.value(key);
    const { name, tenant, role, created, expires, allTenants } = key;
    const rows = [
      ["name", name],
      ["tenant", allTenants ? `${tenant} (manages all tenants)` : tenant],
      ["role", role],
      ["may use", rulesText(key)],
      ["created", agoText(Date.parse(created))],
      ["expires", expires ?? "never"],
      ["state", stateCell(key).text],
    ].map((cells) => cells.map((text) => ({ text })));
    for (const line of tableLines(out, rows)) out.line(line);
  },
});

/** nexus keys grant 3fA9… --allow github */
export const keysGrant = defineCommand({
  usage: "nexus keys grant <id> --allow PATTERN… [--deny PATTERN]… [--read-only]",
  description: `Changes what a key may use: the options replace everything that was said before. Every gateway on the same database applies it within
a second. The key of an operator or admin without --allow manages, and calls nothing.

${PATTERN_HELP}`,
  words: { min: 1, max: 1 },
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

  async run(context) {
    const { out, words, options } = context;
    await using opened = await openOperations(context);
    const { client } = opened;
    const named = await findKey(client, words[0] ?? "", options.tenant);
    await client.call(KEYS.setGrants, { ...inputOf(KEYS.setGrants.input, options), ...named });
    const key = await shownKey(client, named);
    if (out.json) return out.value(key);
    out.line(`The key ${key.id} ("${key.name}") may use: ${rulesText({ ...key, limits: {} })}.`);
  },
});

/** nexus keys rotate 3fA9… --overlap 10m */
export const keysRotate = defineCommand({
  usage: "nexus keys rotate <id> [--overlap 1h]",
  description: `Gives a key a new secret and prints it once. The id, the name and the rules stay. The old secret works for the overlap, so that
clients can be changed one after the other.`,
  words: { min: 1, max: 1 },
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

  async run(context) {
    const { out, words, options } = context;
    const { overlap = "1h" } = options;
    await using opened = await openOperations(context);
    const { client } = opened;
    const named = await findKey(client, words[0] ?? "", options.tenant);
    const issued = await client.call(KEYS.rotateKey, { ...inputOf(KEYS.rotateKey.input, options), ...named });
    const old = /^0+(\.0+)?[a-z]+$/.test(overlap) ? "does not work any more" : `works for ${overlap}`;
    tellIssued(out, issued, `The key ${issued.id} has a new secret; the old one ${old}:`);
  },
});

/** nexus keys revoke 3fA9… */
export const keysRevoke = defineCommand({
  usage: "nexus keys revoke <id>",
  description: `Ends a key for good. Every gateway on the same database refuses it within a second and ends its streams within two.`,
  words: { min: 1, max: 1 },
  options: TENANT_OPTIONS,
  examples: [
    ["nexus keys revoke 3fA9cK2mQx7Ytz01", "the key is refused from now on"],
    ["nexus keys revoke 3fA9cK2mQx7Ytz01 --json", `{"id":"3fA9cK2mQx7Ytz01","name":"ci",…,"revoked":"…"}`],
  ],

  async run(context) {
    const { out, words, options } = context;
    await using opened = await openOperations(context);
    const named = await findKey(opened.client, words[0] ?? "", options.tenant);
    const revoked = await opened.client.call(KEYS.revokeKey, named);
    if (out.json) out.value(revoked);
    else out.line(`Revoked the key ${revoked.id} ("${revoked.name}").`);
  },
});

/** nexus keys limit 3fA9… --rate 10/s */
export const keysLimit = defineCommand({
  usage: "nexus keys limit <id> [--rate 10/s] [--per-day 10000] [--concurrent 8] [--max-request 64kB]",
  description: `Changes the limits of a key. The value "none" removes a limit; limits that are not named stay. Every gateway on the same database
applies them within a second, and counts what was used before.

Every request counts except initialize, server/discover, ping, notifications and answers. Over a limit a caller gets HTTP 429 with
Retry-After, and the error RATE_LIMITED, which names the limit. Limits of a tenant (nexus tenants limit) apply also.`,
  words: { min: 1, max: 1 },
  options: { ...LIMIT_OPTIONS, ...TENANT_OPTIONS },
  examples: [
    ["nexus keys limit 3fA9cK2mQx7Ytz01 --rate 10/s --per-day 10000", "both limits apply"],
    ["nexus keys limit 3fA9cK2mQx7Ytz01 --rate none", "removes one limit"],
    ["nexus keys limit 3fA9cK2mQx7Ytz01 --concurrent 8 --json", `{"id":"…",…,"limits":{"concurrent":8}}`],
  ],

  async run(context) {
    const { out, words, options } = context;
    const change = requireLimits(limitsIn(options));
    await using opened = await openOperations(context);
    const { client } = opened;
    const named = await findKey(client, words[0] ?? "", options.tenant);
    await client.call(KEYS.changeLimits, { ...change, ...named });
    const key = await shownKey(client, named);
    if (out.json) return out.value(key);
    const text = limitsText(key.limits);
    out.line(`Limits of the key ${key.id} ("${key.name}"): ${text === "" ? "none" : text}.`);
  },
});

/** nexus keys explain 3fA9… github.search */
export const keysExplain = defineCommand({
  usage: "nexus keys explain <id> <server.tool>|set:NAME [--set NAME]",
  description: `Says whether a key may use a tool or a set, and which of its rules decides. With --set the tool is used in that set, whose own
rules also decide. Where something is read-only, the annotations of the tool are needed: then the server is connected. Exit
code 0: allowed; 8: not allowed.`,
  words: { min: 2, max: 2 },
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

  async run(context) {
    const { out, words, options } = context;
    const [id = "", target = ""] = words;
    await using opened = await openOperations(context);
    const named = await findKey(opened.client, id, options.tenant);
    const explained = await opened.client.call(KEYS.explainKey, { ...named, target, set: options.set });
    const { allowed, reason, rule } = explained;
    if (out.json) out.value(explained);
    else {
      const by = rule === null ? "" : ` (${rule})`;
      out.line(`The key ${id} ${allowed ? "may" : "may not"} use ${target}: ${reason}${by}.`);
    }
    return allowed ? 0 : DENIED;
  },
});
