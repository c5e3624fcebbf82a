import type { AuditCheck } from "../../store/audit/audit-check.ts";
import { isoTime } from "../../text/duration.ts";
import { defineCommand } from "../command/command.ts";
import { pluralize } from "../output/amounts.ts";
import { openAudit } from "../store/operated-audit.ts";
import { AUDIT_OPTIONS } from "./audit-words.ts";

const DAMAGE_FOUND = 10;
const ACCEPT =
  "If it was put back on purpose, say so once on the machine of the gateway: nexus audit verify --accept-loss";

/** nexus audit verify */
export const auditVerify = defineCommand({
  usage: "nexus audit verify [--tenant NAME] [--accept-loss]",
  description: `Reads every record of the audit of all tenants, or of one, and verifies that none was changed, removed, added or re-ordered, and
that the newest one is there. Names the first wrong record. It needs the master key of the store. Exit code 0: everything is
as it was written; 10: damage was found. What "head" says can be kept at another place: as long as the record with that number has
that hash, nothing before it was changed. What this machine has seen is compared as well: an older state of the database that was put back
is damage, until a backup is restored with nexus store restore, or --accept-loss says that it is known. "first" is the number of the oldest record that is kept: older ones were removed when their
retention ended. With --gateway the gateway verifies, and without --tenant all tenants that the key manages; a
removed tenant has to be named then.`,
  words: { min: 0, max: 0 },
  options: {
    ...AUDIT_OPTIONS,
    tenant: { ...AUDIT_OPTIONS.tenant, help: "only this tenant, also one that was removed" },
    "accept-loss": {
      type: "boolean",
      help: "record that the newest records were lost because an older state of the database was put back",
    },
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
    const { PUT_BACK } = await import("../../store/audit/seen-audit.ts");
    await using audit = await openAudit(context);
    if (options["accept-loss"] === true) await audit.acceptLoss();
    const { checks, isComplete } = await audit.verify(options.tenant);
    const isRight = isComplete && checks.every(({ damage }) => !damage);
    if (out.json) {
      const problem = isComplete ? {} : { problem: MISSING_CHAIN };
      out.value({ ok: isRight, tenants: checks.map(forPrograms), ...problem });
    } else {
      for (const check of checks) out.line(lineOf(check));
      if (!isComplete) out.line(`damaged: ${MISSING_CHAIN}`);
      if (checks.length === 0 && isComplete) out.note("There are no records.");
      for (const { tenant, lost } of checks) if (lost) out.note(lossOf(tenant, lost));
      if (!isRight) out.note("Compare with a backup or an export: nexus store backup, nexus audit export.");
      if (checks.some(({ damage }) => damage?.problem.includes(PUT_BACK))) out.note(ACCEPT);
    }
    return isRight ? 0 : DAMAGE_FOUND;
  },
});

function forPrograms({ damage, ...check }: AuditCheck): Record<string, unknown> {
  return { ...check, damage: damage ?? null };
}

function lossOf(tenant: string, { until, at, why }: NonNullable<AuditCheck["lost"]>): string {
  const reason = why === "restored" ? "a backup was restored" : "their loss was accepted";
  return `${tenant}: earlier records, up to number ${until}, may be gone, because ${reason} on ${isoTime(at)}.`;
}

function lineOf({ tenant, records, first, head, damage }: AuditCheck): string {
  if (damage) return `${tenant}: damaged: ${damage.problem}. ${pluralize(records, "record")} before it are right.`;
  if (records === 0) return `${tenant}: no records are kept.`;
  const kept = first > 1 ? `, from ${first} on` : "";
  return `${tenant}: ${pluralize(records, "record")}${kept}, no damage. Newest: ${head.seq} ${head.hash}`;
}
