import { NexusError } from "../../../errors/nexus-error.ts";
import type { FieldSpec, RequestSpec, RequestToolSpec, ToolFile } from "../../file/model/tool-file.ts";
import { codecFor } from "../codec-for.ts";
import { unsuitable } from "../parameter/address.ts";
import { type Fields, own } from "../record/record-source.ts";
import { Mismatch, scalarOf } from "../record/scalar.ts";
import { bytesIn } from "./data-url.ts";
import { MultipartFields } from "./multipart-codec.ts";
import { readMultipart, writeMultipart } from "./multipart.ts";

interface WrittenBody {
  contentType: string;
  body: string | Uint8Array;
}

/** Writes the bodies of a tool's requests, and reads them again: strictly, for the fake. */
export interface RequestBody {
  /** Undefined if there is none, because none of its fields is given and it is optional. */
  write(value: Fields): WrittenBody | undefined;
  read(body: Uint8Array, contentType: string): { input: Fields; problems: string[] };
}

const CONTENT_TYPES = {
  xml: "application/xml; charset=utf-8",
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  multipart: "multipart/form-data",
  binary: "application/octet-stream",
  text: "text/plain; charset=utf-8",
} as const;

/** Undefined for requests without a body. Errors in the file are CONFIG_INVALID. */
export function requestBodyFor(file: ToolFile, spec: RequestToolSpec): RequestBody | undefined {
  const { request, input } = spec;
  if (request.body === undefined) return undefined;
  const body = bodyOf(file, spec, request.body);
  const type = file.types[input];
  const expected = request.contentType ?? CONTENT_TYPES[request.body];
  const isAnyType = request.body === "binary" && request.contentType === undefined;
  return {
    write: (value) => (request.bodyOptional && !isGiven(type?.fields ?? {}, value) ? undefined : body.write(value)),
    read: (bytes, contentType) => {
      const isAbsent = request.bodyOptional === true && bytes.length === 0 && contentType === "";
      if (isAbsent) return { input: {}, problems: [] };
      const isRight = isAnyType || mediaType(contentType) === mediaType(expected);
      const given = contentType === "" ? "missing" : mediaType(contentType);
      const wrong = isRight ? [] : [`the content type is ${given}, not ${mediaType(expected)}`];
      const { input: read, problems } = reading(() => body.read(bytes, contentType));
      return { input: read, problems: [...wrong, ...problems] };
    },
  };
}

function bodyOf(
  file: ToolFile,
  { input, request }: RequestToolSpec,
  as: NonNullable<RequestSpec["body"]>,
): RequestBody {
  const contentType = request.contentType ?? CONTENT_TYPES[as];
  switch (as) {
    case "xml":
    case "json":
    case "form": {
      const codec = codecFor(file, input, as, { side: "input", parts: request.parts });
      return {
        write: (value) => ({ contentType, body: codec.encode(value) }),
        read: (bytes) => {
          const { value, deviations } = codec.decode(bytes);
          return { input: value, problems: deviations.map(({ path, problem }) => `${path}: ${problem}`) };
        },
      };
    }
    case "multipart": {
      const fields = new MultipartFields(file, input, request.parts ?? {});
      return {
        write: (value) => {
          const written = writeMultipart(fields.write(value));
          const own =
            request.contentType && written.contentType.replace("multipart/form-data", mediaType(request.contentType));
          return { ...written, contentType: own ?? written.contentType };
        },
        read: (bytes, given) => fields.read(readMultipart(bytes, given)),
      };
    }
    case "binary":
      return binaryBody(wholeField(file, input), request.contentType);
    case "text":
      return textBody(wholeField(file, input), contentType);
  }
}

function binaryBody([field, spec]: [string, FieldSpec], contentType: string | undefined): RequestBody {
  return {
    write: (value) => {
      const given = own(value, field);
      const bytes = bytesIn(given ?? "");
      if (!bytes) throw unsuitable(field, "expected base64 or a data URL");
      return { contentType: contentType ?? bytes.contentType ?? CONTENT_TYPES.binary, body: bytes.bytes };
    },
    read: (bytes) => {
      const isMissing = bytes.length === 0 && spec.optional;
      return { input: isMissing ? {} : { [field]: Buffer.from(bytes).toString("base64") }, problems: [] };
    },
  };
}

function textBody([field, { shape }]: [string, FieldSpec], contentType: string): RequestBody {
  if (shape.kind !== "scalar") throw new NexusError("CONFIG_INVALID", `The field "${field}" is not a text`);
  const scalar = scalarOf(shape);
  return {
    write: (value) => {
      const given = own(value, field);
      const text = given === undefined || given === null ? "" : scalar.write(given);
      if (text instanceof Mismatch) throw unsuitable(field, text.problem);
      return { contentType, body: text };
    },
    read: (bytes) => {
      const value = scalar.read(Buffer.from(bytes).toString("utf8"));
      if (value instanceof Mismatch) return { input: {}, problems: [`${field}: ${value.problem}`] };
      return { input: { [field]: value }, problems: [] };
    },
  };
}

/** The one field that is the body. */
function wholeField(file: ToolFile, input: string): [string, FieldSpec] {
  const found = Object.entries(file.types[input]?.fields ?? {}).find(([, { wire }]) => wire === ".");
  if (found) return found;
  throw new NexusError("CONFIG_INVALID", `types.${input}: no field is the whole body`, {
    hint: `Write wire: "." at one.`,
  });
}

function isGiven(fields: Record<string, FieldSpec>, value: Fields): boolean {
  return Object.entries(fields).some(([name, { wire, side, nullable, const: constant }]) => {
    if (wire === false || side === "output" || constant !== undefined) return false;
    const given = own(value, name);
    return given !== undefined && (given !== null || nullable === true);
  });
}

function mediaType(contentType: string): string {
  return (contentType.split(";")[0] ?? "").trim().toLowerCase();
}

function reading(read: () => { input: Fields; problems: string[] }): { input: Fields; problems: string[] } {
  try {
    return read();
  } catch (error) {
    if (error instanceof NexusError) return { input: {}, problems: [error.message] };
    throw error;
  }
}
