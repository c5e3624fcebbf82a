import { visible } from "../../text/visible.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { AccessTarget } from "./access-target.ts";

/** A parsed pattern of a policy: `server`, `server.*`, `server.tool*`, `server/resources`, `*`. */
export interface AccessPattern {
  /** As it was written. */
  text: string;
  /** An id, the start of ids with `*`, or `*` for every server. */
  server: NamePattern;
  part: { kind: "everything" } | { kind: "tool"; name: NamePattern } | { kind: "resource" | "prompt" | "method" };
}

/** A name in which `*` stands for any text: what stands between the stars. */
type NamePattern = readonly string[];

const KINDS = { resources: "resource", prompts: "prompt", methods: "method" } as const;
const FORM = /^(\*|[a-z][a-z0-9-]*\*?)(?:\.([^]+)|\/(resources|prompts|methods))?$/;

/** Throws if the pattern is invalid: a rule that matches nothing without notice would protect nothing. */
export function parsePattern(text: string): AccessPattern {
  const [, id, tool, kind] = FORM.exec(text) ?? [];
  if (id === undefined) throw invalidPattern(text);
  const server = namePattern(id);
  if (kind !== undefined) return { text, server, part: { kind: KINDS[kind as keyof typeof KINDS] } };
  const isEverything = tool === undefined || tool === "*";
  return { text, server, part: isEverything ? { kind: "everything" } : { kind: "tool", name: namePattern(tool) } };
}

/** Whether the pattern matches this target. A server itself is matched only if everything of it is. */
export function covers({ server, part }: AccessPattern, { kind, server: id, name }: AccessTarget): boolean {
  if (!matches(server, id)) return false;
  if (part.kind === "everything") return true;
  return part.kind === kind && (part.kind !== "tool" || matches(part.name, name));
}

/** Whether the pattern matches anything of this server. */
export function concerns({ server }: AccessPattern, id: string): boolean {
  return matches(server, id);
}

/** The id of the one server that the pattern is for; undefined if it has a wildcard. */
export function serverNamedBy({ server }: AccessPattern): string | undefined {
  return server.length === 1 ? server[0] : undefined;
}

/** The one tool that the pattern is for; undefined if it has a wildcard or is for more than a tool. */
export function toolNamedBy({ part }: AccessPattern): string | undefined {
  return part.kind === "tool" && part.name.length === 1 ? part.name[0] : undefined;
}

/** Whether the pattern is `*`, or `*.*`, which means the same. */
export function isEverything({ server, part }: AccessPattern): boolean {
  return part.kind === "everything" && server.join("*") === "*";
}

/** `*` stands for any text. */
export function matchesName(pattern: string, name: string): boolean {
  return matches(namePattern(pattern), name);
}

function namePattern(text: string): NamePattern {
  return text.split("*");
}

/** Runs in linear time, because servers choose the names of their tools, and allocates nothing. */
function matches(parts: NamePattern, name: string): boolean {
  const [first = ""] = parts;
  const end = parts.length - 1;
  if (end === 0) return name === first;
  const last = parts[end] ?? "";
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (let index = 1; index < end; index++) {
    const part = parts[index] ?? "";
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

function invalidPattern(text: string): NexusError {
  return new NexusError("CONFIG_INVALID", `${JSON.stringify(text)} is not a valid policy pattern`, {
    phase: "config",
    hint: `A pattern starts with a server id, or with "*" for every server: "github", "github.search*", "*.delete*", "github/resources", "github/prompts", "github/methods", "*".`,
    mayHaveReached: false,
  });
}

/** Whether a pattern with this name means this tool and no other, and the name is what it looks like. */
export function isSafePattern(name: string): boolean {
  return !name.includes("*") && visible(name) === name && !/[^\S ]|\u2800/.test(name);
}
