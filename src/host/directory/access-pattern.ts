import { NexusError } from "../../errors/nexus-error.ts";
import type { AccessTarget } from "./access-target.ts";

/** A parsed pattern of a policy: `server`, `server.*`, `server.tool*`, `server/resources`, `*`. */
export interface AccessPattern {
  /** As it was written. */
  text: string;
  /** An id, the start of ids with `*`, or `*` for every server. */
  server: string;
  part: { kind: "everything" } | { kind: "tool"; name: string } | { kind: "resource" | "prompt" | "method" };
}

const KINDS = { resources: "resource", prompts: "prompt", methods: "method" } as const;
const FORM = /^(\*|[a-z][a-z0-9-]*\*?)(?:\.([^]+)|\/(resources|prompts|methods))?$/;

/** Throws if the pattern is invalid: a rule that matches nothing without notice would protect nothing. */
export function parsePattern(text: string): AccessPattern {
  const [, server, tool, kind] = FORM.exec(text) ?? [];
  if (server === undefined) throw invalidPattern(text);
  if (kind !== undefined) return { text, server, part: { kind: KINDS[kind as keyof typeof KINDS] } };
  const isEverything = tool === undefined || tool === "*";
  return { text, server, part: isEverything ? { kind: "everything" } : { kind: "tool", name: tool } };
}

/** Whether the pattern matches this target. A server itself is matched only if everything of it is. */
export function covers({ server, part }: AccessPattern, { kind, server: id, name }: AccessTarget): boolean {
  if (!matchesName(server, id)) return false;
  if (part.kind === "everything") return true;
  return part.kind === kind && (part.kind !== "tool" || matchesName(part.name, name));
}

/** Whether the pattern matches anything of this server. */
export function concerns({ server }: AccessPattern, id: string): boolean {
  return matchesName(server, id);
}

/** `*` stands for any text. Runs in linear time, because servers choose the names of their tools. */
export function matchesName(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= end;
}

function invalidPattern(text: string): NexusError {
  return new NexusError("CONFIG_INVALID", `${JSON.stringify(text)} is not a valid policy pattern`, {
    phase: "config",
    hint: `A pattern starts with a server id, or with "*" for every server: "github", "github.search*", "*.delete*", "github/resources", "github/prompts", "github/methods", "*".`,
    mayHaveReached: false,
  });
}
