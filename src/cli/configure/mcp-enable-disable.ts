import { changeEntry, requireNoFile, SOURCE } from "./change-entry.ts";
import { isElsewhere } from "../command/command-line.ts";
import { type CommandContext, defineCommand, SERVED } from "../command/command.ts";
import { isOtherTenant } from "../store/tenant-state.ts";
import { shortPath } from "../output/short-path.ts";

/** nexus mcp enable github */
export const enable = defineCommand({
  usage: "nexus mcp enable <server> [--file FILE]",
  description: `Changes the entry in its configuration file. Comments and order are preserved.`,
  words: { min: 1, max: 1 },
  options: { ...SOURCE, ...SERVED },
  examples: [
    ["nexus mcp enable github", "in the file that configures it"],
    ["nexus mcp enable github --file .mcp.json", "in this file, even if another file takes precedence"],
    ["nexus mcp enable github --tenant shop", "a server of a tenant of the gateway"],
    [
      "nexus mcp enable github --gateway https://gateway.example",
      "at this gateway, with the key of an admin in NEXUS_KEY",
    ],
  ],

  run: (context) => switchEntry(context, true),
});

/** nexus mcp disable github */
export const disable = defineCommand({
  usage: "nexus mcp disable <server> [--file FILE]",
  description: `Keeps the entry in its file, so that it can be enabled again. Comments and order are preserved.`,
  words: { min: 1, max: 1 },
  options: { ...SOURCE, ...SERVED },
  examples: [
    ["nexus mcp disable github", "in the file that configures it"],
    ["nexus mcp disable github --file .mcp.json", "in this file, even if another file takes precedence"],
    ["nexus mcp disable github --tenant shop", "a server of a tenant of the gateway"],
    [
      "nexus mcp disable github --gateway https://gateway.example",
      "at this gateway, with the key of an admin in NEXUS_KEY",
    ],
  ],

  run: (context) => switchEntry(context, false),
});

type SwitchContext = CommandContext<{
  file?: string | undefined;
  tenant?: string | undefined;
  gateway?: string | undefined;
  key?: string | undefined;
  database?: string | undefined;
}>;

/** Enables or disables a server in its file, and reports the result. */
async function switchEntry(context: SwitchContext, on: boolean): Promise<void> {
  if (isElsewhere(context) || isOtherTenant(context.options.tenant)) {
    requireNoFile(context.options);
    const { switchInTenant } = await import("../gateway/servers.ts");
    return switchInTenant(context, on);
  }
  const { words, out, surroundings } = context;
  const [name = ""] = words;
  const { before, after, file } = await changeEntry(context, name, ({ id, enabled }) => {
    return enabled === on ? undefined : { kind: on ? "enable" : "disable", id };
  });
  const { id } = before;
  const isSwitched = after?.enabled === on;
  const changed = before.enabled !== on;
  if (out.json) return out.value({ server: id, file, enabled: after?.enabled, changed });
  const shown = shortPath(file, surroundings.home);
  const state = on ? "enabled" : "disabled";
  if (isSwitched) out.line(`${out.style("bold", id)} is ${changed ? "" : "already "}${state} (${shown})`);
  else out.warn(`${id} is enabled, but ${shown} disables all its servers: "mcp.enabled" is false`);
  if (on && after?.trusted === false)
    out.note("The project's file is not trusted, so the server is not started. Review it: nexus mcp trust");
}
