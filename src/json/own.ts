export type Fields = Record<string, unknown>;

/** A member that the object itself has: a field may be called `constructor`. */
export function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
