import { isDeepStrictEqual } from "node:util";
import { changed } from "../../source/source-change.ts";
import { parseBoundedYaml } from "../../source/bounded-yaml.ts";
import { editYaml } from "../../source/yaml-edit.ts";
import { changeYamlInPlace } from "../../source/yaml-in-place.ts";
import { spliceYaml } from "../../source/yaml-splice.ts";

/** The value for a path; `remove` removes it. Missing parents are added. */
export type ToolFileChange =
  | { path: readonly (string | number)[]; value: unknown }
  | { path: readonly (string | number)[]; remove: true };

/**
 * Changes a tool file and keeps comments, order and layout. If a change is not possible in place, the file is formatted
 * again with its comments.
 */
export function editToolFile(text: string, changes: readonly ToolFileChange[]): string {
  return changes.reduce((edited, change) => {
    const plain = { path: change.path, value: "remove" in change ? undefined : change.value };
    const wanted = changed(valueOf(edited), plain);
    for (const apply of [changeYamlInPlace, spliceYaml]) {
      const after = attempted(() => apply(edited, [plain]));
      if (after !== undefined && isDeepStrictEqual(valueOf(after), wanted)) return after;
    }
    return editYaml(edited, [plain]);
  }, text);
}

function valueOf(text: string): unknown {
  const document = parseBoundedYaml(text);
  if (document.errors.length > 0) return document.errors;
  return document.toJS({ maxAliasCount: 100 });
}

function attempted(attempt: () => string): string | undefined {
  try {
    return attempt();
  } catch (error) {
    // Changes that are not possible in place are made the other way.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
