import type { SetDefinition } from "../../src/gateway/index.ts";
import type { Thing } from "./team-servers.ts";

export const SETS = ["support", "finance"] as const;
export type TeamSet = (typeof SETS)[number];

/** The name of `docs.look` in the set `support`. */
export const PEEK = "peek";

/** Stands in arguments that callers neither see nor change. */
export function fixedArgument(tenant: string): string {
  return `fixed:${tenant}`;
}

/** The sets of a tenant: one that all have, and one that only acme has. */
export function setsOf(tenant: string): Record<string, SetDefinition> {
  const support: SetDefinition = {
    allow: ["docs.look", "docs.asking", "docs.working", "old/prompts", "vault/resources"],
    tools: { "docs.look": { name: PEEK, arguments: { who: fixedArgument(tenant) } } },
  };
  return tenant === "acme" ? { support, finance: { allow: ["vault", "docs.secret"] } } : { support };
}

/** What a set contains, written down without the code that decides it. */
export function containsThing(set: TeamSet, tenant: string, { server, kind, name }: Omit<Thing, "tenant">): boolean {
  if (set === "finance") {
    const isSecret = server === "docs" && (kind === "server" || (kind === "tool" && name === "secret"));
    return tenant === "acme" && (server === "vault" || isSecret);
  }
  if (kind === "server") return ["docs", "old", "vault"].includes(server);
  if (server === "docs") return kind === "tool" && name !== "secret";
  return (server === "old" && kind === "prompt") || (server === "vault" && kind === "resource");
}
