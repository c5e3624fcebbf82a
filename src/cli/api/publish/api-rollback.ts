import { LIVE } from "../../../operations/apis/api-instance.ts";
import { APIS } from "../../../operations/apis.ts";
import { defineCommand } from "../../command/command.ts";
import { apiIdIn, APIS_OPTIONS, openApis } from "./open-apis.ts";

/** nexus api rollback capcorn */
export const apiRollback = defineCommand({
  usage: "nexus api rollback <api> [--to VERSION] [--instance NAME]",
  description: `
Serves the version that an instance served before, within two seconds; calls that are being made are finished. Again, it goes
one step further back. --to serves another version that is published, older or newer.`,
  words: { min: 1, max: 1 },
  options: {
    to: { type: "string", value: "VERSION", help: "the version to serve; default: the one before" },
    instance: { type: "string", value: "NAME", help: "the instance; default: live" },
    ...APIS_OPTIONS,
  },
  examples: [
    ["nexus api rollback capcorn", "serve the version before"],
    ["nexus api rollback capcorn --to 1.2.0 --instance test", "serve this version as capcorn-test"],
  ],

  async run(context) {
    const { out, words, options } = context;
    await using opened = await openApis(context);
    const { client, tenant } = opened;
    const { to, instance: name = LIVE } = options;
    const now = await client.call(APIS.rollBackApi, { tenant, id: apiIdIn(words[0] ?? ""), name, to });
    if (out.json) return out.value(now);
    out.line(`${now.server} serves version ${now.version} of ${now.api} again.`);
  },
});
