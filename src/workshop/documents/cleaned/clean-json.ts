import { isRecord } from "../../../json/is-record.ts";
import { escapePart } from "../../../schema/pointer.ts";
import { mayBeSecretName } from "../../../text/secret-names.ts";
import { cleanProse, isCredential, isShownCredential, LEFT_OUT } from "./credential-text.ts";

/** Where values were replaced, as JSON pointers. */
export type Places = string[];

const MAX_DEPTH = 150;

/** The value of a request or an answer without credentials: also inside of what is called one, and in pairs of name and value. */
export function cleanValue(value: unknown, pointer: string, places: Places, name = "", depth = 0): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    return value.map((item, index) => cleanValue(item, `${pointer}/${index}`, places, name, depth + 1));
  }
  if (isRecord(value)) {
    const called = [value["name"], value["key"]].find((each) => typeof each === "string");
    const pair = typeof called === "string" && mayBeSecretName(called) ? called : undefined;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        const own =
          pair !== undefined && key === "value"
            ? pair
            : mayBeSecretName(name) && typeof member !== "boolean"
              ? name
              : key;
        return [key, cleanValue(member, `${pointer}/${escapePart(key)}`, places, own, depth + 1)];
      }),
    );
  }
  return cleanScalar(value, pointer, places, name);
}

function cleanScalar(value: unknown, pointer: string, places: Places, name: string): unknown {
  if (value === LEFT_OUT) places.push(pointer);
  if (typeof value === "string") {
    const clean = isCredential(name, value) ? LEFT_OUT : cleanProse(value);
    if (clean !== value) places.push(pointer);
    return clean;
  }
  if (
    (typeof value === "number" || typeof value === "bigint") &&
    value !== 0 &&
    mayBeSecretName(name) &&
    isCredential(name, `#${value}`)
  ) {
    places.push(pointer);
    return 0;
  }
  return value;
}

/** The same for examples in descriptions, whose values are usually made up. */
export function cleanExample(value: unknown, pointer: string, places: Places, name = "", depth = 0): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    return value.map((item, index) => cleanExample(item, `${pointer}/${index}`, places, name, depth + 1));
  }
  if (isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        key,
        cleanExample(member, `${pointer}/${escapePart(key)}`, places, key, depth + 1),
      ]),
    );
  }
  if (value === LEFT_OUT) places.push(pointer);
  if (typeof value !== "string" || !isShownCredential(name, value)) return value;
  places.push(pointer);
  return LEFT_OUT;
}
