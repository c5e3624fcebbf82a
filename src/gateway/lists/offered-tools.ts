import type { Params } from "../../protocol/json-rpc.ts";
import { paramHeadersOf, type ParamHeader } from "../../protocol/param-headers.ts";

export interface OfferedTools {
  tools: Params[];
  /** Only tools that have any. */
  headers: Map<string, readonly ParamHeader[]>;
}

/** The tools that can be offered to callers: one for each name, without those whose header annotations are invalid. */
export function offeredTools(all: readonly Params[], onLeftOut: (name: string, reason: string) => void): OfferedTools {
  const headers = new Map<string, readonly ParamHeader[]>();
  const names = new Set<string>();
  const tools = all.filter((tool) => {
    const { name } = tool;
    if (typeof name !== "string") return false;
    const asked = paramHeadersOf(tool["inputSchema"]);
    if (!asked.ok) {
      onLeftOut(name, asked.reason);
      return false;
    }
    if (names.has(name)) {
      onLeftOut(name, "another one has the same name");
      return false;
    }
    names.add(name);
    if (asked.headers.length > 0) headers.set(name, asked.headers);
    return true;
  });
  return { tools, headers };
}
