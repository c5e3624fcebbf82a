import type { TextEdit } from "../../config/edit/edit.ts";
import { loadText, MAX_CLIENT_BYTES } from "../../config/read/read-source.ts";
import type { CommandContext } from "../command/command.ts";
import { placesOf } from "../configure/configured-servers.ts";

/** Edits a file of another program, or only checks whether that is possible. */
export async function editClientFile(
  context: Omit<CommandContext, "options">,
  file: string,
  { edit, isDry }: { edit: TextEdit; isDry: boolean },
): Promise<void> {
  if (isDry) {
    const text = await loadText(file, { called: "The file", isStrict: true, maxBytes: MAX_CLIENT_BYTES });
    await edit(text ?? "");
    return;
  }
  const { surroundings, stateFolder } = context;
  // .mcp.json is also a file of Nexus: a trusted one stays trusted.
  const { editTrusted } = await import("../../config/edit/edit-trusted.ts");
  const { trustStore } = await import("../../host/servers/load-options.ts");
  await editTrusted(file, edit, { trust: trustStore(surroundings, stateFolder), surroundings: placesOf(context) });
}
