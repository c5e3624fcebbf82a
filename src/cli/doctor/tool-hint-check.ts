import type { Tool } from "../../protocol/mcp.ts";
import { few, ok, type Finding } from "./check.ts";

/** Whether tools say what they may change: who asks before a call goes by that. */
export function toolHintFinding(tools: readonly Tool[]): Finding {
  if (tools.length === 0) return ok("there are no tools");
  const has = (hint: "readOnlyHint" | "destructiveHint") =>
    tools.filter(({ annotations }) => annotations?.[hint] === true).length;
  const silent = tools.filter(({ annotations }) => {
    return annotations?.readOnlyHint === undefined && annotations?.destructiveHint === undefined;
  });
  const counts = `${has("readOnlyHint")} read-only, ${has("destructiveHint")} destructive, of ${tools.length}`;
  if (silent.length === 0) return ok(counts);
  return {
    verdict: "note",
    evidence: [counts, `without readOnlyHint and destructiveHint: ${few(silent.map(({ name }) => name))}`],
    advice: ["Such tools count as destructive. Its author should add annotations."],
  };
}
