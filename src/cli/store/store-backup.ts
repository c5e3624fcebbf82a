import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { DATABASE_OPTION, defineCommand } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { pluralize } from "../output/amounts.ts";
import { chosenStore } from "./chosen-database.ts";

/** nexus store backup nexus.backup */
export const storeBackup = defineCommand({
  usage: "nexus store backup <file> [--database ADDRESS]",
  description: `Writes a consistent snapshot of tenants, keys, secrets, recorded writes and trust into a file. Other processes can use the store
meanwhile. Caches are not included. An earlier backup of the same name is replaced when the new one is complete.

The file contains hashes of API keys and encrypted secrets. It does not contain the master key, which is needed to restore it:
keep a copy of the key in another place. Exit code 6: there is no store at the address.`,
  options: DATABASE_OPTION,
  examples: [
    ["nexus store backup nexus.backup", "back up the default store"],
    ["nexus store backup nexus.backup --database postgres://nexus@db.example/nexus", "back up PostgreSQL"],
  ],

  async run(context) {
    const { out, words } = context;
    const [name = ""] = words;
    if (name === "-") throw wrongUsage("A backup cannot be written to stdout", "Name a file: nexus store backup FILE.");
    const file = resolve(name);
    const { address, masterKey, logger } = await chosenStore(context);
    await requireReplaceable(file);
    const [{ Store }, { backUp }] = await Promise.all([
      import("../../store/store.ts"),
      import("../../store/backup.ts"),
    ]);
    await using store = await Store.open({ address, masterKey, logger, create: false });
    const rows = await backUp(store, file);
    if (out.json) return out.value({ database: address.shown, file, rows });
    out.line(`Wrote ${pluralize(rows, "row")} of ${address.shown} to ${file}.`);
    out.note(
      `It does not contain the master key (${store.masterKey.origin}). Keep a copy of the key in another place.`,
    );
  },
});

/** Prevents that a mistyped name overwrites something other than a backup. */
async function requireReplaceable(file: string): Promise<void> {
  const opened = await open(file, "r").catch(() => undefined);
  if (!opened) return;
  await using existing = opened;
  const { buffer, bytesRead } = await existing
    .read(Buffer.alloc(2), 0, 2, 0)
    .catch(() => ({ buffer: null, bytesRead: 2 }));
  const isCompressed = buffer?.[0] === 0x1f && buffer[1] === 0x8b;
  if (bytesRead === 0 || isCompressed) return;
  throw wrongUsage(`${file} exists and is not a backup`, "Choose another name, or remove it first.");
}
