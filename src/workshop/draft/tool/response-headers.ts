import type { ResponseFacts } from "../../documents/api-facts.ts";
import type { FieldSpec } from "../../file/model/tool-file.ts";
import { fieldNameFor } from "../names/field-names.ts";
import { fieldText } from "../texts.ts";
import type { TypeDrafter } from "../types/type-drafter.ts";

/** Headers that tell a caller something about the answer; those about the connection do not. */
const TELLING =
  /^(?:x-total(?:-count|-pages)?|x-count|x-next(?:-page)?|x-page(?:-count)?|x-has-more|link|location|content-location|x-(?:next-)?cursor)$/i;

/** Documented response headers that become fields of the answer, by header. */
export function shownHeaders(
  { headers }: ResponseFacts,
  types: TypeDrafter,
  about: string,
): Map<string, { field: string; spec: FieldSpec }> {
  const shown = new Map<string, { field: string; spec: FieldSpec }>();
  for (const { name, description, schema, evidence } of headers) {
    if (!TELLING.test(name)) continue;
    const { shape } = types.shapeOf(schema, { form: "flat", name: "", about });
    if (shape.kind !== "scalar") continue;
    const { enum: _enum, pattern: _pattern, ...rest } = shape;
    const field = `${fieldNameFor(name.replace(/^x-/i, "").toLowerCase())}Header`;
    const text = fieldText(description === undefined ? {} : { description });
    shown.set(name, {
      field,
      spec: {
        ...(text === undefined ? {} : { description: text }),
        wire: false,
        shape: rest,
        optional: true,
        hidden: false,
        evidence: [evidence],
      },
    });
  }
  return shown;
}
