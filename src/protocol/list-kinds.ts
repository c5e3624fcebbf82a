/** The lists whose changes servers report: templates change with resources. */
export type ChangingList = "tools" | "prompts" | "resources";
export const CHANGING_LISTS: readonly ChangingList[] = ["tools", "prompts", "resources"];

/** The four lists that a server can have. A result has the items in the member of the same name. */
export type ListKind = ChangingList | "resourceTemplates";
export const LIST_KINDS: readonly ListKind[] = ["tools", "resources", "resourceTemplates", "prompts"];

/** The change that concerns a list; the capability that declares the list has the same name. */
export function changeOf(kind: ListKind): ChangingList {
  return kind === "resourceTemplates" ? "resources" : kind;
}

export function changeMethod<L extends ChangingList>(list: L): `notifications/${L}/list_changed` {
  return `notifications/${list}/list_changed`;
}

/** The list that a notification reports as changed, if it reports one. */
export function changedList(notification: string): ChangingList | undefined {
  return CHANGING_LISTS.find((list) => changeMethod(list) === notification);
}
