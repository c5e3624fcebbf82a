import type { GraphQLScalarType } from "graphql";
import type { SchemaFacts } from "../api-facts.ts";

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
export function scalarFacts({ name, specifiedByURL }: GraphQLScalarType): ScalarFacts {
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
export function isFile({ name }: { name: string }): boolean {
  return /^(?:Upload|File)$/i.test(name);
}
