import { readFileSync } from "node:fs";
import { compileApi, type CompiledApi } from "../../../src/workshop/compile/compile.ts";
import type { ApiFacts } from "../../../src/workshop/documents/api-facts.ts";
import { readManual } from "../../../src/workshop/documents/manual/read-manual.ts";
import { parseDocument } from "../../../src/workshop/documents/parse-document.ts";
import { draftToolFile, type Draft } from "../../../src/workshop/draft/draft-tool-file.ts";
import type { FieldSpec, Shape, ToolFile } from "../../../src/workshop/file/model/tool-file.ts";

/** A manual as it is imported: the facts, the draft and what is compiled of it. */
export interface DraftedManual {
  text: string;
  facts: ApiFacts;
  draft: Draft;
  file: ToolFile;
  api: CompiledApi;
}

export async function draftManual(text: string, fileName = "manual.md"): Promise<DraftedManual> {
  const document = parseDocument(text, "manual", fileName);
  const facts = await readManual(document);
  const documents = { manual: { file: fileName, sha256: document.sha256 } };
  const draft = draftToolFile(facts, { api: "manual", documents });
  if (!draft.file) throw new Error(`the draft has errors: ${JSON.stringify(draft.problems)}`);
  const { api } = compileApi(draft.file, { manual: text });
  if (!api) throw new Error("the draft does not compile");
  return { text, facts, draft, file: draft.file, api };
}

export function repositoryFile(path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
}

/** One value of a message: its place from the document's root, what it is, and its limits. */
export interface Leaf {
  path: string;
  kind: string;
  field: FieldSpec;
  limits: Record<string, number>;
  /** What the field, and those around it, cite. */
  places: string[];
}

/** All values of a type by their full paths: `room_availability/members/member[]/@hotel_id`. */
export function leavesOf(file: ToolFile, type: string, prefix?: string, depth = 0): Leaf[] {
  const spec = file.types[type];
  if (!spec || depth > 30) return [];
  const root = prefix ?? spec.xml.element ?? "";
  return Object.values(spec.fields).flatMap((field) => {
    if (field.wire === false) return [];
    const steps = field.wire.replaceAll(/\[@\w+=[^\]]*\](?:\[\])?/g, "[]");
    const isMarked = steps.includes("[]") || field.shape.kind !== "list";
    const path = `${root}/${steps}${isMarked ? "" : "[]"}`;
    return leavesOfShape(file, field.shape, { field, path, limits: {}, places: field.evidence }, depth);
  });
}

function leavesOfShape(file: ToolFile, shape: Shape, at: Omit<Leaf, "kind">, depth: number): Leaf[] {
  switch (shape.kind) {
    case "object":
      return leavesOf(file, shape.type, at.path, depth + 1).map((leaf) => ({
        ...leaf,
        limits: { ...at.limits, ...leaf.limits },
        places: [...at.places, ...leaf.places],
      }));
    case "list": {
      const { minItems, maxItems } = shape;
      const limits = numbers({ minItems, maxItems });
      return leavesOfShape(file, shape.of, { ...at, limits: { ...at.limits, ...limits } }, depth);
    }
    case "scalar": {
      const { codes, type, minimum, maximum, minLength, maxLength } = shape;
      const kind = at.field.const === undefined ? (codes ? "codes" : type) : "const";
      return [{ ...at, kind, limits: { ...at.limits, ...numbers({ minimum, maximum, minLength, maxLength }) } }];
    }
    case "map":
    case "union":
    case "any":
      return [{ ...at, kind: shape.kind }];
  }
}

function numbers(values: Record<string, number | undefined>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
