import { isExact } from "../../../json/exact-number.ts";

/** Thrown where the text is not simple YAML: the library reads it, or says what is wrong. */
export class NotSimple extends Error {}

const NUMBER = /^(?:[-+]?\d+|0o[0-7]+|0x[\da-fA-F]+|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?)$/;
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** The value of a plain scalar by the core schema. Numbers that JSON or a double cannot hold are texts. */
export function plainValue(text: string): unknown {
  switch (text) {
    case "":
    case "~":
    case "null":
    case "Null":
    case "NULL":
      return null;
    case "true":
    case "True":
    case "TRUE":
      return true;
    case "false":
    case "False":
    case "FALSE":
      return false;
  }
  const first = text.charCodeAt(0);
  // Digits, plus, minus and dot.
  const mayBeNumber = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e;
  if (!mayBeNumber || NOT_FINITE.test(text) || !NUMBER.test(text)) return text;
  const value = Number(text);
  return isExact(text) || Number.isSafeInteger(value) ? value : text;
}

export function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  // Assigning to this name would change the prototype.
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}
