import { NexusError } from "../../../errors/nexus-error.ts";
import type { FieldSpec, RequestSpec, Shape, ToolFile } from "../../file/model/tool-file.ts";
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
import { type Fields, own } from "../record/record-source.ts";
import { unsuitable } from "../parameter/address.ts";
import { bytesIn } from "./data-url.ts";
import type { MultipartPart } from "./multipart.ts";

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
export class MultipartFields {
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
