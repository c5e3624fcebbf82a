import type { StoredAuditRecord } from "../../store/audit/audit-chain.ts";
import { asText } from "../../text/as-text.ts";
import { visible } from "../../text/visible.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import type { Style } from "../output/output.ts";
import { tableLines, type Cell } from "../output/table.ts";
import { openAudit } from "../store/operated-audit.ts";
import { AUDIT_OPTIONS, FILTER_OPTIONS, filterOf } from "./audit-words.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;

/** nexus audit list --since 1h */
export const auditList = defineCommand({
  usage: "nexus audit list [--since 1h] [--key ID] [--server ID] [--tool NAME] [--outcome NAME]",
  description: `Lists calls and refused attempts of a tenant, the newest first: number, time, key, method, what it was about, and how it
ended. With --json: {"items":[…],"next":"…"}; next is the --cursor of the next page. Exit code 6: there is no such key or tenant.`,
  words: { min: 0, max: 0 },
  options: {
    ...FILTER_OPTIONS,
    limit: { type: "string", value: "N", help: `at most so many records; default: ${DEFAULT_LIMIT}` },
    cursor: { type: "string", value: "TEXT", help: "continue after an earlier page, with its next" },
    ...AUDIT_OPTIONS,
  },
  examples: [
    ["nexus audit list", "the newest calls"],
    ["nexus audit list --since 1h --outcome refused", "what was refused in the last hour"],
    ["nexus audit list --gateway https://gateway.example", "through a gateway, with the key in NEXUS_KEY"],
    [
      "nexus audit list --key 3fA9cK2mQx7Ytz01 --json",
      `{"items":[{"seq":42,"at":"…","tenant":"default",…}],"next":null}`,
    ],
  ],

  async run(context) {
    const { out, options } = context;
    const filter = filterOf(options);
    const limit = limitOf(options.limit);
    await using audit = await openAudit(context);
    const tenant = await audit.requireTenant(options.tenant);
    const { items, next } = await audit.list(tenant, filter, { limit, cursor: options.cursor });
    const { keyId } = filter;
    if (items.length === 0 && keyId !== undefined) await audit.requireKey(tenant, keyId);
    if (out.json) return out.value({ items, next: next ?? null });
    for (const line of tableLines(out, items.map(row))) out.line(line);
    if (items.length === 0) out.note("There are no such records.");
    if (next !== undefined) out.note(`There are more: add --cursor ${next}`);
  },
});

const STYLES: Readonly<Record<string, Style>> = { ok: "green", error: "red", refused: "red", tool_error: "yellow" };

function row(record: StoredAuditRecord): Cell[] {
  const text = (name: string) => visible(asText(record[name] ?? ""));
  const outcome = text("outcome");
  const code = text("errorCode");
  const { durationMs: duration, count } = record;
  const times = typeof count === "number" && count > 1 ? ` (${count} times)` : "";
  return [
    { text: String(record.seq), style: "dim" },
    { text: text("at") },
    { text: text("keyId") || "-" },
    { text: text("method") },
    { text: text("target") || text("server") || "-" },
    { text: `${code === "" ? outcome : `${outcome} ${code}`}${times}`, style: STYLES[outcome] },
    { text: typeof duration === "number" ? `${Math.round(duration)} ms` : "" },
  ];
}

function limitOf(given: string | undefined): number {
  if (given === undefined) return DEFAULT_LIMIT;
  const limit = Number(given);
  if (/^\d+$/.test(given) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw wrongUsage(
    `--limit "${given}" is not a valid number`,
    `Use a number from 1 to ${MAX_LIMIT}; "nexus audit export" writes all records.`,
  );
}
