import { NexusError } from "../../errors/nexus-error.ts";
import { failuresForPrograms } from "../command/ask-servers.ts";
import { defineCommand, SERVED } from "../command/command.ts";
import { openSecrets } from "./operated-secrets.ts";
import type { Style } from "../output/output.ts";
import { tableLines, type Cell } from "../output/table.ts";

/** nexus secrets list */
export const secretsList = defineCommand({
  usage: "nexus secrets list",
  description: "Lists the names of secrets and the origins they may be sent to. Values are never shown.",
  words: { min: 0, max: 0 },
  options: SERVED,
  examples: [
    ["nexus secrets list", "one name per line, with its origins"],
    ["nexus secrets list --tenant shop", "those of a tenant of the gateway"],
    ["nexus secrets list --gateway https://gateway.example", "at this gateway, with the key of an admin in NEXUS_KEY"],
    ["nexus secrets list --json", `{"items":[{"name":"github","origins":["https://api.example"]}],"errors":[]}`],
  ],

  async run(context) {
    const { out } = context;
    await using state = await openSecrets(context);
    const { secrets, unreadable } = await state.secrets.list();
    const lost = unreadable === 0 ? [] : [damaged(unreadable)];
    if (out.json) {
      const items = secrets.map(({ name, origins = [] }) => ({ name, origins }));
      return out.value({ items, errors: failuresForPrograms(lost) });
    }
    const rows = secrets.map(({ name, origins }) => [{ text: name }, originsCell(origins)]);
    // Not cut, because half of an address looks like another one.
    const wide = { columns: undefined, style: (style: Style, text: string) => out.style(style, text) };
    for (const line of tableLines(wide, rows)) out.line(line);
    for (const error of lost) out.note(`${out.onStderr("yellow", "warning:")} ${error.message}. ${error.hint}`);
    if (secrets.length === 0 && unreadable === 0)
      out.note(`No secrets are stored. Store one: nexus secrets set NAME${state.optionsAgain}`);
  },
});

function originsCell(origins: readonly string[] | undefined): Cell {
  return origins ? { text: origins.join(", ") } : { text: "not sent yet", style: "dim" };
}

function damaged(count: number): NexusError {
  const what = count === 1 ? "One stored secret" : `${count} stored secrets`;
  return new NexusError("PERMISSION_DENIED", `${what} cannot be decrypted, and their names are unknown`, {
    phase: "config",
    hint: "Set the missing secrets again.",
    mayHaveReached: false,
  });
}
