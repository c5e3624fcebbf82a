import { changeEntry } from "./change-entry.ts";
import type { CommandContext } from "../command/command.ts";
import { shortPath } from "../output/short-path.ts";

/** Switches a server on or off in its file, and says what that came to. */
export async function switchEntry(context: CommandContext<{ file?: string | undefined }>, on: boolean): Promise<void> {
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
  const state = on ? "switched on" : "switched off";
  if (isSwitched) out.line(`${out.style("bold", id)} is ${state}${changed ? "" : " already"} (${shown})`);
  else
    out.note(
      `${out.onStderr("yellow", "warning:")} ${id} says so now, but ${shown} switches all its servers off: "mcp.enabled" is false`,
    );
  if (on && after?.trusted === false)
    out.note("The project's file is not trusted, so it is not started: nexus mcp trust");
}
