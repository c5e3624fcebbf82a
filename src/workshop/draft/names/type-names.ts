import { isScalarType } from "../../file/forms/scalars.ts";
import { pascalCase, shortHash, wordsOf } from "./words.ts";

const MOST = 64;

/** Hands out the names of types; the same name is never given twice. */
export class TypeNames {
  readonly #taken = new Map<string, string>();

  /** The first name that is free; otherwise the last one, with a hash. */
  claimOneOf(wanted: readonly string[], whole: string): string {
    const free = wanted.find((name) => (this.#taken.get(within(name, whole).toLowerCase()) ?? whole) === whole);
    return this.claim(free ?? wanted.at(-1) ?? "Type", whole);
  }

  /** `whole`: what the name stands for, such as a pointer; it decides between two of the same name. */
  claim(wanted: string, whole: string): string {
    const name = within(wanted, whole);
    const owner = this.#taken.get(name.toLowerCase());
    if (owner !== undefined && owner !== whole)
      return this.claim(`${name.slice(0, MOST - 6)}_${shortHash(whole, 4)}`, whole);
    this.#taken.set(name.toLowerCase(), whole);
    return name;
  }
}

/** A readable type name: `pet_store-item` is PetStoreItem; names that are valid stay as they are. */
export function typeNameFor(name: string): string {
  if (/^[A-Z][A-Za-z0-9_]*$/.test(name) && !isScalarType(name)) return name;
  const valid = pascalCase(splitKeepingCase(name));
  if (valid === "") return `Type_${shortHash(name, 4)}`;
  return /^[A-Za-z]/.test(valid) ? valid : `T${valid}`;
}

/** `io.k8s.api.core.v1.Pod`: what its last part says, and with one more part of the path each, the longer names. */
export function namesByLength(name: string): string[] {
  const parts = name.split(/[./]/).filter((part) => part !== "");
  if (parts.length < 3) return [typeNameFor(name)];
  return parts.map((_, index) => typeNameFor(parts.slice(parts.length - 1 - index).join(".")));
}

function splitKeepingCase(name: string): string[] {
  const parts = name.split(/[^A-Za-z0-9]+/).filter((part) => part !== "");
  return parts.length > 0 ? parts : wordsOf(name);
}

function within(name: string, whole: string): string {
  if (name.length <= MOST) return name;
  const words = name.split(/(?=[A-Z])/);
  let short = "";
  for (const word of words) {
    if (short.length + word.length > MOST - 7) break;
    short += word;
  }
  return `${short === "" ? name.slice(0, MOST - 7) : short}_${shortHash(whole)}`;
}
