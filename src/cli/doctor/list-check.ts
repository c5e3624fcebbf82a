import { joinFirst, shorten } from "../../text/shorten.ts";
import type { Client } from "../../client/client.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import type { Prompt, Resource, ResourceTemplate, Tool } from "../../protocol/mcp.ts";
import { longNames } from "./long-names.ts";
import { toFailedFinding, type Finding, FindingDraft, ok } from "./check.ts";

interface ServerOffer {
  tools: Tool[];
  resources: Resource[];
  templates: ResourceTemplate[];
  prompts: Prompt[];
  /** Declared lists that could not be read. */
  failures: NexusError[];
  ms: number;
}

/** Reads every declared list; a failure does not affect the others. */
export async function readOffer(client: Client, signal: AbortSignal): Promise<ServerOffer> {
  const failures: NexusError[] = [];
  const startedAt = performance.now();
  const read = async <T>(list: Promise<T[]>): Promise<T[]> => {
    try {
      return await list;
    } catch (error) {
      if (signal.aborted) throw error;
      failures.push(asNexusError(error));
      return [];
    }
  };
  const [tools, resources, templates, prompts] = await Promise.all([
    read(client.listTools({ signal })),
    read(client.listResources({ signal })),
    read(client.listResourceTemplates({ signal })),
    read(client.listPrompts({ signal })),
  ]);
  return { tools, resources, templates, prompts, failures, ms: Math.round(performance.now() - startedAt) };
}

/** The longest name that the specification recommends. */
const MAX_NAME = 128;

/** `warnings`: messages of the client about tools that it left out. */
export function listFinding(offer: ServerOffer, definition: ServerDefinition, warnings: readonly string[]): Finding {
  const { tools, resources, templates, prompts, failures, ms } = offer;
  const counts = `tools ${tools.length}, resources ${resources.length}, templates ${templates.length}, prompts ${prompts.length}; ${ms} ms`;
  const failure = failures[0] ?? missingTools(offer, definition);
  if (failure) return toFailedFinding(failure, [counts, ...failures.slice(1).map(({ message }) => message)]);
  const draft = new FindingDraft().add("ok", counts);
  const groups: [string, string[]][] = [
    ["tool", tools.map(({ name }) => name)],
    ["resource", resources.map(({ uri }) => uri)],
    ["template", templates.map(({ uriTemplate }) => uriTemplate)],
    ["prompt", prompts.map(({ name }) => name)],
  ];
  for (const [kind, names] of groups) nameFaults(draft, kind, names);
  const tooLong = longNames(
    definition,
    [...tools, ...prompts].map(({ name }) => name).filter((name) => typeof name === "string"),
  );
  if (tooLong) draft.add("warning", tooLong.evidence, tooLong.advice);
  for (const warning of warnings) draft.add("warning", warning);
  return draft.finding();
}

function nameFaults(draft: FindingDraft, kind: string, names: readonly unknown[]): void {
  const texts = names.filter((name): name is string => typeof name === "string" && name.trim() !== "");
  const nameless = names.length - texts.length;
  if (nameless > 0)
    draft.add("warning", `${nameless} without a name (${kind}s)`, "The server's author must name them.");
  const [seen, twice] = [new Set<string>(), new Set<string>()];
  for (const name of texts) (seen.has(name) ? twice : seen).add(name);
  if (twice.size > 0) {
    draft.add(
      "warning",
      `the same ${kind} twice: ${joinFirst([...twice])}`,
      "The server's author must rename one of them. Only one can be used.",
    );
  }
  const long = kind === "tool" || kind === "prompt" ? texts.filter((name) => name.length > MAX_NAME) : [];
  if (long.length > 0) {
    draft.add(
      "warning",
      `longer than ${MAX_NAME} characters (${kind}s): ${joinFirst(long.map((name) => shorten(name, 20)))}`,
    );
  }
}

function missingTools({ tools }: ServerOffer, { id, failIfNoTools }: ServerDefinition): NexusError | undefined {
  if (!failIfNoTools || tools.length > 0) return undefined;
  return new NexusError("CAPABILITY_MISSING", `Server "${id}" offers no tools`, {
    server: id,
    hint: `"fail_if_no_tools" in its entry makes this an error.`,
  });
}

/** Whether tools declare their effects, which clients use to ask before a call. */
export function toolHintFinding(tools: readonly Tool[]): Finding {
  if (tools.length === 0) return ok("no tools");
  const has = (hint: "readOnlyHint" | "destructiveHint") =>
    tools.filter(({ annotations }) => annotations?.[hint] === true).length;
  const silent = tools.filter(({ annotations }) => {
    return annotations?.readOnlyHint === undefined && annotations?.destructiveHint === undefined;
  });
  const counts = `${has("readOnlyHint")} read-only, ${has("destructiveHint")} destructive, of ${tools.length}`;
  if (silent.length === 0) return ok(counts);
  return {
    verdict: "note",
    evidence: [counts, `without readOnlyHint and destructiveHint: ${joinFirst(silent.map(({ name }) => name))}`],
    advice: ["Such tools are treated as destructive. The server's author should add annotations."],
  };
}
