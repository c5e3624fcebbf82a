import { NexusError } from "../../../errors/nexus-error.ts";
import { APIS } from "../../../operations/apis.ts";
import { defineCommand } from "../../command/command.ts";
import { wrongUsage } from "../../command/command-line.ts";
import { showTable } from "../../output/table.ts";
import { INSTANCE_OPTIONS, instanceChange } from "./instance-options.ts";
import { apiIdIn, APIS_OPTIONS, openApis } from "./open-apis.ts";
import type { InstanceView } from "../../../operations/apis/api-view.ts";
import { durationText } from "../../../text/duration.ts";

const ACTIONS = ["add", "set", "remove"];

/** nexus api instances capcorn add test --upstream fake */
export const apiInstances = defineCommand({
  usage: "nexus api instances <api> [add|set|remove NAME] [--version VERSION] [--upstream URL] [--setting name=value]…",
  description: `
Lists, adds, changes and removes the instances of a published API. Each is a server that serves one version with its own address,
settings and limits; its secrets are <server>.<name>. Removing an instance ends its server, and keeps the versions.`,
  options: {
    version: {
      type: "string",
      value: "VERSION",
      help: "the version that it serves; default for a new one: the highest",
    },
    ...INSTANCE_OPTIONS,
    ...APIS_OPTIONS,
  },
  examples: [
    ["nexus api instances capcorn", "servers, versions and addresses"],
    ["nexus api instances capcorn add test --upstream https://test.example/", "a server capcorn-test"],
    ["nexus api instances capcorn set live --call-timeout 10s --per-minute 60", "stricter limits"],
    ["nexus api instances capcorn remove test", "end the server capcorn-test"],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [word = "", action, name] = words;
    const change = instanceChange(options);
    if (action !== undefined && !ACTIONS.includes(action)) {
      throw wrongUsage(`"${action}" is not an action`, `Use add, set or remove and the name of an instance.`);
    }
    if (action !== undefined && name === undefined) throw wrongUsage("No instance is named", `Write ${action} NAME.`);
    await using opened = await openApis(context);
    const api = apiIdIn(word);
    const { client, tenant, again } = opened;
    if (action === "remove" && name !== undefined) {
      await client.call(APIS.removeApiInstance, { tenant, id: api, name });
      return out.json ? out.value({ removed: name }) : out.line(`Removed the instance ${name} of ${api}.`);
    }
    const all = await client.list(APIS.listApiInstances, { tenant, id: api });
    if (action === undefined || name === undefined) {
      if (out.json) return out.value({ items: all });
      const rows = all.map((each) => [each.name, each.server, each.version, instanceText(each)]);
      showTable(out, rows, `${api} has no instances. Add one: nexus api instances ${api} add live${again}`);
      return;
    }
    const isKnown = all.some((each) => each.name === name);
    if (action === "add" && isKnown) {
      throw wrongUsage(
        `${api} already has an instance "${name}"`,
        `Change it: nexus api instances ${api} set ${name}${again}`,
      );
    }
    if (action === "set" && !isKnown) {
      throw new NexusError("NAME_UNKNOWN", `"${api}" has no instance "${name}"`, {
        hint: `Add it: nexus api instances ${api} add ${name}${again}. Known: ${all.map((each) => each.name).join(", ")}.`,
        mayHaveReached: false,
      });
    }
    const { version } = options;
    const now = await client.call(APIS.changeApiInstance, { ...change, tenant, id: api, name, version });
    if (out.json) return out.value(now);
    const more = instanceText(now);
    out.line(`${now.server} serves version ${now.version} of ${api}${more === "" ? "" : `: ${more}`}.`);
  },
});

/** Its address, settings and limits in one line. */
function instanceText({ upstream, addresses, settings, limits }: InstanceView): string {
  const { timeoutMs, perMinute } = limits;
  return [
    ...(upstream === null ? [] : [`to ${upstream}`]),
    ...Object.entries(addresses).map(([address, target]) => `${address} at ${target}`),
    ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
    ...(timeoutMs === undefined ? [] : [`at most ${durationText(timeoutMs)}`]),
    ...(perMinute === undefined ? [] : [`${perMinute} per minute`]),
  ].join(", ");
}
