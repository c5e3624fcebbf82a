import type { ToolFile } from "../../workshop/file/tool-file.ts";

/** The names under which its secrets have to be stored. */
export function neededSecrets({ api, secrets }: ToolFile): string[] {
  const names = Object.values(secrets).flatMap(({ query, headers, bearer, basic }) => [
    ...Object.values(query),
    ...Object.values(headers),
    ...(bearer === undefined ? [] : [bearer]),
    ...(basic ? [basic.user, basic.password] : []),
  ]);
  return [...new Set(names)].map((name) => `${api}.${name}`);
}
