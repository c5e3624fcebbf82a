import type { SecretsSpec, ToolFile } from "./tool-file.ts";

/** The input fields in the name of a secret. */
export function fieldsInName(name: string): string[] {
  return [...name.matchAll(/\{([^{}]*)\}/g)].map(([, field = ""]) => field);
}

/** All secret names of a set. */
export function secretNames({ query, headers, bearer, basic }: SecretsSpec): string[] {
  const named = [...Object.values(query), ...Object.values(headers), bearer, basic?.user, basic?.password];
  return [...new Set(named.filter((name) => name !== undefined))];
}

/** The names under which its secrets have to be stored for a server; default: a server with the name of the API. */
export function neededSecrets({ api, secrets }: ToolFile, server = api): string[] {
  return [...new Set(Object.values(secrets).flatMap(secretNames))].map((name) => `${server}.${name}`);
}
