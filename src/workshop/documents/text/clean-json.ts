import { isRecord } from "../../../json/is-record.ts";
import { cleanProse, isCredential, LEFT_OUT } from "../../../masking/clean-prose.ts";
import { isCredentialName, mayBeSecretName } from "../../../masking/secret-names.ts";
import { escapePart } from "../../../schema/pointer.ts";

/** Where values were replaced, as JSON pointers. */
export type Places = string[];

/** Where a value is, and the name that says what it is. */
interface Leaf {
  pointer: string;
  name: string;
  depth?: number;
}

const MAX_DEPTH = 150;

/** The value of a request or an answer without credentials: also inside of what is called one, and in pairs of name and value. */
export function cleanValue(value: unknown, pointer: string, places: Places): unknown {
  const nameOf = (owner: Record<string, unknown>, key: string, name: string) => {
    const called = [owner["name"], owner["key"]].find((each) => typeof each === "string");
    if (key === "value" && typeof called === "string" && mayBeSecretName(called)) return called;
    return mayBeSecretName(name) && typeof owner[key] !== "boolean" ? name : key;
  };
  return changeLeaves(value, { pointer, name: "" }, { places, nameOf, change: cleanScalar });
}

function cleanScalar(value: unknown, name: string): unknown {
  if (typeof value === "string") return isCredential(name, value) ? LEFT_OUT : cleanProse(value);
  const isNumber = typeof value === "number" || typeof value === "bigint";
  return isNumber && mayBeSecretName(name) && isCredential(name, `#${value}`) ? 0 : value;
}

/** The same for examples in descriptions, whose values are usually made up. */
export function cleanExample(value: unknown, leaf: Leaf, places: Places): unknown {
  const change = (each: unknown, name: string) =>
    typeof each === "string" && isCredential(name, each, isCredentialName) ? LEFT_OUT : each;
  return changeLeaves(value, leaf, { places, nameOf: (_owner, key) => key, change });
}

/** A schema of GraphQL as JSON, and whatever else: its texts. */
export function cleanTexts(value: unknown, places: Places): unknown {
  const change = (each: unknown) => (typeof each === "string" ? cleanProse(each) : each);
  return changeLeaves(value, { pointer: "", name: "" }, { places, nameOf: () => "", change });
}

interface Change {
  places: Places;
  /** What the value of a member is called. */
  nameOf: (owner: Record<string, unknown>, key: string, name: string) => string;
  change: (value: unknown, name: string) => unknown;
}

/** The same value with other texts and numbers. */
function changeLeaves(value: unknown, { pointer, name, depth = 0 }: Leaf, how: Change): unknown {
  if (depth > MAX_DEPTH) return value;
  const inside = (key: string, member: unknown, called: string) =>
    changeLeaves(member, { pointer: `${pointer}/${escapePart(key)}`, name: called, depth: depth + 1 }, how);
  if (Array.isArray(value)) return value.map((item, index) => inside(String(index), item, name));
  if (isRecord(value)) {
    const members = Object.entries(value);
    return Object.fromEntries(members.map(([key, each]) => [key, inside(key, each, how.nameOf(value, key, name))]));
  }
  const changed = how.change(value, name);
  if (changed !== value || (typeof value === "string" && value.includes(LEFT_OUT))) how.places.push(pointer);
  return changed;
}
