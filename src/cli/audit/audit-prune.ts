import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import { pluralize } from "../output/amounts.ts";
import { openAudit } from "../store/operated-audit.ts";
import { AUDIT_OPTIONS, timeOf } from "./audit-words.ts";

/** nexus audit prune --before 90d */
export const auditPrune = defineCommand({
  usage: "nexus audit prune --before 90d [--damaged] [--tenant NAME]",
  description: `Removes the records of a tenant that are older, and leaves a signed checkpoint, so that the rest can still be verified. A gateway
does this by itself for records older than gateway.audit.retention (default: 90d). Records that were changed are not removed
(exit code 10), because they are the trace of the change; --damaged removes them.`,
  words: { min: 0, max: 0 },
  options: {
    before: { type: "string", value: "90d", help: "a duration before now, or a date; required" },
    damaged: { type: "boolean", help: "also remove records that were changed" },
    ...AUDIT_OPTIONS,
  },
  examples: [
    ["nexus audit prune --before 90d", "keep the last 90 days"],
    [
      "nexus audit prune --before 90d --gateway https://gateway.example",
      "at this gateway, with the key of an admin in NEXUS_KEY; it is recorded in the audit",
    ],
    ["nexus audit prune --before 2026-01-01 --tenant shop --json", `{"tenant":"shop","removed":1200}`],
  ],

  async run(context) {
    const { out, options } = context;
    const before = timeOf("before", options.before);
    if (before === undefined) throw wrongUsage("--before is missing", "Add --before 90d, or another duration or date.");
    await using audit = await openAudit(context);
    const tenant = await audit.requireTenant(options.tenant);
    const removed = await audit.prune(tenant, before, { force: options.damaged === true });
    if (out.json) return out.value({ tenant, removed });
    out.line(`Removed ${pluralize(removed, "record")} of the tenant "${tenant}".`);
  },
});
