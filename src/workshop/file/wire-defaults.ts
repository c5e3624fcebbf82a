import type { FieldSpec, ToolFile } from "./model/tool-file.ts";
import { fieldsTaken, usesOf, type Use } from "./read/uses.ts";

/**
 * Fills in where fields stand that say nothing about it: under their own name, except that what path, query or headers
 * take is not in the body as well, that what is computed or constant in an answer is not read from it, and that a list
 * in XML is an element that repeats.
 */
export function withWires(file: ToolFile, isWritten: (type: string, field: string) => boolean): ToolFile {
  const uses = usesOf(file);
  const taken = new Set(
    Object.values(file.tools)
      .filter(({ request }) => request.body !== undefined)
      .flatMap(({ input, request }) => fieldsTaken(request).map((field) => `${input}.${field}`)),
  );
  const types = Object.entries(file.types).map(([name, type]) => {
    const fields = Object.entries(type.fields).map(([field, spec]) => {
      if (isWritten(name, field)) return [field, spec];
      return [field, taken.has(`${name}.${field}`) ? { ...spec, wire: false } : withWire(spec, uses.get(name))];
    });
    return [name, { ...type, fields: Object.fromEntries(fields) }];
  });
  return { ...file, types: Object.fromEntries(types) };
}

function withWire(field: FieldSpec, use: Use | undefined): FieldSpec {
  const isOutput = use?.sides.has("output") === true && !use.sides.has("input");
  if (isOutput && (field.const !== undefined || field.value !== undefined)) return { ...field, wire: false };
  const isXml = use?.as.has("xml") === true && use.as.size === 1;
  return isXml && field.shape.kind === "list" ? { ...field, wire: `${String(field.wire)}[]` } : field;
}
