import { LIVE } from "../../../operations/apis/api-instance.ts";
import { APIS } from "../../../operations/apis.ts";
import { tenantCommand } from "../../store/operated-command.ts";
import { apiIdIn, APIS_OPTIONS } from "./open-apis.ts";

/** nexus api rollback capcorn */
export const apiRollback = tenantCommand({
  usage: "nexus api rollback <api> [--to VERSION] [--instance NAME]",
  description: `
Serves the version that an instance served before, within two seconds; calls that are being made are finished. Again, it goes
one step further back. --to serves another version that is published, older or newer.`,
  options: {
    to: { type: "string", value: "VERSION", help: "the version to serve; default: the one before" },
    instance: { type: "string", value: "NAME", help: "the instance; default: live" },
    ...APIS_OPTIONS,
  },
  examples: [
    ["nexus api rollback capcorn", "serve the version before"],
    ["nexus api rollback capcorn --to 1.2.0 --instance test", "serve this version as capcorn-test"],
  ],

  does: ({ client, tenant }, { words: [api = ""], options: { to, instance: name = LIVE } }) =>
    client.call(APIS.rollBackApi, { tenant, id: apiIdIn(api), name, to }),
  tell: ({ server, version, api }, { out }) => out.line(`${server} serves version ${version} of ${api} again.`),
});
