import { NexusError } from "../../../errors/nexus-error.ts";
import { findRequestTool } from "../../file/model/request-tools.ts";
import type { FieldSpec, FixedValue, ParameterStyle, ScalarShape, ToolFile } from "../../file/model/tool-file.ts";
import { encodePath, headerText, unsuitable } from "./address.ts";
import { percentEncoded } from "./form-text.ts";
import { Mismatch, scalarOf } from "../record/scalar.ts";
import { type Fields, own } from "../record/record-source.ts";

/** The parts of a request besides its body. */
export interface RequestParts {
  /** Relative to the base, encoded. */
  path: string;
  /** Encoded, without a question mark; empty for none. */
  query: string;
  headers: Record<string, string>;
}

type Texts = (value: Fields) => string[];

/** Prepares how a tool's arguments go into path, query and headers. */
export function requestPartsFor(file: ToolFile, tool: string): (value: Fields) => RequestParts {
  const spec = findRequestTool(file, tool);
  const type = spec && file.types[spec.input];
  if (!spec || !type) throw new NexusError("CONFIG_INVALID", `There is no tool "${tool}"`);
  const textsOf = (field: string): Texts => {
    const its = Object.hasOwn(type.fields, field) ? type.fields[field] : undefined;
    if (!its)
      throw new NexusError("CONFIG_INVALID", `tools.${tool}.request: there is no field "${field}" in ${spec.input}`);
    return textsFor(field, its);
  };
  const { path, query, headers } = spec.request;
  const inPath = new Map([...path.matchAll(/\{([^{}]+)\}/g)].map(([, field = ""]) => [field, textsOf(field)]));
  const inQuery = Object.entries(query).map(([name, parameter]) => {
    const { field, style } = ofField(parameter, tool, name);
    return { encodedName: percentEncoded(name, field), field, style, texts: textsOf(field) };
  });
  const inHeaders = Object.entries(headers).map(([name, header]) => {
    const { field } = ofField(header, tool, name);
    return { name, field, texts: textsOf(field) };
  });
  return (value) => {
    const pairs: string[] = [];
    for (const parameter of inQuery) pairs.push(...inAddress(parameter, parameter.texts(value)));
    const written: Record<string, string> = {};
    for (const { name, field, texts } of inHeaders) {
      const all = texts(value);
      if (all.length > 0) written[name] = headerText(all.join(", "), field);
    }
    return {
      path: inPath.size === 0 ? path : encodePath(path, (field) => inPath.get(field)?.(value)[0]),
      query: pairs.join("&"),
      headers: written,
    };
  };
}

function ofField(
  parameter: string | { field: string; style: ParameterStyle } | FixedValue,
  tool: string,
  name: string,
): { field: string; style: ParameterStyle } {
  if (typeof parameter === "string") return { field: parameter, style: "repeat" };
  if ("field" in parameter) return parameter;
  throw new NexusError(
    "CONFIG_INVALID",
    `tools.${tool}.request: "${name}" is a fixed value, which is not possible yet`,
  );
}

function inAddress(
  { encodedName, field, style }: { encodedName: string; field: string; style: string },
  texts: readonly string[],
): string[] {
  if (style === "repeat") return texts.map((text) => `${encodedName}=${percentEncoded(text, field)}`);
  if (texts.length === 0) return [];
  // The reader splits after decoding, so an encoded comma would also split.
  if (texts.some((text) => text.includes(","))) throw unsuitable(field, "must not contain commas");
  return [`${encodedName}=${texts.map((text) => percentEncoded(text, field)).join(",")}`];
}

/** The texts of a field: none if it is absent, several for a list. */
function textsFor(field: string, { shape, const: constant }: FieldSpec): Texts {
  const single: ScalarShape | undefined =
    shape.kind === "scalar" ? shape : shape.kind === "list" && shape.of.kind === "scalar" ? shape.of : undefined;
  if (!single) throw new NexusError("CONFIG_INVALID", `The field "${field}" holds objects, which an address cannot`);
  const scalar = scalarOf(single);
  const write = (value: unknown, name: string): string => {
    const text = scalar.write(value);
    if (!(text instanceof Mismatch)) return text;
    if (value === constant) return String(constant);
    throw unsuitable(name, text.problem);
  };
  return (fields) => {
    const value = own(fields, field) ?? constant;
    if (value === undefined || value === null || (single.type === "presence" && value === false)) return [];
    if (!Array.isArray(value)) return [write(value, field)];
    return (value as unknown[]).map((item, index) => write(item, `${field}[${index}]`));
  };
}
