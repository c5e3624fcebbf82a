import type { StoredAuditRecord } from "./audit-chain.ts";

export interface AuditFilter {
  /** Milliseconds since 1970; the first one is included, the other is not. */
  since?: number | undefined;
  until?: number | undefined;
  keyId?: string | undefined;
  server?: string | undefined;
  /** `tool`, `server.tool`, or the name with the prefix of its server. */
  tool?: string | undefined;
  outcome?: string | undefined;
}

/** What is the same in a text and in JSON. */
const SIMPLE = /^[\w.:+/=@~-]+$/;

export function isUnfiltered(filter: AuditFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}

/** When a record began; NaN for one that was damaged. */
export function timeOf(record: Readonly<Record<string, unknown>>): number {
  return Date.parse(String(record["at"]));
}

export function isSelected(record: StoredAuditRecord, filter: AuditFilter): boolean {
  const { since, until, keyId, server, tool, outcome } = filter;
  if (keyId !== undefined && record["keyId"] !== keyId) return false;
  if (server !== undefined && record["server"] !== server) return false;
  if (outcome !== undefined && record["outcome"] !== outcome) return false;
  if (tool !== undefined && !isOfTool(record, tool)) return false;
  if (since === undefined && until === undefined) return true;
  const at = timeOf(record);
  return at >= (since ?? -Infinity) && at < (until ?? Infinity);
}

/** Texts that a selected record contains: the database looks for them, so that not every row has to be read. */
export function textsOf({ keyId, server, tool, outcome }: AuditFilter): string[] {
  const member = (name: string, value: string | undefined) =>
    value !== undefined && SIMPLE.test(value) ? [`"${name}":"${value}"`] : [];
  const name = tool?.slice(tool.indexOf(".") + 1);
  return [
    ...member("keyId", keyId),
    ...member("server", server),
    ...member("outcome", outcome),
    ...(name !== undefined && SIMPLE.test(name) ? [`${name}"`] : []),
  ];
}

function isOfTool({ server, target }: StoredAuditRecord, tool: string): boolean {
  if (typeof target !== "string") return false;
  const isNamed = (name: string) => target === name || target.endsWith(`__${name}`);
  const dot = tool.indexOf(".");
  return isNamed(tool) || (dot !== -1 && server === tool.slice(0, dot) && isNamed(tool.slice(dot + 1)));
}
