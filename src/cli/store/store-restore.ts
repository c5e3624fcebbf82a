import { resolve } from "node:path";
import { DATABASE_OPTION, defineCommand } from "../command/command.ts";
import { pluralize } from "../output/amounts.ts";
import { chosenStore } from "./chosen-database.ts";

/** nexus store restore nexus.backup --replace */
export const storeRestore = defineCommand({
  usage: "nexus store restore <file> [--replace] [--database ADDRESS]",
  description: `Verifies the backup and restores it in one transaction. A damaged backup is refused with exit code 10, a file that is not
a backup with exit code 2. A backup of SQLite can be
restored into PostgreSQL and the reverse. Other processes that use the store notice the change.

It requires the master key of the backup, in NEXUS_MASTER_KEY or in the file master.key of the user's data folder.`,
  options: {
    ...DATABASE_OPTION,
    replace: { type: "boolean", help: "replace the content of a store that is not empty" },
  },
  examples: [
    ["nexus store restore nexus.backup", "into the default store, if it is empty"],
    ["nexus store restore nexus.backup --replace", "replace the content of the store"],
    ["nexus store restore nexus.backup --database postgres://nexus@db.example/nexus", "move to PostgreSQL"],
  ],

  async run(context) {
    const { out, words, options } = context;
    const file = resolve(words[0] ?? "");
    const chosen = await chosenStore(context);
    const { restore } = await import("../../store/backup.ts");
    const { rows, at } = await restore({ ...chosen, file, replace: options.replace === true });
    const { shown } = chosen.address;
    const made = new Date(at).toISOString();
    if (out.json) return out.value({ database: shown, file, rows, at: made });
    out.line(`Restored ${pluralize(rows, "row")} into ${shown} from the backup of ${made}.`);
  },
});
