import { once } from "node:events";
import { visibleJson } from "../../text/visible.ts";
import { defineCommand } from "../command/command.ts";
import { openAudit } from "../store/operated-audit.ts";
import { AUDIT_OPTIONS, FILTER_OPTIONS, filterOf } from "./audit-words.ts";

/** nexus audit export --since 30d > audit.jsonl */
export const auditExport = defineCommand({
  usage: "nexus audit export [--since 1h] [--key ID] [--server ID] [--tool NAME] [--outcome NAME]",
  description: `Writes records to stdout, the oldest first, one JSON object per line. An export of all records can be verified without the
store: the hash of a record is the SHA-256 of the hash before it and of its line without ',"hash":"…"'.`,
  words: { min: 0, max: 0 },
  options: { ...FILTER_OPTIONS, ...AUDIT_OPTIONS },
  examples: [
    ["nexus audit export > audit.jsonl", "all records"],
    ["nexus audit export --since 24h --server github", "one day of one server"],
  ],

  async run(context) {
    const { options, signal } = context;
    const filter = filterOf(options);
    await using audit = await openAudit(context);
    const tenant = await audit.requireTenant(options.tenant);
    let isEmpty = true;
    for await (const stored of audit.lines(tenant, filter)) {
      signal.throwIfAborted();
      if (stored !== "") isEmpty = false;
      // What Nexus recorded has no invisible characters; what somebody changed may have.
      const lines = stored.split("\n").map(visibleJson).join("\n");
      // Waits for a reader that is slow.
      if (lines !== "" && !process.stdout.write(lines)) await once(process.stdout, "drain", { signal });
    }
    const { keyId } = filter;
    if (isEmpty && keyId !== undefined) await audit.requireKey(tenant, keyId);
  },
});
