import { isRecord } from "../../../json/is-record.ts";
import type { OperationFacts } from "../api-facts.ts";
import { itemsOf, memberOf, membersOf, type ApiDocument, type DocumentPart } from "./api-document.ts";

/** The alternatives in `security` of the document or an operation; undefined if there is no such member. */
export function readSecurity(
  document: ApiDocument,
  owner: DocumentPart,
  known: ReadonlySet<string>,
): OperationFacts["security"] | undefined {
  const list = memberOf(owner, "security");
  if (!list) return undefined;
  if (!Array.isArray(list.value)) {
    document.remark(list.pointer, "The security requirements are not a list; they are ignored");
    return undefined;
  }
  return itemsOf(list).flatMap((part) => {
    if (!isRecord(part.value)) {
      document.remark(part.pointer, "This security requirement cannot be read; it is ignored");
      return [];
    }
    const missing = Object.keys(part.value).filter((scheme) => !known.has(scheme) && !scheme.startsWith("x-"));
    for (const scheme of missing) document.remark(part.pointer, `The security scheme "${scheme}" is not declared`);
    if (missing.length > 0) return [];
    return [
      membersOf(part).map(([scheme, { value: scopes }]) => ({
        scheme,
        scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === "string") : [],
      })),
    ];
  });
}
