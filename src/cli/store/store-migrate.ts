import { DATABASE_OPTION, defineCommand } from "../command/command.ts";
import { chosenStore } from "./chosen-database.ts";

/** nexus store migrate */
export const storeMigrate = defineCommand({
  usage: "nexus store migrate [--database ADDRESS]",
  description: `Creates the tables of the gateway's database, and the master key if there is none. Updates tables of an older version in one
transaction. Tables of a newer version are refused with exit code 3.`,
  options: DATABASE_OPTION,
  examples: [
    ["nexus store migrate", "create or update nexus.db in the user's data folder"],
    ["nexus store migrate --database postgres://nexus@db.example/nexus", "the same in PostgreSQL"],
  ],

  async run(context) {
    const { out } = context;
    const { address, masterKey, logger } = await chosenStore(context);
    const { Store } = await import("../../store/store.ts");
    await using store = await Store.open({ address, masterKey, logger });
    const { from, to } = store.migrated;
    const { origin } = store.masterKey;
    if (out.json) return out.value({ database: address.shown, from, to, masterKey: origin });
    if (from === to) out.line(`The store ${address.shown} has schema version ${to}. It is up to date.`);
    else if (from === 0) out.line(`Created the store ${address.shown}, schema version ${to}.`);
    else out.line(`The store ${address.shown} now has schema version ${to}; it was ${from}.`);
    out.note(`Its master key is in ${origin}. Keep a copy: backups do not contain it.`);
  },
});
