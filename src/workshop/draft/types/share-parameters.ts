import { groupedBy } from "../../../text/grouped-by.ts";
import { pascalCase, wordsOf } from "../names/words.ts";
import type { FieldSpec } from "../../file/model/tool-file.ts";
import type { DraftType } from "./draft-type.ts";
import type { TypeDrafter } from "./type-drafter.ts";

const LEAST_FIELDS = 3;
const LEAST_USES = 3;

type Shared = { type: DraftType; fields: [string, FieldSpec][] };

/**
 * Parameters that the document describes once and many operations use become a type of their own, which the inputs
 * include.
 */
export function shareParameters(inputs: Iterable<DraftType>, types: TypeDrafter): void {
  const candidates: Shared[] = [...new Set(inputs)].map((type) => ({ type, fields: sharedFields(type) }));
  const large = candidates.filter(({ fields }) => fields.length >= LEAST_FIELDS);
  for (const [key, same] of groupedBy(large, ({ fields }) => JSON.stringify(fields))) {
    const [first] = same;
    if (same.length < LEAST_USES || !first) continue;
    const names = first.fields.map(([name]) => name);
    const name = `${pascalCase(wordsOf(`${names[0]} to ${names.at(-1)}`))}Parameters`;
    const evidence = [...new Set(first.fields.flatMap(([, field]) => field.evidence))];
    const shared = types.add(name, key, { evidence: [], xml: {}, include: [], fields: new Map(first.fields) });
    if (evidence.length === 1) shared.evidence = evidence;
    for (const { type } of same) {
      for (const field of names) type.fields.delete(field);
      type.include.unshift(shared);
    }
  }
}

/** Fields whose evidence is outside of the operation. Those of the body come from included types and are not here. */
function sharedFields({ fields, evidence: [own = ""] }: DraftType): [string, FieldSpec][] {
  const path = own.replace(/\/[^/]*$/, "");
  return [...fields].filter(
    ([name, field]) =>
      field.wire === name &&
      field.evidence.every((place) => !place.startsWith(`${own}/`) && !place.startsWith(`${path}/`)),
  );
}
