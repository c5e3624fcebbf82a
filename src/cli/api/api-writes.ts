import { visible } from "../../text/visible.ts";
import { partsOfKey } from "../../workshop/run/writes/unknown-writes.ts";
import { defineCommand, TENANT } from "../command/command.ts";
import { TenantState } from "../store/tenant-state.ts";
import { showWhole } from "../output/table.ts";
import { writesOf } from "./writes-of-tenant.ts";

/** nexus api writes */
export const apiWrites = defineCommand({
  usage: "nexus api writes [<server>]",
  description: `
Lists writes to APIs that were sent, or may have been sent, and whose outcome is not known: no answer arrived, or it could not
be read. The same call is not sent again until you check the outcome with the API's operator and record it with
"nexus api settle". The callers and the API received the same ids. Only writes that can be recognised when they are repeated are
recorded: those of tools whose input has a field computed with request_key(), and steps. Of other writes, only their caller is
told that the outcome is not known.`,
  options: TENANT,
  examples: [
    ["nexus api writes", "writes of all servers"],
    ["nexus api writes --tenant shop", "writes of the servers of a tenant of the gateway"],
    ["nexus api writes capcorn --json", `{"items":[{"id","server","tool","at"}],"errors":[]}`],
  ],

  async run(context) {
    const { out } = context;
    const [only] = context.words;
    await using state = new TenantState(context);
    const all = await writesOf(state, context);
    const items = [];
    const others = new Set<string>();
    for (const { server, ledger } of all) {
      for (const { key, at, tool } of await ledger.unknown()) {
        if (only !== undefined && server !== only) {
          others.add(server);
          continue;
        }
        items.push({
          ...partsOfKey(key),
          server,
          ...(tool === undefined ? {} : { tool }),
          at: new Date(at).toISOString(),
        });
      }
    }
    if (out.json) return out.value({ items, errors: [] });
    const rows = items.map(({ id, server, tool = "", at, upstream }) => [
      id,
      tool === "" ? server : `${server}.${visible(tool)}`,
      at,
      { text: upstream === undefined ? "" : `sent to ${visible(upstream)}`, style: "dim" as const },
    ]);
    showWhole(out, rows);
    if (items.length === 0) {
      const whose = only === undefined ? "" : ` of the server "${visible(only)}"`;
      out.note(`There are no writes${whose} with unknown outcome.`);
      if (others.size > 0) out.note(`Servers that have some: ${[...others].map((each) => visible(each)).join(", ")}`);
    } else out.note(`To record an outcome: nexus api settle ID --happened yes|no${state.optionsAgain}`);
  },
});
