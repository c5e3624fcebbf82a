import { requireValid } from "../../operations/client.ts";
import { TENANTS, type TenantView } from "../../operations/tenants.ts";
import { getMetrics, type Metrics } from "../../operations/metrics.ts";
import { agoText, durationText } from "../../text/duration.ts";
import { isElsewhere, wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import { LIMIT_OPTIONS, limitsIn, limitsText, requireLimits } from "../keys/key-words.ts";
import { pluralize } from "../output/amounts.ts";
import { factLines } from "../output/facts.ts";
import { tableLines } from "../output/table.ts";
import { openOperations, OPERATED_OPTIONS } from "../store/open-operations.ts";

/** nexus tenants create shop */
export const tenantsCreate = defineCommand({
  usage: "nexus tenants create <name> [--rate 100/s] [--per-day 100000]",
  description: `Creates a tenant: a group of callers with servers, keys and secrets of its own. Tenants see nothing of each other. The tenant
"default" always exists and has the servers of the configuration files. Limits are for all its callers together; nexus tenants limit changes them.`,
  words: { min: 1, max: 1 },
  options: { ...LIMIT_OPTIONS, ...OPERATED_OPTIONS },
  examples: [
    ["nexus tenants create shop", "1 to 32 lower-case letters, digits and dashes"],
    ["nexus tenants create shop --rate 100/s", "all its callers together send at most 100 requests in a second"],
    ["nexus tenants create shop --json", `{"name":"shop","created":"…","limits":{},"keys":0}`],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [name = ""] = words;
    const limits = limitsIn(options);
    const input = { name, ...(Object.keys(limits).length === 0 ? {} : { limits }) };
    requireValid(TENANTS.createTenant, input);
    await using opened = await openOperations(context, { creates: true });
    const tenant = await opened.client.call(TENANTS.createTenant, input);
    if (out.json) out.value(tenant);
    else
      out.advice(
        `Created the tenant "${name}". Add a server: nexus mcp add NAME --tenant ${name} -- COMMAND …, and a key: nexus keys create NAME --tenant ${name} --allow '*'`,
      );
  },
});

/** nexus tenants list */
export const tenantsList = defineCommand({
  usage: "nexus tenants list",
  description: "Lists the tenants of the gateway's database and how many usable keys each has, and their limits.",
  words: { min: 0, max: 0 },
  options: OPERATED_OPTIONS,
  examples: [
    ["nexus tenants list", "one tenant per line"],
    ["nexus tenants list --json", `{"items":[{"name":"default","created":"…","limits":{},"keys":2}]}`],
  ],

  async run(context) {
    const { out } = context;
    await using opened = await openOperations(context);
    const items = await opened.client.list(TENANTS.listTenants, {});
    if (out.json) return out.value({ items });
    const rows = items.map(({ name, keys, limits }) => {
      const text = limitsText(limits);
      const cells = [{ text: name }, { text: keysText(keys) }];
      return text === "" ? cells : [...cells, { text }];
    });
    for (const line of tableLines(out, rows)) out.line(line);
  },
});

/** nexus tenants show shop */
export const tenantsShow = defineCommand({
  usage: "nexus tenants show <name>",
  description: "Shows one tenant: how many usable keys it has, and its limits.",
  words: { min: 1, max: 1 },
  options: OPERATED_OPTIONS,
  examples: [
    ["nexus tenants show shop", "its keys and limits"],
    ["nexus tenants show shop --json", `{"name":"shop","created":"…","limits":{"rate":"100/s"},"keys":2}`],
  ],

  async run(context) {
    const { out, words } = context;
    await using opened = await openOperations(context);
    const tenant = await opened.client.call(TENANTS.getTenant, { tenant: words[0] ?? "" });
    if (out.json) return out.value(tenant);
    const { created, keys } = tenant;
    const rows = [
      ["created", agoText(Date.parse(created))],
      ["usable keys", keysText(keys)],
      ["limits", limitsOf(tenant)],
    ].map((cells) => cells.map((text) => ({ text })));
    for (const line of tableLines(out, rows)) out.line(line);
  },
});

/** nexus tenants limit shop --rate 100/s */
export const tenantsLimit = defineCommand({
  usage: "nexus tenants limit <name> [--rate 100/s] [--per-day 100000] [--concurrent 64] [--max-request 1MB]",
  description: `Changes the limits of a tenant: what all its callers together may use. The limits of each key apply also. The value "none" removes a
limit; limits that are not named stay. Every gateway on the same database applies them within a second. See nexus keys limit.`,
  words: { min: 1, max: 1 },
  options: { ...LIMIT_OPTIONS, ...OPERATED_OPTIONS },
  examples: [
    ["nexus tenants limit shop --rate 100/s --per-day 100000", "for all keys of the tenant together"],
    ["nexus tenants limit default --concurrent none", "removes one limit"],
    [
      "nexus tenants limit shop --rate 100/s --json",
      `{"name":"shop","created":"…","limits":{"rate":"100/s"},"keys":2}`,
    ],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [name = ""] = words;
    const change = requireLimits(limitsIn(options));
    await using opened = await openOperations(context);
    const tenant = await opened.client.call(TENANTS.limitTenant, { ...change, tenant: name });
    if (out.json) return out.value(tenant);
    out.line(`Limits of the tenant "${name}": ${limitsOf(tenant)}.`);
  },
});

/** nexus tenants metrics shop --gateway https://gateway.example */
export const tenantsMetrics = defineCommand({
  usage: "nexus tenants metrics [name] --gateway URL",
  description: `Shows what callers of a tenant do now at a gateway, and their finished calls since it started. Only a running gateway knows that, so
--gateway is needed. nexus audit usage counts the calls of each key, also those of earlier days.`,
  words: { min: 0, max: 1 },
  options: OPERATED_OPTIONS,
  examples: [
    ["nexus tenants metrics --gateway https://gateway.example", "the tenant of the key in NEXUS_KEY"],
    [
      "nexus tenants metrics shop --gateway https://gateway.example --json",
      `{"inFlight":2,"queued":0,…,"calls":[{"server":"github","method":"tools/call","outcomes":{"ok":12,…},"seconds":3.1}]}`,
    ],
  ],

  async run(context) {
    const { out, words } = context;
    if (!isElsewhere(context))
      throw wrongUsage("Only a running gateway has metrics", "Add its address: --gateway URL.");
    await using opened = await openOperations(context);
    const { client } = opened;
    const tenant = words[0] ?? (await client.ownTenant());
    const metrics = await client.call(getMetrics, { tenant });
    if (out.json) return out.value(metrics);
    const { inFlight, queued, parked, sessions, streams, servers, calls } = metrics;
    const now = [`${inFlight} running, ${queued} queued, ${parked} waiting for an answer`];
    const lines = factLines(out, `Tenant ${tenant}`, [
      ["calls", now],
      ["sessions", [`${sessions}, with ${pluralize(streams, "stream")}`]],
      ["servers", servers.map(({ id, state }) => `${id} ${state}`)],
      ["finished", calls.map(finishedText)],
    ]);
    for (const line of lines) out.line(line);
  },
});

function finishedText({ server, method, outcomes, seconds }: Metrics["calls"][number]): string {
  const counts = Object.entries(outcomes).filter(([, count]) => count !== 0);
  const how = counts.map(([outcome, count]) => `${String(count)} ${outcome}`).join(", ");
  return `${server === "" ? "" : `${server} `}${method}: ${how}, in ${durationText(seconds * 1000)}`;
}

/** nexus tenants remove shop --yes */
export const tenantsRemove = defineCommand({
  usage: "nexus tenants remove <name> --yes",
  description:
    "Removes a tenant with its keys, servers and secrets. Gateways refuse its keys within a second and end its streams.",
  words: { min: 1, max: 1 },
  options: { yes: { type: "boolean", help: "remove it; nothing can bring it back but a backup" }, ...OPERATED_OPTIONS },
  examples: [
    ["nexus tenants remove shop --yes", "the tenant and all that is its own"],
    ["nexus tenants remove shop --yes --json", `{"name":"shop","removed":true}`],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [name = ""] = words;
    if (!options.yes) {
      throw wrongUsage(`This removes the tenant "${name}" with its keys and secrets`, "Repeat the command with --yes.");
    }
    await using opened = await openOperations(context);
    await opened.client.call(TENANTS.removeTenant, { tenant: name });
    if (out.json) out.value({ name, removed: true });
    else out.line(`Removed the tenant "${name}".`);
  },
});

function limitsOf({ limits }: TenantView): string {
  const text = limitsText(limits);
  return text === "" ? "none" : text;
}

function keysText(count: number): string {
  return count === 1 ? "1 key" : `${count} keys`;
}
