import { requireValid } from "../../operations/client.ts";
import { TENANTS } from "../../operations/tenants.ts";
import { getMetrics } from "../../operations/metrics.ts";
import { agoText, durationText } from "../../text/duration.ts";
import { wrongUsage } from "../command/command-line.ts";
import { LIMIT_OPTIONS, limitsIn, limitsText, requireLimits, type LimitValues } from "../keys/keys.ts";
import { pluralize } from "../output/amounts.ts";
import { factLines } from "../output/facts.ts";
import { showTable } from "../output/table.ts";
import { OPERATED_OPTIONS } from "../store/open-operations.ts";
import { operatedCommand } from "../store/operated-command.ts";

/** nexus tenants create shop */
export const tenantsCreate = operatedCommand({
  usage: "nexus tenants create <name> [--rate 100/s] [--per-day 100000]",
  description: `Creates a tenant: a group of callers with servers, keys and secrets of its own. Tenants see nothing of each other. The tenant
"default" always exists and has the servers of the configuration files. Limits are for all its callers together; nexus tenants limit changes them.`,
  options: { ...LIMIT_OPTIONS, ...OPERATED_OPTIONS },
  examples: [
    ["nexus tenants create shop", "1 to 32 lower-case letters, digits and dashes"],
    ["nexus tenants create shop --rate 100/s", "all its callers together send at most 100 requests in a second"],
    ["nexus tenants create shop --json", `{"name":"shop","created":"…","limits":{},"keys":0}`],
  ],

  creates: ({ words, options }) => requireValid(TENANTS.createTenant, newTenant(words, options)),
  does: ({ client }, { words, options }) => client.call(TENANTS.createTenant, newTenant(words, options)),
  tell: ({ name }, { out }) =>
    out.advice(
      `Created the tenant "${name}". Add a server: nexus mcp add NAME --tenant ${name} -- COMMAND …, and a key: nexus keys create NAME --tenant ${name} --allow '*'`,
    ),
});

/** nexus tenants list */
export const tenantsList = operatedCommand({
  usage: "nexus tenants list",
  description: "Lists the tenants of the gateway's database and how many usable keys each has, and their limits.",
  options: OPERATED_OPTIONS,
  examples: [
    ["nexus tenants list", "one tenant per line"],
    ["nexus tenants list --json", `{"items":[{"name":"default","created":"…","limits":{},"keys":2}]}`],
  ],

  does: async ({ client }) => ({ items: await client.list(TENANTS.listTenants, {}) }),
  tell({ items }, { out }) {
    const rows = items.map(({ name, keys, limits }) => {
      const text = limitsText(limits);
      const cells = [name, pluralize(keys, "key")];
      return text === "" ? cells : [...cells, { text }];
    });
    showTable(out, rows);
  },
});

/** nexus tenants show shop */
export const tenantsShow = operatedCommand({
  usage: "nexus tenants show <name>",
  description: "Shows one tenant: how many usable keys it has, and its limits.",
  options: OPERATED_OPTIONS,
  examples: [
    ["nexus tenants show shop", "its keys and limits"],
    ["nexus tenants show shop --json", `{"name":"shop","created":"…","limits":{"rate":"100/s"},"keys":2}`],
  ],

  does: ({ client }, { words }) => client.call(TENANTS.getTenant, { tenant: words[0] ?? "" }),
  tell({ created, keys, limits }, { out }) {
    showTable(out, [
      ["created", agoText(Date.parse(created))],
      ["usable keys", pluralize(keys, "key")],
      ["limits", limitsText(limits) || "none"],
    ]);
  },
});

/** nexus tenants limit shop --rate 100/s */
export const tenantsLimit = operatedCommand({
  usage: "nexus tenants limit <name> [--rate 100/s] [--per-day 100000] [--concurrent 64] [--max-request 1MB]",
  description: `Changes the limits of a tenant: what all its callers together may use. The limits of each key apply also. The value "none" removes a
limit; limits that are not named stay. Every gateway on the same database applies them within a second. See nexus keys limit.`,
  options: { ...LIMIT_OPTIONS, ...OPERATED_OPTIONS },
  examples: [
    ["nexus tenants limit shop --rate 100/s --per-day 100000", "for all keys of the tenant together"],
    ["nexus tenants limit default --concurrent none", "removes one limit"],
    [
      "nexus tenants limit shop --rate 100/s --json",
      `{"name":"shop","created":"…","limits":{"rate":"100/s"},"keys":2}`,
    ],
  ],

  does: ({ client }, { words, options }) =>
    client.call(TENANTS.limitTenant, { ...requireLimits(limitsIn(options)), tenant: words[0] ?? "" }),
  tell: ({ name, limits }, { out }) => out.line(`Limits of the tenant "${name}": ${limitsText(limits) || "none"}.`),
});

/** nexus tenants metrics shop --gateway https://gateway.example */
export const tenantsMetrics = operatedCommand({
  usage: "nexus tenants metrics [name] --gateway URL",
  description: `Shows what callers of a tenant do now at a gateway, and their finished calls since it started. Only a running gateway knows that, so
--gateway is needed. nexus audit usage counts the calls of each key, also those of earlier days.`,
  options: OPERATED_OPTIONS,
  examples: [
    ["nexus tenants metrics --gateway https://gateway.example", "the tenant of the key in NEXUS_KEY"],
    [
      "nexus tenants metrics shop --gateway https://gateway.example --json",
      `{"inFlight":2,"queued":0,…,"calls":[{"server":"github","method":"tools/call","outcomes":{"ok":12,…},"seconds":3.1}]}`,
    ],
  ],

  async does({ client, store }, { words }) {
    if (store) throw wrongUsage("Only a running gateway has metrics", "Add its address: --gateway URL.");
    return client.call(getMetrics, { tenant: words[0] ?? (await client.ownTenant()) });
  },
  tell({ inFlight, queued, parked, sessions, streams, servers, calls }, { out }) {
    const lines = factLines(out, "Callers", [
      ["calls", [`${inFlight} running, ${queued} queued, ${parked} waiting for an answer`]],
      ["sessions", [`${sessions}, with ${pluralize(streams, "stream")}`]],
      ["servers", servers.map(({ id, state }) => `${id} ${state}`)],
      [
        "finished",
        calls.map(({ server, method, outcomes, seconds }) => {
          const counts = Object.entries(outcomes).flatMap(([name, count]) =>
            count === 0 ? [] : [`${String(count)} ${name}`],
          );
          return `${server === "" ? "" : `${server} `}${method}: ${counts.join(", ")}, in ${durationText(seconds * 1000)}`;
        }),
      ],
    ]);
    for (const line of lines) out.line(line);
  },
});

/** nexus tenants remove shop --yes */
export const tenantsRemove = operatedCommand({
  usage: "nexus tenants remove <name> --yes",
  description:
    "Removes a tenant with its keys, servers and secrets. Gateways refuse its keys within a second and end its streams.",
  options: { yes: { type: "boolean", help: "remove it; nothing can bring it back but a backup" }, ...OPERATED_OPTIONS },
  examples: [
    ["nexus tenants remove shop --yes", "the tenant and all that is its own"],
    ["nexus tenants remove shop --yes --json", `{"name":"shop","removed":true}`],
  ],

  async does({ client }, { words: [name = ""], options }) {
    if (!options.yes) {
      throw wrongUsage(`This removes the tenant "${name}" with its keys and secrets`, "Repeat the command with --yes.");
    }
    await client.call(TENANTS.removeTenant, { tenant: name });
    return { name, removed: true };
  },
  tell: ({ name }, { out }) => out.line(`Removed the tenant "${name}".`),
});

function newTenant([name = ""]: readonly string[], options: LimitValues) {
  const limits = limitsIn(options);
  return { name, ...(Object.keys(limits).length === 0 ? {} : { limits }) };
}
