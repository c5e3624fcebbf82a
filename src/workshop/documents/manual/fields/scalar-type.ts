import type { DoubtChoice, SchemaFacts } from "../../api-facts.ts";
import { singularWords } from "../words.ts";
import { guessedType } from "./apply-row.ts";
import type { FieldDoubt, FieldNode, SampleScalar } from "./field-node.ts";

/** How the fields of a message are written, and for which side they are. */
export interface SchemaPlace {
  form: "xml" | "json" | "flat";
  side: "input" | "output";
  /** What tells this message from all others. */
  owner: string;
}

interface ScalarType {
  types: SchemaFacts["types"];
  format?: string;
  doubts: FieldDoubt[];
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;

/** The type that the table says, unless samples contradict it. */
export function scalarType(node: FieldNode, place: SchemaPlace): ScalarType {
  const { said, limits } = node;
  const format = said.format ?? (limits.format === "date" || limits.format === "date-time" ? limits.format : undefined);
  // A letter stands for a value of a form that the manual states: `from=D`.
  const isLetter = (sample: SampleScalar) => format !== undefined && /^(?:[A-Z]|X{2,})$/.test(String(sample));
  const samples = node.samples.filter((sample) => sample !== null && !isPlaceholder(sample) && !isLetter(sample));
  const shown = shownType(node, samples, place);
  if (said.type === undefined || (said.type === "object" && samples.length > 0)) {
    if (samples.length === 0) {
      if (format !== undefined) return { types: ["string"], format, doubts: [] };
      const guessed = guessedType(node);
      if (guessed !== undefined) return { types: [guessed], doubts: [] };
      if (place.form === "xml" && node.contents > 0 && !node.attribute)
        return { types: ["string"], format: "presence", doubts: [] };
      if (said.reference !== undefined && place.form === "json")
        return {
          types: [],
          doubts: [{ text: `The manual calls its type "${said.reference}" and does not describe it.` }],
        };
      return {
        types: ["string"],
        doubts:
          said.reference !== undefined || place.form === "json"
            ? [{ text: "The manual does not say its type: it is text here.", choices: typeChoices("string") }]
            : [],
      };
    }
    return { ...shown, doubts: [] };
  }
  if (said.type === "object") {
    if (place.form !== "xml") return { types: ["object"], doubts: [] };
    return said.empty || node.contents > 0
      ? { types: ["string"], format: "presence", doubts: [] }
      : { types: ["string"], doubts: [{ text: "The manual does not describe what is in it: it is text here." }] };
  }
  const wanted: ScalarType = {
    types: [said.type],
    ...(format === undefined || said.type !== "string" ? {} : { format }),
    doubts: [],
  };
  const odd = samples.find((sample) => !isOf(sample, wanted, place));
  if (odd === undefined) return wanted;
  const name = wanted.format ?? said.type;
  return {
    ...shown,
    doubts: [
      {
        text: `The manual says that it is ${/^[aeiou]/.test(name) ? "an" : "a"} ${name}, but its sample has ${JSON.stringify(odd)}. The sample counts here.`,
        ...(shown.types.length === 1 ? { choices: typeChoices(wordOf(shown), wordOf(wanted)) } : {}),
      },
    ],
  };
}

/** The type as a tool file writes it. */
function wordOf({ types: [type = "string"], format }: ScalarType): string {
  return format === "date-time" ? "datetime" : (format ?? type);
}

const SIMPLE_TYPES = ["string", "integer", "number", "boolean", "date", "datetime"];

/** The type that the draft has, and others. */
function typeChoices(drafted: string, other?: string): DoubtChoice[] {
  const words = other === undefined ? SIMPLE_TYPES : [drafted, other];
  return [drafted, ...words.filter((word) => word !== drafted)].map((type) => ({ answer: type, set: { type } }));
}

export function isPlaceholder(sample: SampleScalar): boolean {
  return typeof sample === "string" && /^(?:<[^<>]*>|\{\{?[^{}]*\}?\}|\.{3}|…|\$\{?\w+\}?)$/.test(sample.trim());
}

/** Whether a sample can be a value of the type. In XML and forms everything is text. */
function isOf(sample: SampleScalar, { types: [type], format }: ScalarType, { form }: SchemaPlace): boolean {
  if (form === "json") {
    if (type === "integer") return typeof sample === "number" && Number.isInteger(sample);
    if (type === "number" || type === "boolean") return typeof sample === type;
    if (typeof sample !== "string") return false;
  }
  const text = String(sample).trim();
  if (type === "integer") return /^-?(?:0|[1-9]\d*)$/.test(text);
  if (type === "number") return /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text);
  if (type === "boolean") return /^(?:true|false|0|1)$/.test(text);
  return format === "date" ? DATE.test(text) : format !== "date-time" || DATE_TIME.test(text);
}

const COUNTS = new Set([
  "id",
  "count",
  "number",
  "quantity",
  "qty",
  "page",
  "limit",
  "offset",
  "size",
  "age",
  "year",
  "total",
  "index",
  "position",
  "level",
  "code",
  "status",
  "version",
  "port",
  "day",
  "adult",
  "child",
  "unit",
  "length",
]);

/** Names of values that have digits and are no numbers. */
const TEXTS = new Set(
  "phone telephone tel fax zip zipcode post postal postalcode postcode code pin iban bic account number nr mobile msisdn plz sender recipient from to".split(
    " ",
  ),
);

/** The type of samples alone. Digits that are no number, such as 028 or a phone number, stay text. */
function shownType({ name }: FieldNode, samples: readonly SampleScalar[], { form }: SchemaPlace): ScalarType {
  const [first] = samples;
  const every = (is: (sample: SampleScalar) => boolean) => samples.length > 0 && samples.every(is);
  const isCount = COUNTS.has(singularWords(name).at(-1) ?? "");
  if (every((sample) => typeof sample === "boolean")) return { types: ["boolean"], doubts: [] };
  if (every((sample) => typeof sample === "number"))
    return { types: [every(Number.isInteger) && isCount ? "integer" : "number"], doubts: [] };
  if (!every((sample) => typeof sample === "string"))
    return { types: first === undefined || form !== "json" ? ["string"] : [], doubts: [] };
  if (every((sample) => DATE.test(String(sample)))) return { types: ["string"], format: "date", doubts: [] };
  if (every((sample) => DATE_TIME.test(String(sample)))) return { types: ["string"], format: "date-time", doubts: [] };
  if (form === "json") return { types: ["string"], doubts: [] };
  if (every((sample) => sample === "true" || sample === "false")) return { types: ["boolean"], doubts: [] };
  const isText = singularWords(name).some((word) => TEXTS.has(word));
  if (!isText && every((sample) => /^-?(?:0|[1-9]\d{0,14})$/.test(String(sample))))
    return { types: [isCount ? "integer" : "number"], doubts: [] };
  if (!isText && every((sample) => /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(String(sample))))
    return { types: ["number"], doubts: [] };
  return { types: ["string"], doubts: [] };
}

/** `675.00` and `50.00`: amounts are written with two decimals. */
export function sampleDecimals({ samples }: FieldNode): number | undefined {
  const lengths = new Set(samples.map((sample) => /^-?\d+\.(\d+)$/.exec(String(sample))?.[1]?.length ?? 0));
  const [only] = lengths;
  return lengths.size === 1 && only !== undefined && only > 0 && samples.some((sample) => String(sample).endsWith("0"))
    ? only
    : undefined;
}
