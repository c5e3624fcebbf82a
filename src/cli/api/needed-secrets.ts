import { secretNames } from "../../workshop/file/secret-names.ts";
import type { ToolFile } from "../../workshop/file/tool-file.ts";

/** The names under which its secrets have to be stored for a server; one that is called like the API unless given. */
export function neededSecrets({ api, secrets }: ToolFile, server = api): string[] {
  return [...new Set(Object.values(secrets).flatMap(secretNames))].map((name) => `${server}.${name}`);
}
