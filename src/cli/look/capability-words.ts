import { isRecord } from "../../json/is-record.ts";
import type { ServerCapabilities } from "../../protocol/mcp.ts";

const MEMBERS: Readonly<Record<string, string>> = { listChanged: "reports changes", subscribe: "subscriptions" };

/** A server's capabilities in words: `tools (reports changes)`, `logging`, names of extensions. */
export function capabilityWords(capabilities: ServerCapabilities): string[] {
  const { extensions, experimental, ...others } = capabilities;
  return [
    ...Object.entries(others)
      .filter(([, value]) => value !== undefined && value !== false)
      .map(withMembers),
    ...keysOf(extensions).map((name) => `${name} (extension)`),
    ...keysOf(experimental).map((name) => `${name} (experimental)`),
  ];
}

function withMembers([name, value]: [string, unknown]): string {
  const on = keysOf(value).filter((key) => isRecord(value) && value[key] !== false);
  return on.length === 0 ? name : `${name} (${on.map((key) => MEMBERS[key] ?? key).join(", ")})`;
}

function keysOf(value: unknown): string[] {
  return isRecord(value) ? Object.keys(value) : [];
}
