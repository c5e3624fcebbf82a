import type { ApiSummary, VersionView } from "../../../operations/apis/api-view.ts";
import { APIS } from "../../../operations/apis.ts";
import { visible } from "../../../text/visible.ts";
import { defineCommand } from "../../command/command.ts";
import { wrongUsage } from "../../command/command-line.ts";
import { factLines } from "../../output/facts.ts";
import type { Output } from "../../output/output.ts";
import { showTable } from "../../output/table.ts";
import { pluralize } from "../../output/amounts.ts";
import { changeText } from "./change-text.ts";
import { apiIdIn, APIS_OPTIONS, openApis } from "./open-apis.ts";

/** nexus api versions capcorn */
export const apiVersions = defineCommand({
  usage: "nexus api versions [<api>] [--retire VERSION | --restore VERSION]",
  description: `
Lists the published versions of an API, the lowest first: what each changed, who approved and published it and when, which
instances serve it, and how often it was called. Without an API: all APIs that are published. --retire ends a version that no
instance serves: its address answers no more calls, but its number stays taken. --restore takes that back.`,
  options: {
    retire: { type: "string", value: "VERSION", help: "end a version that is no longer used" },
    restore: { type: "string", value: "VERSION", help: "take a retired version back" },
    ...APIS_OPTIONS,
  },
  examples: [
    ["nexus api versions capcorn", "approvals, changes and use of each version"],
    ["nexus api versions capcorn --retire 1.0.0", "end a version"],
    ["nexus api versions capcorn --json", `{"items":[{"version":"1.0.0","hash":"sha256:…","calls":12,…}]}`],
  ],

  async run(context) {
    const { out, words, options } = context;
    const { retire, restore } = options;
    const [word] = words;
    if (retire !== undefined && restore !== undefined) {
      throw wrongUsage("--retire and --restore exclude each other", "Use one of them.");
    }
    const changed = retire ?? restore;
    if (word === undefined && changed !== undefined) throw wrongUsage("No API is named", "Add its name: capcorn.");
    await using opened = await openApis(context);
    const { client, tenant, again } = opened;
    if (word === undefined) return showApis(out, await client.list(APIS.listApis, { tenant }), again);
    const api = apiIdIn(word);
    if (changed !== undefined) {
      const state = retire === undefined ? "published" : "retired";
      const now = await client.call(APIS.changeApiVersion, { tenant, id: api, version: changed, state });
      if (out.json) return out.value(now);
      return out.line(`Version ${now.version} of ${api} is ${now.state}.`);
    }
    const versions = await client.list(APIS.listApiVersions, { tenant, id: api });
    if (out.json) return out.value({ items: versions });
    for (const version of versions) for (const line of linesOf(out, version)) out.line(line);
  },
});

function showApis(out: Output, apis: readonly ApiSummary[], again: string): void {
  if (out.json) return out.value({ items: apis });
  const rows = apis.map(({ api, newest, versions, instances }) => [
    api,
    newest ?? "retired",
    pluralize(versions, "version"),
    instances.map(({ server, version }) => `${server} ${version}`).join(", "),
  ]);
  showTable(out, rows, `No API is published. Publish one: nexus api publish API${again}`);
}

function linesOf(out: Output, version: VersionView): string[] {
  const { change, approval, instances, calls, lastUsed } = version;
  const used = calls === 0 ? "never" : `${pluralize(calls, "call")}, the last at ${lastUsed}`;
  return factLines(out, `${version.api} ${version.version}${version.state === "retired" ? ", retired" : ""}`, [
    ["hash", [version.hash]],
    ["approved", [visible(`by ${approval.by} at ${approval.at}`)]],
    ["published", [visible(`by ${version.publishedBy} at ${version.publishedAt}`)]],
    ["change", change === null ? [] : [changeText(change.kind, change.since, [])]],
    ["served as", instances],
    ["used", [used]],
  ]);
}
