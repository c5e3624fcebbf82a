import type { SecretsSpec } from "./tool-file.ts";

/** The input fields in the name of a secret. */
export function fieldsInName(name: string): string[] {
  return [...name.matchAll(/\{([^{}]*)\}/g)].map(([, field = ""]) => field);
}

/** All secret names of a set. */
export function secretNames({ query, headers, bearer, basic }: SecretsSpec): string[] {
  const named = [...Object.values(query), ...Object.values(headers), bearer, basic?.user, basic?.password];
  return [...new Set(named.filter((name) => name !== undefined))];
}
