import type { AuditCheck } from "../../store/audit/audit-check.ts";
import { defineCommand } from "../command/command.ts";
import { pluralize } from "../output/amounts.ts";
import { openAudit } from "../store/operated-audit.ts";
import { AUDIT_OPTIONS } from "./audit-words.ts";

const DAMAGE_FOUND = 10;

/** nexus audit verify */
export const auditVerify = defineCommand({
  usage: "nexus audit verify [--tenant NAME]",
  description: `Reads every record of the audit of all tenants, or of one, and verifies that none was changed, removed, added or re-ordered, and
that the newest one is there. Names the first wrong record. It needs the master key of the store. Exit code 0: everything is
as it was written; 10: damage was found. What "head" says can be kept at another place: as long as the record with that number has
that hash, nothing before it was changed. "first" is the number of the oldest record that is kept: older ones were removed when their
retention ended. With --gateway the gateway verifies, and without --tenant all tenants that the key manages; a
removed tenant has to be named then.`,
  words: { min: 0, max: 0 },
  options: {
    ...AUDIT_OPTIONS,
    tenant: { ...AUDIT_OPTIONS.tenant, help: "only this tenant, also one that was removed" },
  },
  examples: [
    ["nexus audit verify", "the audit of all tenants"],
    ["nexus audit verify --gateway https://gateway.example", "the same through a gateway, with the key in NEXUS_KEY"],
    [
      "nexus audit verify --tenant shop --json",
      `{"ok":true,"tenants":[{"tenant":"shop","records":42,"first":1,"head":{"seq":42,"hash":"…"},"damage":null}]}`,
    ],
  ],

  async run(context) {
    const { out, options } = context;
    const { MISSING_CHAIN } = await import("../../store/audit/audit-check.ts");
    await using audit = await openAudit(context);
    const { checks, isComplete } = await audit.verify(options.tenant);
    const isRight = isComplete && checks.every(({ damage }) => !damage);
    if (out.json) {
      const problem = isComplete ? {} : { problem: MISSING_CHAIN };
      out.value({ ok: isRight, tenants: checks.map(forPrograms), ...problem });
    } else {
      for (const check of checks) out.line(lineOf(check));
      if (!isComplete) out.line(`damaged: ${MISSING_CHAIN}`);
      if (checks.length === 0 && isComplete) out.note("There are no records.");
      if (!isRight) out.note("Compare with a backup or an export: nexus store backup, nexus audit export.");
    }
    return isRight ? 0 : DAMAGE_FOUND;
  },
});

function forPrograms({ damage, ...check }: AuditCheck): Record<string, unknown> {
  return { ...check, damage: damage ?? null };
}

function lineOf({ tenant, records, first, head, damage }: AuditCheck): string {
  if (damage) return `${tenant}: damaged: ${damage.problem}. ${pluralize(records, "record")} before it are right.`;
  if (records === 0) return `${tenant}: no records are kept.`;
  const kept = first > 1 ? `, from ${first} on` : "";
  return `${tenant}: ${pluralize(records, "record")}${kept}, no damage. Newest: ${head.seq} ${head.hash}`;
}
