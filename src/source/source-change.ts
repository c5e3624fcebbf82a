/** One change of a file: a value at a path, or its removal. */
export interface SourceChange {
  path: readonly (string | number)[];
  /** Undefined removes it. */
  value: unknown;
}

/** The content of a file after a change. */
export function changed(content: unknown, { path: [key, ...rest], value }: SourceChange): unknown {
  if (key === undefined) return value;
  if (Array.isArray(content)) {
    const items: unknown[] = [...(content as unknown[])];
    const item = changed(items[Number(key)], { path: rest, value });
    items.splice(Number(key), 1, ...(item === undefined ? [] : [item]));
    return items;
  }
  // A map instead of an object, so that a key named __proto__ stays a key.
  const members = new Map<string, unknown>(Object.entries(content ?? {}));
  const member = changed(members.get(String(key)), { path: rest, value });
  if (member === undefined) members.delete(String(key));
  else members.set(String(key), member);
  return Object.fromEntries(members);
}
