import { NexusError } from "../../errors/nexus-error.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import { quoteWord } from "../../text/shell-words.ts";
import { visible } from "../../text/visible.ts";
import type { NamedDefinition, Standing } from "./definition-ledger.ts";

const NOUNS = {
  tools: "tool",
  prompts: "prompt",
  resources: "resource",
  resourceTemplates: "template",
} as const satisfies Record<ListKind, string>;

/** A list that could not be compared is compared again after this time. */
export const RETRY_AFTER_MS = 1_000;

/** How people name a definition: `server.tool`, `server/prompts/NAME`. */
export function definitionName({ server, kind, name }: Pick<NamedDefinition, "server" | "kind" | "name">): string {
  if (kind === "tools") return `${server}.${name}`;
  return `${server}/${kind === "resourceTemplates" ? "templates" : kind}/${name}`;
}

export function nounOf(kind: ListKind): (typeof NOUNS)[ListKind] {
  return NOUNS[kind];
}

/** The kind that `nounOf` names; undefined for another word. */
export function kindOf(noun: string): ListKind | undefined {
  return (Object.keys(NOUNS) as ListKind[]).find((kind) => NOUNS[kind] === noun);
}

/** The error for the use of a pinned definition that was not accepted. `again`: options that the commands need. */
export function heldDefinition({ server, kind, name }: NamedDefinition, standing: Standing, again: string): NexusError {
  const what = `The ${NOUNS[kind]} "${visible(name)}" of server "${server}"`;
  const named = `${quoteWord(visible(definitionName({ server, kind, name })))}${again}`;
  const words: Record<Standing, string> = {
    accepted: "",
    changed: "has changed since it was accepted, and it is pinned",
    added: "is new and not accepted yet, and it is pinned",
    unknown: "could not be compared with what was accepted, and it is pinned",
  };
  const isCompared = standing !== "unknown";
  return new NexusError("DEFINITION_CHANGED", `${what} ${words[standing]}${isCompared ? "" : ". Retry later"}`, {
    server,
    hint: isCompared
      ? `See what is different: nexus mcp changes show ${named}. Then accept it: nexus mcp changes accept ${named}`
      : "The database of accepted definitions must be reachable. Check it: nexus store check",
    ...(isCompared ? {} : { retryAfterMs: RETRY_AFTER_MS }),
    mayHaveReached: false,
  });
}
