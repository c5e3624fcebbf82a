import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { renderForPeople, renderForPrograms } from "../../errors/render.ts";
import { visible } from "../../text/visible.ts";
import type { ServerSet } from "../command/server-set.ts";
import type { Output } from "../output/output.ts";
import type { FirstConnection } from "./first-connection.ts";

interface AddedServer {
  definition: ServerDefinition;
  /** Undefined where nothing was tried. */
  outcome: FirstConnection | undefined;
}

/** Tells whether a new server works, and what it needs. */
export async function tellOutcome(
  out: Output,
  servers: ServerSet,
  { definition, outcome }: AddedServer,
): Promise<void> {
  report(out, definition, { outcome, again: servers.stored ? servers.optionsAgain : "" });
  if (outcome?.ok) await tellMissingSecrets(out, servers, definition);
}

export function outcomeForPrograms(outcome: FirstConnection | undefined): object | undefined {
  return outcome?.ok === false ? { ok: false, ...renderForPrograms(outcome.error) } : outcome;
}

function report(
  out: Output,
  { id, enabled }: ServerDefinition,
  { outcome, again }: { outcome: FirstConnection | undefined; again: string },
): void {
  if (!enabled) out.advice(`It is disabled. To enable it: nexus mcp enable ${id}${again}`);
  if (!outcome) return;
  if (!outcome.ok) {
    out.warn(`The server does not work yet. ${renderForPeople(outcome.error)}`);
    out.note(`Try again: nexus mcp connect ${id}${again}`);
    return;
  }
  const { era, protocolVersion, serverInfo, tools } = outcome;
  const title = visible([serverInfo?.name ?? id, serverInfo?.version].filter((part) => part !== undefined).join(" "));
  const counted = tools === undefined ? "no tools" : `${tools} ${tools === 1 ? "tool" : "tools"}`;
  out.line(`${out.style("green", "It works:")} ${title}, revision ${protocolVersion} (${era}), ${counted}`);
  if (tools !== undefined) out.advice(`List them: nexus mcp tools ${id}${again}`);
}

/** An API's tools are listed without its secrets; calls need them. */
async function tellMissingSecrets(out: Output, servers: ServerSet, { id, entry }: ServerDefinition): Promise<void> {
  if (entry?.reach.kind !== "api") return;
  const { apiFindings } = await import("../doctor/api-checks.ts");
  const findings = await apiFindings(entry.reach, id, servers.secrets);
  const advice = findings.flatMap(([, finding]) => finding.advice ?? []);
  if (advice.length === 0) return;
  out.line("Its tools need these secrets:");
  for (const line of advice) out.advice(`  ${visible(line)}`);
}
