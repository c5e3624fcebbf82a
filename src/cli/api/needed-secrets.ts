import { secretNames } from "../../workshop/file/secret-names.ts";
import type { ToolFile } from "../../workshop/file/tool-file.ts";

/** The names under which its secrets have to be stored. */
export function neededSecrets({ api, secrets }: ToolFile): string[] {
  return [...new Set(Object.values(secrets).flatMap(secretNames))].map((name) => `${api}.${name}`);
}
