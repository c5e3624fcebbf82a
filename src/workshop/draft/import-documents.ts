import type { ApiFacts, OperationFacts } from "../documents/api-facts.ts";
import { wordsOf } from "./names/words.ts";

/** The facts of several documents as those of one API; the first one names it. */
export function joinFacts(all: readonly ApiFacts[]): ApiFacts | undefined {
  const [first, ...others] = all;
  if (!first || others.length === 0) return first;
  const keys = new Map<string, number>();
  const operations = all.flatMap((facts) =>
    facts.operations.map((operation) => withKey(ownServers(operation, facts, first), keys)),
  );
  return {
    ...first,
    security: Object.assign({}, ...all.map(({ security }) => security).toReversed()) as ApiFacts["security"],
    tags: all.flatMap(({ tags }) => tags),
    operations,
    omitted: all.flatMap(({ omitted }) => omitted),
    remarks: all.flatMap(({ remarks }) => remarks),
  };
}

function ownServers(operation: OperationFacts, facts: ApiFacts, first: ApiFacts): OperationFacts {
  if (facts === first || operation.servers || facts.servers.length === 0) return operation;
  return { ...operation, servers: facts.servers };
}

/** A second operation with the same method and path is another one. */
function withKey(operation: OperationFacts, keys: Map<string, number>): OperationFacts {
  const count = (keys.get(operation.key) ?? 0) + 1;
  keys.set(operation.key, count);
  return count === 1 ? operation : { ...operation, key: `${operation.key} (${count})` };
}

/** An id for an API from its title: at most 32 small letters, digits and `-`. */
export function apiIdFrom(title: string, fallback: string): string {
  for (const text of [title, fallback]) {
    const words = wordsOf(text).filter((word) => !["api", "rest", "the", "openapi", "swagger"].includes(word));
    let id = "";
    for (const word of words) {
      const longer = id === "" ? word : `${id}-${word}`;
      if (longer.length > 32) break;
      id = longer;
    }
    if (id === "" && words[0] !== undefined) id = words[0].slice(0, 32);
    const valid = id.replace(/^[^a-z]+/, "");
    if (valid.length > 1) return valid;
  }
  return "imported";
}
