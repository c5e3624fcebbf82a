import { changeEntry, requireNoFile, SOURCE } from "./change-entry.ts";
import { isElsewhere } from "../command/command-line.ts";
import { type CommandContext, defineCommand, SERVED } from "../command/command.ts";
import { isOtherTenant } from "../store/tenant-state.ts";
import { shortPath } from "../output/short-path.ts";

function switching(word: "enable" | "disable", description: string) {
  return defineCommand({
    usage: `nexus mcp ${word} <server> [--file FILE]`,
    description: `${description} Comments and order are preserved.`,
    options: { ...SOURCE, ...SERVED },
    examples: [
      [`nexus mcp ${word} github`, "in the file that configures it"],
      [`nexus mcp ${word} github --file .mcp.json`, "in this file, even if another file takes precedence"],
      [`nexus mcp ${word} github --tenant shop`, "a server of a tenant of the gateway"],
      [
        `nexus mcp ${word} github --gateway https://gateway.example`,
        "at this gateway, with the key of an admin in NEXUS_KEY",
      ],
    ],

    run: (context) => switchEntry(context, word === "enable"),
  });
}

/** nexus mcp enable github */
export const enable = switching("enable", "Changes the entry in its configuration file.");

/** nexus mcp disable github */
export const disable = switching("disable", "Keeps the entry in its file, so that it can be enabled again.");

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
