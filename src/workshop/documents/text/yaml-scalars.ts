/** Thrown where the text is not simple YAML: the library reads it, or says what is wrong. */
export class NotSimple extends Error {}

export function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  // Assigning to this name would change the prototype.
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}
