import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  isScalarType,
  print,
  astFromValue,
  type GraphQLEnumType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLScalarType,
} from "graphql";
import type { Evidence, SchemaFacts } from "../api-facts.ts";
import { plainSchema } from "../inferred-schema.ts";
import { TOP_LEVEL, type ObjectSelection, type FieldSelection, type Selections } from "./selection.ts";

/** What a field or an argument says about its value. */
interface Given {
  description?: string | null | undefined;
  deprecationReason?: string | null | undefined;
  defaultValue?: unknown;
}

/** A longer enumeration would fill the file and every definition. */
const MOST_LISTED = 2_000;
const MOST_VALUES = 12;
const MOST_VALUE_TEXT = 200;

/** The types of a GraphQL schema in the words of JSON Schema. */
export class GraphqlSchemas {
  readonly #places: GraphqlPlaces;
  readonly #selections: Selections;

  constructor(places: GraphqlPlaces, selections: Selections) {
    this.#places = places;
    this.#selections = selections;
  }

  /** An argument or a field of an input object. */
  input(type: GraphQLInputType, given: Given, evidence: Evidence): SchemaFacts {
    const inner = this.#inputValue(getNullableType(type), evidence);
    const described = told(inner, { ...given, description: withDefault(type, given) });
    return { ...inner, ...described, nullable: !isNonNullType(type), usedAt: evidence };
  }

  /** Undefined for a selection of a leaf. */
  output(
    type: GraphQLOutputType,
    selection: FieldSelection | undefined,
    place: { given: Given; evidence: Evidence },
  ): SchemaFacts {
    const { given, evidence } = place;
    const inner = this.#outputValue(getNullableType(type), selection, evidence);
    return { ...inner, ...told(inner, given), nullable: !isNonNullType(type), usedAt: evidence };
  }

  #inputValue(type: GraphQLInputType, evidence: Evidence): SchemaFacts {
    if (isListType(type)) {
      const item: GraphQLInputType = type.ofType;
      return listOf(evidence, () => ({ ...this.#inputValue(getNullableType(item), evidence), nullable: false }));
    }
    if (isInputObjectType(type)) return type.isOneOf ? this.#oneOf(type) : this.#inputObject(type);
    return this.#leaf(type, evidence);
  }

  #inputObject(type: GraphQLInputObjectType): SchemaFacts {
    const fields = Object.values(type.getFields()).filter(isSent);
    const members = fields.map((field) => {
      return [field.name, () => this.input(field.type, field, this.#places.of(type.name, field.name))] as const;
    });
    return {
      ...this.#named(type),
      types: ["object"],
      properties: new Map(members),
      required: new Set(fields.filter(isRequiredInputField).map(({ name }) => name)),
      additional: "none",
    };
  }

  /** Exactly one of the fields, and not null. */
  #oneOf(type: GraphQLInputObjectType): SchemaFacts {
    const alternatives = Object.values(type.getFields()).map((field) => (): SchemaFacts => {
      const evidence = this.#places.of(type.name, field.name);
      const only = () => ({ ...this.input(field.type, field, evidence), nullable: false });
      return {
        ...plainSchema(evidence, ["object"]),
        identity: `only ${type.name}.${field.name}`,
        name: `${type.name}_${field.name}`,
        properties: new Map([[field.name, only]]),
        required: new Set([field.name]),
        additional: "none",
      };
    });
    return { ...this.#named(type), oneOf: alternatives };
  }

  #outputValue(type: GraphQLOutputType, selection: FieldSelection | undefined, evidence: Evidence): SchemaFacts {
    if (isListType(type)) {
      const item: GraphQLOutputType = type.ofType;
      return listOf(evidence, () => ({
        ...this.#outputValue(getNullableType(item), selection, evidence),
        nullable: !isNonNullType(item),
      }));
    }
    if (selection?.kind === "object") return this.#object(selection, this.#nameOf(selection), selection.type.name);
    if (selection) return this.#abstract(selection);
    return this.#leaf(type as GraphQLScalarType | GraphQLEnumType, evidence);
  }

  #object(selection: ObjectSelection, name: string, identity: string, tag?: string): SchemaFacts {
    const { type, fields, text } = selection;
    const members = fields.map(({ key, field, inner }) => {
      const place = { given: field, evidence: this.#places.of(type.name, field.name) };
      return [key, () => this.output(field.type, inner, place)] as const;
    });
    const typename = () => ({ ...plainSchema(this.#places.of(type.name)), const: tag });
    const all = tag === undefined ? members : [["__typename", typename] as const, ...members];
    return {
      ...this.#named(type),
      identity: `selection ${identity} ${text}`,
      name,
      types: ["object"],
      properties: new Map(all),
      required: new Set(all.map(([key]) => key)),
    };
  }

  #abstract({ type, of, text }: FieldSelection & { kind: "abstract" }): SchemaFacts {
    const options = of.map((each): [string, () => SchemaFacts] => {
      const { name } = each.type;
      return [name, () => this.#object(each, `${type.name}_${name}`, `${type.name} ${name}`, name)];
    });
    const [only] = options;
    // With one alternative there is nothing to choose.
    if (options.length === 1 && only) return only[1]();
    return {
      ...this.#named(type),
      identity: `selection ${type.name} ${text}`,
      name: this.#isWhole(type, text) ? type.name : `${type.name}Brief`,
      oneOf: options.map(([, read]) => read),
      discriminator: { property: "__typename", mapping: Object.fromEntries(options) },
    };
  }

  /** `User` with everything, `UserBrief` without other objects, `UserPart` between them. */
  #nameOf({ type, text }: ObjectSelection): string {
    if (this.#isWhole(type, text)) return type.name;
    return this.#selections.of(type, 0)?.text === text ? `${type.name}Brief` : `${type.name}Part`;
  }

  #isWhole(type: FieldSelection["type"], text: string): boolean {
    return this.#selections.of(type, TOP_LEVEL)?.text === text;
  }

  #leaf(type: GraphQLScalarType | GraphQLEnumType, evidence: Evidence): SchemaFacts {
    if (isEnumType(type)) {
      const values = type.getValues();
      if (values.length > MOST_LISTED) {
        return {
          ...plainSchema(evidence),
          doubt: `The enumeration ${type.name} has ${values.length} values, too many to list: any text is accepted.`,
        };
      }
      const description = enumText(type);
      return {
        ...plainSchema(evidence),
        enum: values.map(({ name }) => name),
        ...(description !== undefined && { description }),
      };
    }
    const { isUnclear, ...facts } = scalarFacts(type);
    const description = type.description ?? undefined;
    const isOwn = !["Int", "Float", "String", "Boolean", "ID"].includes(type.name);
    return {
      ...plainSchema(evidence, facts.types),
      ...facts,
      ...(isOwn && description !== undefined && { description }),
      ...(isUnclear && {
        doubt: `The schema does not say what values of the scalar ${type.name} look like: any value is accepted. What are they?`,
      }),
    };
  }

  #named({ name, description }: { name: string; description?: string | null | undefined }): SchemaFacts {
    const text = description ?? undefined;
    const identity = `type ${name}`;
    return {
      ...plainSchema(this.#places.of(name), []),
      identity,
      name,
      ...(text !== undefined && { description: text }),
    };
  }
}

function listOf(evidence: Evidence, items: () => SchemaFacts): SchemaFacts {
  const inner = items();
  return { ...plainSchema(evidence, ["array"]), identity: `${inner.identity ?? inner.evidence} list`, items };
}

/** What the field says, before what its type says. */
function told(inner: SchemaFacts, { description, deprecationReason }: Given): Partial<SchemaFacts> {
  const text = description ?? inner.description;
  return { ...(text !== undefined && { description: text }), deprecated: typeof deprecationReason === "string" };
}

function withDefault(type: GraphQLInputType, { description, defaultValue }: Given): string | undefined {
  const own = description ?? undefined;
  if (defaultValue === undefined || defaultValue === null) return own;
  const value = astFromValue(defaultValue, type);
  if (!value) return own;
  const written = print(value);
  if (written.length > 100) return own;
  return own === undefined ? `Default: ${written}.` : `${own.trim().replace(/(?<![.!?])$/, ".")} Default: ${written}.`;
}

/** The values with their descriptions, if there are not too many. */
function enumText(type: GraphQLEnumType): string | undefined {
  const own = type.description ?? undefined;
  const described = type.getValues().filter(({ description }) => typeof description === "string");
  if (described.length === 0 || described.length > MOST_VALUES) return own;
  const values = described.map(({ name, description }) => `${name}: ${description ?? ""}`.replaceAll(/\s+/g, " "));
  const text = values.join("; ");
  if (text.length > MOST_VALUE_TEXT) return own;
  return own === undefined ? text : `${own} ${text}`;
}

/** A file that may be left out is not sent. */
function isSent(field: GraphQLInputField): boolean {
  return isRequiredInputField(field) || !isFileType(field.type);
}

/** Whether a value has a file in it, which only a request of another kind can carry. */
export function isFileType(type: GraphQLInputType): boolean {
  const named = isListType(type) || isNonNullType(type) ? type.ofType : undefined;
  return named ? isFileType(named) : isScalarType(type) && isFile(type);
}

type ScalarFacts = Pick<SchemaFacts, "types" | "format" | "pattern"> & { isUnclear?: true };

const WHOLE = /^(?:BigInt|BigInteger|Long|Int64|UInt64|UnsignedInt64|SafeInt)$/i;
const TEXT_FORMATS: readonly [RegExp, string][] = [
  [/^(?:DateTime|Date_?Time_?(?:ISO|UTC|Offset)?|ISO8601DateTime|timestamptz|AWSDateTime|Instant)$/i, "date-time"],
  [/^(?:Date|ISO8601Date|LocalDate|AWSDate|CalendarDate)$/i, "date"],
  [/^(?:UUID|GUID)$/i, "uuid"],
  [/^(?:URL|URI|AWSURL|Link)$/i, "uri"],
  [/^(?:Email|EmailAddress|AWSEmail)$/i, "email"],
];
const TEXTS =
  /^(?:Time|LocalTime|Duration|ISO8601Duration|Cursor|HTML|Markdown|Base64\w*|Decimal|BigDecimal|Money|Slug|Locale|Language|TimeZone|HexColor\w*|Color|PhoneNumber|GitObjectID|Hash|String\w+)$/i;
const OBJECTS = /^(?:JSONObject|JSONMap|Map|AWSJSONObject|Object)$/i;
const ANYTHING = /^(?:JSON|JSONB|Any|_Any|RawJSON|Unknown|Json\w*)$/i;
const COUNTS =
  /^(?:(?:NonNegative|Positive|Unsigned|Negative|NonPositive)Int|UInt|UInt32|Int32|Int16|Byte|Short|Port)$/i;
const NUMBERS = /^(?:(?:NonNegative|Positive|Negative|NonPositive|Unsigned)Float|Float64|Double|Latitude|Longitude)$/i;

/** What values of a scalar look like, by its name and its specification. Of others nothing is known. */
function scalarFacts({ name, specifiedByURL }: GraphQLScalarType): ScalarFacts {
  switch (name) {
    case "Int":
      return { types: ["integer"] };
    case "Float":
      return { types: ["number"] };
    case "Boolean":
      return { types: ["boolean"] };
    case "String":
    case "ID":
      return { types: ["string"] };
    default:
  }
  const specified = specifiedByURL ?? "";
  if (/rfc3339|date-time/i.test(specified) || (/8601/.test(specified) && /time/i.test(name))) return text("date-time");
  if (/rfc4122|rfc9562/i.test(specified)) return text("uuid");
  if (/rfc3986/i.test(specified)) return text("uri");
  // As text, because a number of JSON does not hold all of them.
  if (WHOLE.test(name)) return { types: ["string"], pattern: "^-?[0-9]+$" };
  const [, format] = TEXT_FORMATS.find(([pattern]) => pattern.test(name)) ?? [];
  if (format !== undefined) return text(format);
  if (TEXTS.test(name)) return { types: ["string"] };
  if (COUNTS.test(name)) return { types: ["integer"] };
  if (NUMBERS.test(name)) return { types: ["number"] };
  if (OBJECTS.test(name)) return { types: ["object"] };
  return ANYTHING.test(name) ? { types: [] } : { types: [], isUnclear: true };
}

function text(format: string): ScalarFacts {
  return { types: ["string"], format };
}

/** A file, which is sent in another way than the other arguments. */
function isFile({ name }: { name: string }): boolean {
  return /^(?:Upload|File)$/i.test(name);
}

/** Where the parts of a schema are described. */
export interface GraphqlPlaces {
  readonly whole: Evidence;
  /** `path`: a type, then a field, input field or value, then an argument. */
  of(type: string, ...path: readonly string[]): Evidence;
}
