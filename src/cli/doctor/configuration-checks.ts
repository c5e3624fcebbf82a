import type { Configuration } from "../../config/load.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError } from "../../errors/nexus-error.ts";
import { unableToRun } from "../../host/servers/unable-to-run.ts";
import { parseUrl } from "../../transport/http-sender.ts";
import { type Finding, FindingDraft, ok, toFailedFinding } from "./check.ts";

/** The place of the entry, what it hides, and its problems. */
export function configurationFinding(
  definition: ServerDefinition,
  { warnings, unfiled = "from the command line" }: Pick<Configuration, "warnings"> & { unfiled?: string | undefined },
): Finding {
  const { id, origin, hides } = definition;
  const place = origin ? `${origin.file}:${origin.line} (${origin.layer})` : unfiled;
  const problem = definition.problem ?? urlProblem(definition);
  if (problem) return toFailedFinding(problem, [`at ${placeOf(problem.details.source) ?? place}`]);
  const draft = new FindingDraft().add("ok", place);
  if (hides.length > 0) {
    const advice = `The entries of "${id}" in these files have no effect; "nexus mcp explain ${id}" shows them.`;
    draft.add("note", `hides a server with the same name in ${hides.join(", ")}`, advice);
  }
  for (const { server, message, source } of warnings) {
    if (server === id) draft.add("warning", `${message} (${source.file}:${source.line})`, "Correct it in the file.");
  }
  return draft.finding();
}

/** `named`: this server was asked about, so being disabled is the answer. */
export function enabledFinding(definition: ServerDefinition, { named }: { named: boolean }): Finding {
  if (definition.enabled) return ok("yes");
  const refusal = unableToRun(definition);
  if (named && refusal) return toFailedFinding(refusal);
  return { verdict: "note", evidence: ["disabled"], advice: refusal?.hint === undefined ? [] : [refusal.hint] };
}

export function trustedFinding(definition: ServerDefinition, unfiled = "named on the command line"): Finding {
  const { trusted, origin } = definition;
  if (!trusted) {
    const refusal = unableToRun({ ...definition, enabled: true, problem: undefined });
    if (refusal) return toFailedFinding(refusal, origin ? [`in ${origin.file}:${origin.line} (${origin.layer})`] : []);
  }
  if (origin?.layer === "user") return ok("your own file");
  return ok(origin && origin.layer !== "explicit" ? "the project's file is trusted" : unfiled);
}

function urlProblem({ entry }: ServerDefinition): ReturnType<typeof asNexusError> | undefined {
  if (!entry || !("url" in entry.reach)) return undefined;
  try {
    parseUrl(entry.reach.url);
    return undefined;
  } catch (error) {
    return asNexusError(error);
  }
}

function placeOf(source: { file: string; line?: number | undefined } | undefined): string | undefined {
  return source && [source.file, source.line].filter((part) => part !== undefined).join(":");
}
