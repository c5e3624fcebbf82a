import { NexusError } from "../../../errors/nexus-error.ts";
import type { FieldSpec, RequestSpec, RequestToolSpec, ToolFile, Shape } from "../../file/model/tool-file.ts";
import { codecFor } from "../codec-for.ts";
import { unsuitable } from "../parameter/address.ts";
import { type Fields, own } from "../record/record-source.ts";
import { Mismatch, scalarOf } from "../record/scalar.ts";
import { bytesIn } from "./data-url.ts";
import { jsonValue, type JsonValue } from "../json/json-codec.ts";
import { flatName } from "../../file/model/member-names.ts";
import {
  belongsTo,
  namesBeside,
  plainPair,
  readPairs,
  requireFreeNames,
  writePairs,
  type PairReading,
} from "../parameter/pair-styles.ts";
import { ParameterTrees } from "../parameter/parameter-tree.ts";
import { kindOfParameter } from "../../shape/parameter-kind.ts";
import { randomUUID } from "node:crypto";

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

type PartSpec = NonNullable<RequestSpec["parts"]>[string];

interface FieldPlace {
  name: string;
  field: string;
  spec: FieldSpec;
  /** The names of the other fields, in small letters. */
  taken: ReadonlySet<string>;
}

/** How one field is written as parts, and read back. */
interface FieldParts extends FieldPlace {
  write: (value: unknown) => MultipartPart[];
  isOwn: (part: MultipartPart) => boolean;
  read: (parts: readonly MultipartPart[], problems: string[]) => unknown;
}

/** The fields of a type as parts of a multipart body: bytes are files, single values texts, all others JSON. */
class MultipartFields {
  readonly #file: ToolFile;
  readonly #trees: ParameterTrees;
  readonly #fields: FieldParts[];

  constructor(file: ToolFile, type: string, parts: NonNullable<RequestSpec["parts"]>) {
    this.#file = file;
    this.#trees = new ParameterTrees(file);
    const fields = file.types[type]?.fields ?? {};
    this.#fields = Object.entries(fields).flatMap(([field, spec]) => {
      if (spec.wire === false || spec.side === "output") return [];
      if (spec.wire === ".")
        throw new NexusError("CONFIG_INVALID", `The field "${field}" needs a name in a multipart body`);
      return [
        this.#parts(
          { name: flatName(spec.wire), field, spec, taken: namesBeside(fields, field) },
          Object.hasOwn(parts, field) ? (parts[field] ?? {}) : {},
        ),
      ];
    });
  }

  write(value: Fields): MultipartPart[] {
    return this.#fields.flatMap(({ field, spec, write }) => {
      const given = own(value, field) ?? spec.const;
      return given === undefined || given === null ? [] : write(given);
    });
  }

  read(given: readonly MultipartPart[]): { input: Fields; problems: string[] } {
    const input: Fields = {};
    const problems: string[] = [];
    const left = new Set(given);
    for (const { field, spec, isOwn, read } of this.#fields) {
      const parts = [...left].filter(isOwn);
      for (const part of parts) left.delete(part);
      const value = parts.length === 0 ? absent(field, spec, problems) : read(parts, problems);
      if (value !== undefined) input[field] = value;
      if (spec.const !== undefined && value !== spec.const)
        problems.push(`${field}: expected ${JSON.stringify(spec.const)}`);
    }
    for (const { name } of left) problems.push(`${name}: unknown part`);
    return { input, problems };
  }

  #parts(at: FieldPlace, part: PartSpec): FieldParts {
    const { shape } = at.spec;
    const inner = shape.kind === "list" ? shape.of : shape;
    if (inner.kind === "scalar" && inner.type === "binary") return ofBytes(at, shape.kind === "list", part);
    const isJson = part.style === "json" || (part.style === undefined && isJsonType(part.contentType));
    const isPlain = inner.kind === "scalar" || kindOfParameter(this.#file, inner) === "single";
    if (isJson || (!isPlain && part.style === undefined)) return ofJson(at, jsonValue(this.#file, shape), part);
    return this.#ofTexts(at, shape, part);
  }

  #ofTexts(at: FieldPlace, shape: Shape, part: PartSpec): FieldParts {
    const { name, field } = at;
    const trees = this.#trees;
    const { style = "repeat", contentType } = part;
    const kind = kindOfParameter(this.#file, shape) ?? "single";
    const type = shape.kind === "object" ? this.#file.types[shape.type] : undefined;
    const members = new Set(
      Object.values(type?.fields ?? {}).map(({ wire }) => (wire === false ? wire : flatName(wire))),
    );
    const how: PairReading = { name, style, kind, isMember: (given) => members.has(given) };
    return {
      ...at,
      write: (value) => {
        const tree =
          at.spec.const !== undefined && value === at.spec.const
            ? trees.constant(shape, at.spec.const)
            : trees.write(shape, value, field);
        const written = tree === undefined ? [] : writePairs(name, style, tree, field);
        const pairs = style === "deep" ? written : requireFreeNames(written, { name, field, taken: at.taken });
        return pairs
          .map(plainPair)
          .map(([partName, text]) => ({ name: partName, contentType, content: Buffer.from(text) }));
      },
      isOwn: (given) => belongsTo(how, given.name),
      read: (parts, problems) => {
        const tree = readPairs(
          how,
          parts.map((each) => [each.name, textIn(each)] as const),
        );
        if (at.spec.const !== undefined && tree === trees.constant(shape, at.spec.const)) return at.spec.const;
        return tree === undefined ? undefined : trees.read(shape, tree, field, problems);
      },
    };
  }
}

function ofBytes(at: FieldPlace, isList: boolean, part: PartSpec): FieldParts {
  const partOf = (value: unknown, field: string): MultipartPart => {
    const given = bytesIn(value);
    if (!given) throw unsuitable(field, "expected base64 or a data URL");
    return {
      name: at.name,
      fileName: part.fileName ?? given.fileName ?? at.name,
      contentType: part.contentType ?? given.contentType ?? "application/octet-stream",
      content: given.bytes,
    };
  };
  return {
    ...at,
    write: (value) => {
      if (!isList) return [partOf(value, at.field)];
      if (!Array.isArray(value)) throw unsuitable(at.field, "must be a list");
      return (value as unknown[]).map((item, index) => partOf(item, `${at.field}[${index}]`));
    },
    isOwn: ({ name }) => name === at.name,
    read: (parts, problems) => {
      const texts = parts.map(({ content }) => Buffer.from(content).toString("base64"));
      if (parts.some(({ fileName }) => fileName === undefined)) problems.push(`${at.field}: expected a file`);
      if (isList) return texts;
      if (texts.length > 1) problems.push(`${at.field}: is given more than once`);
      return texts[0];
    },
  };
}

function ofJson(at: FieldPlace, json: JsonValue, part: PartSpec): FieldParts {
  const contentType = part.contentType ?? "application/json";
  return {
    ...at,
    write: (value) => [{ name: at.name, contentType, content: Buffer.from(json.encode(value, at.field)) }],
    isOwn: ({ name }) => name === at.name,
    read: (parts, problems) => {
      const [first, second] = parts;
      if (second) problems.push(`${at.field}: is given more than once`);
      const { value, deviations } = json.decode(first ? textIn(first) : "", at.field);
      for (const { path, problem } of deviations) problems.push(`${path}: ${problem}`);
      return value;
    },
  };
}

function absent(field: string, { shape, optional, default: standard }: FieldSpec, problems: string[]): unknown {
  if (shape.kind === "list" && (optional || (shape.minItems ?? 0) === 0)) return [];
  if (!optional && standard === undefined) problems.push(`${field}: missing`);
  return standard;
}

function textIn({ content }: MultipartPart): string {
  return Buffer.from(content).toString("utf8");
}

function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && /[/+]json\b/i.test(contentType);
}

/** One part of a multipart body. */
interface MultipartPart {
  name: string;
  fileName?: string | undefined;
  contentType?: string | undefined;
  content: Uint8Array;
}

const MAX_PARTS = 1_000;
const BREAK = "\r\n";

/** A multipart/form-data body with a random boundary, so that no content can contain it. */
function writeMultipart(parts: readonly MultipartPart[]): { contentType: string; body: Uint8Array } {
  const boundary = `nexus-${randomUUID()}`;
  const pieces = parts.flatMap(({ name, fileName, contentType, content }) => {
    const file = fileName === undefined ? "" : `; filename="${quoted(fileName)}"`;
    const type = contentType === undefined ? "" : `${BREAK}Content-Type: ${contentType}`;
    const head = `--${boundary}${BREAK}Content-Disposition: form-data; name="${quoted(name)}"${file}${type}`;
    return [Buffer.from(`${head}${BREAK}${BREAK}`), content, Buffer.from(BREAK)];
  });
  const body = Buffer.concat([...pieces, Buffer.from(`--${boundary}--${BREAK}`)]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

/** As browsers write them: these characters would end the name or begin another header. */
function quoted(text: string): string {
  return text.replaceAll("%22", "%2522").replaceAll(/["\r\n]/g, (found) => PERCENT[found] ?? "");
}

const PERCENT: Record<string, string> = { '"': "%22", "\r": "%0D", "\n": "%0A" };

/** The parts of a multipart body; throws PROTOCOL_VIOLATION if it is none. */
function readMultipart(body: Uint8Array, contentType: string): MultipartPart[] {
  const [, plain, inQuotes = plain] = /;\s*boundary=(?:([^\s;"]{1,70})|"([^"]{1,70})")/i.exec(contentType) ?? [];
  if (inQuotes === undefined) throw unreadable("its content type has no boundary");
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const mark = Buffer.from(`--${inQuotes}`);
  const parts: MultipartPart[] = [];
  let at = bytes.indexOf(mark);
  if (at === -1) throw unreadable("its boundary does not occur");
  for (;;) {
    const start = at + mark.length;
    if (bytes.subarray(start, start + 2).toString("latin1") === "--") return parts;
    const end = bytes.indexOf(Buffer.concat([Buffer.from(BREAK), mark]), start);
    if (end === -1) throw unreadable("its last part does not end");
    if (parts.length >= MAX_PARTS) throw unreadable(`it has more than ${MAX_PARTS} parts`);
    parts.push(readPart(bytes.subarray(start + 2, end)));
    at = end + 2;
  }
}

function readPart(bytes: Buffer): MultipartPart {
  const isBare = bytes.subarray(0, 2).toString("latin1") === BREAK;
  const headEnd = isBare ? 0 : bytes.indexOf(BREAK + BREAK);
  if (headEnd === -1) throw unreadable("a part has no headers");
  const head = bytes.subarray(0, headEnd).toString("utf8");
  const [, name] = /;\s*name="([^"]*)"/i.exec(head) ?? [];
  if (name === undefined) throw unreadable("a part has no name");
  const [, fileName] = /;\s*filename="([^"]*)"/i.exec(head) ?? [];
  const [, type] = /^content-type:\s*(\S[^\r\n]*)$/im.exec(head) ?? [];
  return {
    name: unquoted(name),
    ...(fileName === undefined ? {} : { fileName: unquoted(fileName) }),
    ...(type === undefined ? {} : { contentType: type.trim() }),
    content: bytes.subarray(headEnd + (isBare ? 2 : 4)),
  };
}

function unquoted(text: string): string {
  return text.replaceAll(/%(22|0D|0A|2522)/g, (found) => UNQUOTED[found] ?? found);
}

const UNQUOTED: Record<string, string> = { "%22": '"', "%0D": "\r", "%0A": "\n", "%2522": "%22" };

function unreadable(problem: string): NexusError {
  return new NexusError("PROTOCOL_VIOLATION", `The multipart body cannot be read: ${problem}`, {
    mayHaveReached: true,
  });
}
