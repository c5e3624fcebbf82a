import { evaluate } from "../expression/evaluate.ts";
import { namesIn } from "../expression/names.ts";
import { parseExpression } from "../expression/parse.ts";
import type { ToolFile } from "../file/tool-file.ts";

/** What a value says against the rules of its type, and of the types inside of it. */
export function checkRules(file: ToolFile, type: string, value: Record<string, unknown>): string[] {
  const spec = file.types[type];
  if (!spec) return [];
  const own = spec.rules
    .filter(({ that }) => {
      const e = parseExpression(that);
      return namesIn(e).every((n) => value[n] !== undefined) && evaluate(e, value) === false;
    })
    .map(({ say }) => say);
  const inner = Object.entries(spec.fields).flatMap(([name, { shape }]) => {
    const of = shape.kind === "list" ? shape.of : shape;
    if (of.kind !== "object") return [];
    const items =
      shape.kind === "list"
        ? ((value[name] as Record<string, unknown>[] | undefined) ?? [])
        : value[name]
          ? [value[name] as Record<string, unknown>]
          : [];
    return items.flatMap((item) => checkRules(file, of.type, item));
  });
  return [...own, ...inner];
}
