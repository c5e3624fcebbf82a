import { requestTools } from "../model/request-tools.ts";
import type { FieldSpec, ToolFile } from "../model/tool-file.ts";
import { discriminatorFields } from "./discriminator-fields.ts";
import { fieldsTaken, usesOf, type Use } from "./uses.ts";

/**
 * Adds the default wire paths: a field has its own name, except that fields in path, query or headers, also of an answer, are
 * not in the body, computed and constant fields of an answer are not read from it unless they tell types apart, and a list in
 * XML is a repeated element.
 */
export function withWires(file: ToolFile, isWritten: (type: string, field: string) => boolean): ToolFile {
  const uses = usesOf(file);
  const taken = new Set(
    requestTools(file)
      .filter(([, { request }]) => request.body !== undefined)
      .flatMap(([, { input, request }]) => fieldsTaken(request).map((field) => `${input}.${field}`)),
  );
  for (const { response } of Object.values(file.tools)) {
    for (const field of Object.values(response.headers ?? {})) taken.add(`${response.type ?? ""}.${field}`);
  }
  const tags = discriminatorFields(file.types);
  const types = Object.entries(file.types).map(([name, type]) => {
    const fields = Object.entries(type.fields).map(([field, spec]) => {
      if (isWritten(name, field) || tags.has(`${name}.${field}`)) return [field, spec];
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
