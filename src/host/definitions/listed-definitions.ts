import { canonicalJson } from "../../json/canonical-json.ts";
import { isRecord } from "../../json/is-record.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import { sha256 } from "../../text/digest.ts";

/** A tool, prompt, resource or template as its server sent it. */
export interface ReceivedDefinition {
  /** SHA-256 of its canonical JSON. */
  hash: string;
  received: unknown;
}

const MEMBERS: Record<ListKind, string> = {
  tools: "name",
  prompts: "name",
  resources: "uri",
  resourceTemplates: "uriTemplate",
};

/**
 * The definitions of a list by name, before anything in them was repaired. Where several have the same name, they count
 * as one: which of them is used must not decide what was compared.
 */
export function listedDefinitions(kind: ListKind, items: readonly unknown[]): Map<string, ReceivedDefinition> {
  const member = MEMBERS[kind];
  const byName = new Map<string, unknown[]>();
  for (const item of items) {
    const name = isRecord(item) ? item[member] : undefined;
    if (typeof name !== "string") continue;
    const same = byName.get(name);
    if (same) same.push(item);
    else byName.set(name, [item]);
  }
  return new Map(
    [...byName].map(([name, same]) => {
      const received = same.length === 1 ? same[0] : same;
      return [name, { hash: sha256(canonicalJson(received)), received }];
    }),
  );
}
