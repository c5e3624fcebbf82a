import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { endOf } from "../../config/read/variables.ts";
import { joinFirst } from "../../text/shorten.ts";
import { toFailedFinding, ok, type Finding } from "./check.ts";

/** A `${…}` of an entry: its name, never its value. */
interface Reference {
  kind: "variable" | "secret" | "input" | "file" | "other";
  name: string;
  hasDefault: boolean;
  /** The reference whose default contains this one; it is needed only if that one is missing. */
  insteadOf?: Reference;
}

export interface AvailableVariables {
  isSet: (variable: string) => boolean;
  secrets: readonly string[];
}

/** Names that editors resolve, and so does Nexus. */
const PLACES = ["workspaceFolder", "userHome"];

/** The variables of an entry, and whether they can be resolved. */
export function variablesFinding(
  references: readonly Reference[],
  known: AvailableVariables,
  { problem, trusted }: ServerDefinition,
): Finding {
  if (references.length === 0) return ok("no variables are used");
  const unset = references.filter((reference) => !isKnown(reference, known));
  const evidence = references.map((reference) => `${spelled(reference)} ${stateOf(reference, known)}`);
  if (unset.length > 0 && problem && trusted) return toFailedFinding(problem, evidence);
  if (unset.length === 0 || trusted) return ok(joinFirst(evidence, 10));
  // Without trust nothing is resolved, so nothing has failed yet.
  return {
    verdict: "warning",
    evidence: [joinFirst(evidence, 10)],
    advice: ["They are needed after the folder is trusted."],
  };
}

/** Whether a problem of this entry is caused by its variables. */
export function lacksVariables(references: readonly Reference[], known: AvailableVariables): boolean {
  return references.some((reference) => !isKnown(reference, known));
}

/** All references in the strings of an entry, each once. */
export function referencesIn(entry: unknown): Reference[] {
  const found = new Map<string, Reference>();
  visitStrings(entry, (text) => {
    for (const reference of referencesOf(text)) found.set(JSON.stringify(reference), reference);
  });
  return [...found.values()];
}

function referencesOf(text: string, insteadOf?: Reference): Reference[] {
  const found: Reference[] = [];
  for (let from = 0; ;) {
    const start = text.indexOf("${", from);
    const end = start === -1 ? -1 : endOf(text, start + 2);
    if (end === -1) return found;
    // $${ stands for ${ itself.
    if (text[start - 1] !== "$") found.push(...referenceOf(text.slice(start + 2, end), insteadOf));
    from = end + 1;
  }
}

/** The reference between the braces, and those in its default. */
function referenceOf(inside: string, insteadOf: Reference | undefined): Reference[] {
  const [, prefix, name, , fallback] =
    /^(?:(env|input|secret):)?([\w.-]+?)(:-([\s\S]*))?$/.exec(inside) ??
    /^(file):([^\n]+?)(:-([\s\S]*))?$/.exec(inside) ??
    [];
  if (name === undefined || (prefix === undefined && !/^[A-Za-z_]\w*$/.test(name))) {
    // References of other programs cannot be resolved; anything else is text.
    return /^[A-Za-z]+:/.test(inside) ? [{ kind: "other", name: inside, hasDefault: false }] : [];
  }
  const kind = prefix === "input" || prefix === "secret" || prefix === "file" ? prefix : "variable";
  const reference: Reference = { kind, name, hasDefault: fallback !== undefined, ...(insteadOf && { insteadOf }) };
  return [reference, ...referencesOf(fallback ?? "", reference)];
}

function isKnown({ kind, name, hasDefault, insteadOf }: Reference, known: AvailableVariables): boolean {
  const { isSet, secrets } = known;
  if (hasDefault || (insteadOf && isKnown({ ...insteadOf, hasDefault: false }, known))) return true;
  if (kind === "variable") return isSet(name) || PLACES.includes(name);
  if (kind === "secret") return secrets.includes(name);
  // Inputs and files are read with the configuration; if that failed, the entry has a problem.
  return false;
}

function stateOf({ kind, name, hasDefault }: Reference, known: AvailableVariables): string {
  if (kind === "variable" && PLACES.includes(name)) return "is a folder";
  const has = isKnown({ kind, name, hasDefault: false }, known);
  if (kind === "variable") return has ? "is set" : hasDefault ? "is not set, has a default" : "is not set";
  if (kind === "secret") return has ? "is stored" : hasDefault ? "is not stored, has a default" : "is not stored";
  if (kind === "file") return "is read from a file";
  return kind === "input" ? "is asked at the start" : "is unknown";
}

function spelled({ kind, name }: Reference): string {
  return kind === "variable" || kind === "other" ? name : `${kind}:${name}`;
}

function visitStrings(value: unknown, visit: (text: string) => void): void {
  if (typeof value === "string") visit(value);
  else if (typeof value === "object" && value !== null)
    for (const item of Object.values(value)) visitStrings(item, visit);
}
