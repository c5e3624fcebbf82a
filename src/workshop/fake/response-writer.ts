import { bytesIn } from "../codec/body/data-url.ts";
import { codecFor } from "../codec/codec-for.ts";
import { scalarOf } from "../codec/record/scalar.ts";
import type { FieldSpec, RequestToolSpec, ToolFile } from "../file/model/tool-file.ts";
import { isRecord } from "../../json/is-record.ts";
import type { FakeReply } from "./reply.ts";

/** Writes a value of a tool's answer as the upstream would; a text is written as text. */
export type ResponseWriter = (value: unknown, status: number) => Omit<FakeReply, "status">;

const TYPES = { xml: "application/xml; charset=utf-8", json: "application/json" } as const;
const TEXT = "text/plain; charset=utf-8";

export function responseWriterFor(file: ToolFile, { response }: RequestToolSpec): ResponseWriter {
  const { as, type, headers = {} } = response;
  const fields = type === undefined ? {} : (file.types[type]?.fields ?? {});
  const format = as === "auto" ? "json" : as;
  const codec =
    type !== undefined && (format === "xml" || format === "json")
      ? { as: format, ...codecFor(file, type, format, { side: "output" }) }
      : undefined;
  return (value, status) => {
    if (typeof value === "string") return ofText(value, as === "binary" && status < 300);
    if (!isRecord(value)) return { type: TEXT, body: "" };
    const written = headersOf(headers, fields, value);
    const { content } = value;
    if (!codec) return { ...ofText(typeof content === "string" ? content : "", as === "binary"), headers: written };
    return { type: TYPES[codec.as], body: codec.encode(value), as: codec.as, headers: written };
  };
}

/** A binary answer is given as base64 or as a data URL. */
function ofText(text: string, isBinary: boolean): Omit<FakeReply, "status"> {
  const given = isBinary ? bytesIn(text) : undefined;
  if (!given) return { type: TEXT, body: text };
  return { type: given.contentType ?? "application/octet-stream", body: given.bytes };
}

/** The fields that stand in headers. */
function headersOf(
  headers: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, FieldSpec>>,
  value: Record<string, unknown>,
): Record<string, string> {
  const written = Object.entries(headers).flatMap(([header, field]) => {
    const given = value[field];
    const shape = fields[field]?.shape;
    const inner = shape?.kind === "list" ? shape.of : shape;
    if (given === undefined || given === null || inner?.kind !== "scalar") return [];
    const scalar = scalarOf(inner);
    const texts = [given].flat().map((each) => scalar.write(each));
    return [[header, texts.filter((text) => typeof text === "string").join(", ")] as const];
  });
  return Object.fromEntries(written);
}
