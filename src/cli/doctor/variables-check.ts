import { idOf } from "../../config/define-server.ts";
import { findServers } from "../../config/find-servers.ts";
import { loadText, parseSource } from "../../config/read-source.ts";
import type { ServerDefinition } from "../../config/server-definition.ts";
import { plainValue } from "../../config/source-node.ts";
import { failedBy, few, ok, type Finding } from "./check.ts";

/** A `${…}` of an entry: what it names, never what it stands for. */
export interface Reference {
  kind: "variable" | "secret" | "input" | "other";
  name: string;
  hasDefault: boolean;
}

export interface KnownNames {
  isSet: (variable: string) => boolean;
  secrets: readonly string[];
}

/** Names that editors fill in, and so does Nexus. */
const PLACES = ["workspaceFolder", "userHome"];

/** Which variables an entry uses, and whether there is something to fill in. */
export function variablesFinding(
  references: readonly Reference[],
  known: KnownNames,
  { problem, trusted }: ServerDefinition,
): Finding {
  if (references.length === 0) return ok("none are used");
  const unset = references.filter((reference) => !isKnown(reference, known));
  const evidence = references.map((reference) => `${spelled(reference)} ${stateOf(reference, known)}`);
  if (unset.length > 0 && problem) return failedBy(problem, evidence);
  if (unset.length === 0 || trusted) return ok(few(evidence, 10));
  // Before trust nothing is filled in, so nothing has failed yet.
  return {
    verdict: "warning",
    evidence: [few(evidence, 10)],
    advice: ["They will be needed once the folder is trusted."],
  };
}

/** Whether a problem of this entry comes from its variables. */
export function lacksVariables(references: readonly Reference[], known: KnownNames): boolean {
  return references.some((reference) => !isKnown(reference, known));
}

/** All references in the strings of an entry, each once. */
export function referencesIn(entry: unknown): Reference[] {
  const found = new Map<string, Reference>();
  visitStrings(entry, (text) => {
    // $${ is how to write ${ itself.
    for (const [whole, dollar, prefix, name = "", fallback] of text.matchAll(
      /(\$?)\$\{(?:([A-Za-z]+):)?([^}:]*)(:-[^}]*)?/g,
    )) {
      if (dollar === "$" || name === "") continue;
      const kind = prefix === undefined || prefix === "env" ? "variable" : kindOf(prefix);
      const isText = prefix === undefined && !/^[A-Za-z_]\w*$/.test(name);
      if (!isText) found.set(whole, { kind, name, hasDefault: fallback !== undefined });
    }
  });
  return [...found.values()];
}

/** The entry as it stands in its file, with nothing filled in. */
export async function writtenEntry({ id, origin }: ServerDefinition): Promise<unknown> {
  const text = origin && (await loadText(origin.file));
  if (text === undefined) return undefined;
  const { servers } = findServers(await parseSource(text, origin?.file ?? ""), origin?.file ?? "");
  const found = servers.find((server) => idOf(server) === id);
  return found && plainValue(found.node);
}

function isKnown({ kind, name, hasDefault }: Reference, { isSet, secrets }: KnownNames): boolean {
  if (hasDefault) return true;
  if (kind === "variable") return isSet(name) || PLACES.includes(name);
  if (kind === "secret") return secrets.includes(name);
  // An input is answered when the configuration is read; where it was not, the entry has a problem.
  return false;
}

function stateOf(reference: Reference, known: KnownNames): string {
  const { kind, name, hasDefault } = reference;
  if (kind === "variable" && PLACES.includes(name)) return "is a folder";
  const has = isKnown({ ...reference, hasDefault: false }, known);
  if (kind === "variable") return has ? "is set" : hasDefault ? "is not set, has a default" : "is not set";
  if (kind === "secret") return has ? "is stored" : hasDefault ? "is not stored, has a default" : "is not stored";
  return kind === "input" ? "is asked for" : "is unknown here";
}

function spelled({ kind, name }: Reference): string {
  return kind === "variable" || kind === "other" ? name : `${kind}:${name}`;
}

function kindOf(prefix: string): Reference["kind"] {
  return prefix === "secret" || prefix === "input" ? prefix : "other";
}

function visitStrings(value: unknown, visit: (text: string) => void): void {
  if (typeof value === "string") visit(value);
  else if (typeof value === "object" && value !== null)
    for (const item of Object.values(value)) visitStrings(item, visit);
}
