import { boolean, json, list, map, record, text } from "../format/form.ts";
import { HOST_ENTRY } from "../transport/entry-form.ts";
import { CONTEXT } from "./context-setting.ts";
import { GATEWAY } from "./gateway-settings.ts";
import { MODELS } from "./models-setting.ts";
import { NETWORK } from "./network-settings.ts";

const SERVERS = map(HOST_ENTRY);

const INPUTS = list(
  record({
    id: text(),
    type: text().optional(),
    description: text({ empty: true }).says("What the person is asked.").optional(),
    password: boolean().says("The answer is hidden, and used only where secrets are.").optional(),
    default: text({ empty: true }).optional(),
  }).named("Input"),
).says("Values that a person is asked for: `${input:id}`.");

/**
 * A configuration file of Nexus, for editors that complete and check it. Reading is more tolerant: files of other programs
 * have other keys, and their servers stand in other sections (`read/find-servers.ts`, `read/dialect.ts`).
 */
export const CONFIG = record(
  {
    $schema: text().says("Where the schema of this file is; editors read it.").optional(),
    mcpServers: SERVERS.says("Servers by their names.").optional(),
    servers: SERVERS.says("Servers by their names, as VS Code calls them.").optional(),
    inputs: INPUTS.optional(),
    mcp: json().says("Servers in a list, `mcp.servers`, or as opencode writes them.").optional(),
    gateway: GATEWAY.says("The gateway: `nexus serve`.").optional(),
    network: NETWORK.says("The network on the way to all servers.").optional(),
    models: MODELS.says("Models for the chat and for sampling.").optional(),
    context: CONTEXT.says("What a chat gives to the model.").optional(),
  },
  { open: true },
);
