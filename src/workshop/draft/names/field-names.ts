import { RESERVED_WORDS } from "../../expression/parse.ts";
import { groupedBy } from "../../../text/grouped-by.ts";
import { shortHash, wordsOf, pascalCase } from "./words.ts";

const VALID = /^[A-Za-z][A-Za-z0-9_]*$/;

/** Whether a name of the document can be the name of a field as it is. */
function isFieldName(name: string): boolean {
  return VALID.test(name) && !RESERVED_WORDS.includes(name) && name.length <= 128;
}

/** The names of fields for the members of one object, by their names upstream; each depends on its own name alone. */
export function fieldNames(members: Iterable<string>): Map<string, string> {
  const all = [...members];
  const names = new Map<string, string>();
  const taken = new Set(all.filter(isFieldName));
  const proposed = groupedBy(all, (name) => (isFieldName(name) ? name : fieldNameFor(name)));
  for (const [field, same] of proposed) {
    for (const name of same) {
      if (isFieldName(name)) names.set(name, name);
      else names.set(name, same.length === 1 && !taken.has(field) ? field : `${field}_${shortHash(name, 4)}`);
    }
  }
  return names;
}

/** Comparisons at the end of a name are all that tells it from others: `Date`, `Date<` and `Date>`. */
const COMPARISONS: Readonly<Record<string, string>> = {
  "<": "less than",
  ">": "greater than",
  "<=": "at most",
  ">=": "at least",
  "!": "not",
  "!=": "not",
};

/** A valid name for any text: `X-Tenant-Id` is xTenantId, `filter[name]` is filterName. */
export function fieldNameFor(name: string): string {
  if (isFieldName(name)) return name;
  const spoken = name.replace(/[<>!]=?$/, (sign) => ` ${COMPARISONS[sign] ?? ""}`);
  const joined = camelCase(wordsOf(spoken)).slice(0, 64);
  if (joined === "") return `field_${shortHash(name, 4)}`;
  const valid = /^[a-z]/i.test(joined) ? joined : `n${joined}`;
  return RESERVED_WORDS.includes(valid) ? `${valid}Value` : valid;
}

function camelCase(words: readonly string[]): string {
  const [first = "", ...others] = words;
  return first + pascalCase(others);
}
