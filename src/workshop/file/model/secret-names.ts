import type { SecretsSpec } from "./tool-file.ts";

/** The fields of the input that a name of a secret takes. */
export function fieldsInName(name: string): string[] {
  return [...name.matchAll(/\{([^{}]*)\}/g)].map(([, field = ""]) => field);
}

/** All names of secrets that a set uses. */
export function secretNames({ query, headers, bearer, basic }: SecretsSpec): string[] {
  const named = [...Object.values(query), ...Object.values(headers), bearer, basic?.user, basic?.password];
  return [...new Set(named.filter((name) => name !== undefined))];
}
