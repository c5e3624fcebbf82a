import type { StoreCheck } from "../../store/check.ts";
import { DATABASE_OPTION, defineCommand } from "../command/command.ts";
import type { Output } from "../output/output.ts";
import { pluralize } from "../output/amounts.ts";
import { chosenStore, type ChosenStore } from "./chosen-database.ts";

const NO_SUCH_STORE = 6;
const DAMAGE_FOUND = 10;

/** nexus store check */
export const storeCheck = defineCommand({
  usage: "nexus store check [--database ADDRESS]",
  description: `Checks the integrity of the database, the schema version, the master key, that every secret and every entry of a server can be decrypted,
that no record of the audit was changed or removed, and that all rows are consistent. It changes nothing. Exit code 10: damage was found. Exit code 3: wrong master key, or a newer schema version.
Exit code 6: there is no store at the address that --database, NEXUS_DATABASE or the configuration names.`,
  options: DATABASE_OPTION,
  examples: [
    ["nexus store check", "check the default store"],
    ["nexus store check --json", `{"database":"…","exists":true,"schema":3,"damage":[],"rows":{"tenants":1,…}}`],
  ],

  async run(context) {
    const { out } = context;
    const chosen = await chosenStore(context);
    const { checkStore } = await import("../../store/check.ts");
    const found = await checkStore(chosen);
    const { shown } = chosen.address;
    if (out.json) out.value({ database: shown, ...factsOf(found) });
    else tell(out, found, chosen);
    if (found.kind === "absent") return chosen.isDefault ? 0 : NO_SUCH_STORE;
    return damageOf(found).length > 0 ? DAMAGE_FOUND : 0;
  },
});

function damageOf(found: StoreCheck): readonly string[] {
  return found.kind === "checked" || found.kind === "unreadable" ? found.damage : [];
}

function factsOf(found: StoreCheck): Record<string, unknown> {
  if (found.kind === "absent") return { exists: false, damage: [] };
  return {
    exists: true,
    schema: found.kind === "unreadable" ? undefined : found.version,
    damage: damageOf(found),
    rows: found.kind === "checked" ? namedRows(found.rows) : undefined,
  };
}

function tell(out: Output, found: StoreCheck, { address: { shown }, isDefault, optionsAgain }: ChosenStore): void {
  const migrate = `nexus store migrate${optionsAgain}`;
  if (found.kind === "absent") {
    return out.advice(`There is no store at ${shown}${isDefault ? " yet" : ""}. To create it: ${migrate}`);
  }
  if (found.kind === "outdated") {
    return out.advice(`The store ${shown} has the older schema version ${found.version}. Run: ${migrate}`);
  }
  const damage = damageOf(found);
  if (found.kind === "checked" && damage.length === 0) {
    const rows = Object.entries(namedRows(found.rows)).map(([table, count]) => rowText(table, count));
    out.line(`The store ${shown} has no damage: schema version ${found.version}. It contains:`);
    return rows.forEach((row) => out.line(`  ${row}`));
  }
  out.line(`The store ${shown} is damaged:`);
  for (const problem of damage) out.line(`  ${problem}`);
  out.note(`Restore a backup into a new database: nexus store restore FILE --database ADDRESS`);
}

/** What a row of a table is, one and several. A table that is not named here has its own name. */
const ROWS: Readonly<Record<string, readonly [one: string, several: string]>> = {
  tenants: ["tenant", "tenants"],
  api_keys: ["API key", "API keys"],
  secrets: ["secret", "secrets"],
  writes: ["recorded write of an API", "recorded writes of APIs"],
  servers: ["server of a tenant", "servers of tenants"],
  sets: ["set", "sets"],
  definitions: ["definition that was listed by a server", "definitions that were listed by servers"],
  trust: ["trusted file", "trusted files"],
  api_versions: ["published version of an API", "published versions of APIs"],
  api_instances: ["instance of an API", "instances of APIs"],
  api_usage: ["count of the use of an API version", "counts of the use of API versions"],
  audit: ["block of audit records", "blocks of audit records"],
  audit_heads: ["chain of audit records", "chains of audit records"],
  audit_checkpoints: ["checkpoint of the audit", "checkpoints of the audit"],
};

function rowText(table: string, count: number): string {
  const [one, several] = ROWS[table] ?? [table.replaceAll("_", " "), table.replaceAll("_", " ")];
  return pluralize(count, one, several);
}

/** Table names without their prefix. */
function namedRows(rows: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(rows).map(([table, count]) => [table.replace(/^nexus_/, ""), count]));
}
