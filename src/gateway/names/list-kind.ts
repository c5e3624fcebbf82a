import type { ChangingList } from "../../client/changes/feed.ts";
import { LISTS, type KnownLists } from "../../client/conversation/lists.ts";

/** The four lists that a server can have. */
export type ListKind = keyof KnownLists;

export const LIST_KINDS = Object.keys(LISTS) as ListKind[];

const BY_METHOD = new Map<string, ListKind>(LIST_KINDS.map((kind) => [LISTS[kind].method, kind]));

/** Which list a method asks for, if it asks for one. */
export function listAskedBy(method: string): ListKind | undefined {
  return BY_METHOD.get(method);
}

/** Servers tell of three changes: templates are told of with resources. */
export const CHANGING_LISTS: readonly ChangingList[] = ["tools", "prompts", "resources"];

export function changeOf(kind: ListKind): ChangingList {
  return kind === "resourceTemplates" ? "resources" : kind;
}
