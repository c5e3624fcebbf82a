import { asText } from "../../text/as-text.ts";
import { visible } from "../../text/visible.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import { tableLines } from "../output/table.ts";
import { openAudit } from "../store/operated-audit.ts";
import { AUDIT_OPTIONS, unknownRecord } from "./audit-words.ts";

/** nexus audit show 42 */
export const auditShow = defineCommand({
  usage: "nexus audit show <seq> [--tenant NAME]",
  description: "Shows one record of the audit in full, by its number. Exit code 6: there is no such record.",
  words: { min: 1, max: 1 },
  options: AUDIT_OPTIONS,
  examples: [
    ["nexus audit show 42", "everything that was recorded about this call"],
    ["nexus audit show 42 --tenant shop --json", "the same of another tenant, for programs"],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [given = ""] = words;
    if (!/^\d{1,15}$/.test(given)) {
      throw wrongUsage(`"${given}" is not the number of a record`, `"nexus audit list" shows the numbers.`);
    }
    await using audit = await openAudit(context);
    const tenant = await audit.requireTenant(options.tenant);
    const record = await audit.find(tenant, Number(given));
    if (!record) throw unknownRecord(Number(given), tenant);
    if (out.json) return out.value(record);
    const rows = Object.entries(record).map(([name, value]) => [
      { text: name, style: "dim" as const },
      { text: visible(typeof value === "object" ? JSON.stringify(value) : asText(value)) },
    ]);
    for (const line of tableLines({ columns: undefined, style: (style, text) => out.style(style, text) }, rows)) {
      out.line(line);
    }
  },
});
