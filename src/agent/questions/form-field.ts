import { checkArguments } from "../../client/schema-check.ts";
import { isRecord } from "../../json/is-record.ts";
import { isExact } from "../../json/exact-number.ts";

interface Choice {
  value: string;
  title: string;
}

/** One field of a form. */
export interface FormField {
  name: string;
  title: string;
  description: string | undefined;
  required: boolean;
  kind: "text" | "number" | "boolean" | "choice" | "choices";
  /** Only for the last two kinds. */
  choices: readonly Choice[];
  schema: Readonly<Record<string, unknown>>;
}

/** The value of a typed text, or what is wrong with it. */
type FieldReading = { value: unknown } | { problem: string };

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const YES = new Set(["true", "yes", "y"]);
const NO = new Set(["false", "no", "n"]);

/** The fields of a form, in the order of the server. */
export function formFields(requestedSchema: unknown): FormField[] {
  const { properties, required } = isRecord(requestedSchema) ? requestedSchema : {};
  if (!isRecord(properties)) return [];
  return Object.entries(properties).map(([name, property]) => {
    const schema = isRecord(property) ? property : {};
    const { title, description } = schema;
    const choices = choicesOf(schema) ?? [];
    return {
      name,
      title: typeof title === "string" && title !== "" ? title : name,
      description: typeof description === "string" ? description : undefined,
      required: Array.isArray(required) && required.includes(name),
      kind: kindOf(schema, choices),
      choices,
      schema,
    };
  });
}

/** The default of a field; undefined if it has none. */
export function defaultOf({ schema }: FormField): unknown {
  return schema["default"];
}

/** The expected value in a few words: `integer, 1 to 10; optional`. */
export function fieldFacts(field: FormField): string {
  const { schema, kind, choices, required } = field;
  const fallback = defaultOf(field);
  const limits = limitsOf(schema);
  const what = {
    text: typeof schema["format"] === "string" ? schema["format"] : "text",
    number: schema["type"] === "integer" ? "integer" : "number",
    boolean: "yes or no",
    choice: `one of ${choices.map(({ value }) => value).join(", ")}`,
    choices: `any of ${choices.map(({ value }) => value).join(", ")}`,
  }[kind];
  const unless =
    fallback === undefined ? (required ? "; required" : "; optional") : `; default: ${shownDefault(fallback)}`;
  return `${what}${limits}${unless}`;
}

/** A default as it would be typed. */
export function shownDefault(fallback: unknown): string {
  if (typeof fallback === "boolean") return fallback ? "yes" : "no";
  if (Array.isArray(fallback)) return fallback.map(String).join(",");
  return typeof fallback === "string" ? fallback : JSON.stringify(fallback);
}

/** Reads a typed or given text for a field. `numbered`: choices may be given by number. */
export async function readField(
  field: FormField,
  texts: readonly string[],
  { numbered = false } = {},
): Promise<FieldReading> {
  const found = valueOf(field, texts, numbered);
  if ("problem" in found) return found;
  const inputSchema = { type: "object", properties: { [field.name]: field.schema } };
  const check = await checkArguments({ name: "form", inputSchema }, { [field.name]: found.value });
  if (check.kind === "invalid") return { problem: check.problems.map(({ message }) => message).join("; ") };
  const wrong = wrongFormat(field.schema["format"], found.value);
  return wrong === undefined ? found : { problem: `${field.name}: ${wrong}` };
}

/** What is wrong with a filled-in form; undefined if it fits. */
export async function checkForm(
  fields: readonly FormField[],
  content: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const inputSchema = {
    type: "object",
    properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
  const check = await checkArguments({ name: "form", inputSchema }, content);
  if (check.kind === "invalid") return check.problems.map(({ message }) => message).join("; ");
  const wrong = fields.flatMap(({ name, schema }) => {
    const problem = wrongFormat(schema["format"], content[name]);
    return problem === undefined ? [] : [`${name}: ${problem}`];
  });
  return wrong.length > 0 ? wrong.join("; ") : undefined;
}

function valueOf({ name, kind, choices }: FormField, texts: readonly string[], numbered: boolean): FieldReading {
  const [text = ""] = texts;
  switch (kind) {
    case "text":
      return { value: text };
    case "number":
      if (!NUMBER.test(text)) return { problem: `${name}: "${text}" is not a number` };
      return isExact(text) ? { value: Number(text) } : { problem: `${name}: ${text} cannot be sent exactly` };
    case "boolean": {
      const word = text.toLowerCase();
      if (YES.has(word) || NO.has(word)) return { value: YES.has(word) };
      return { problem: `${name}: "${text}" is not yes or no` };
    }
    case "choice":
      return chosen(text, { name, choices, numbered });
    case "choices": {
      const words = texts.flatMap((each) => (isChoice(each, choices) ? [each] : each.split(",")));
      const readings = words
        .map((word) => word.trim())
        .filter((word) => word !== "")
        .map((word) => chosen(word, { name, choices, numbered }));
      const problem = readings.find((reading) => "problem" in reading);
      return problem ?? { value: [...new Set(readings.map((reading) => ("value" in reading ? reading.value : "")))] };
    }
  }
}

function isChoice(text: string, choices: readonly Choice[]): boolean {
  return choices.some(({ value, title }) => value === text || title === text);
}

function chosen(
  text: string,
  { name, choices, numbered }: { name: string; choices: readonly Choice[]; numbered: boolean },
): FieldReading {
  const word = text.toLowerCase();
  const found =
    choices.find(({ value }) => value === text) ??
    choices.find(({ value, title }) => value.toLowerCase() === word || title.toLowerCase() === word) ??
    (numbered && /^\d+$/.test(text) ? choices[Number(text) - 1] : undefined);
  if (found) return { value: found.value };
  return { problem: `${name}: "${text}" is not one of ${choices.map(({ value }) => value).join(", ")}` };
}

function kindOf(schema: Readonly<Record<string, unknown>>, choices: readonly Choice[]): FormField["kind"] {
  const { type } = schema;
  if (type === "array") return "choices";
  if (choices.length > 0) return "choice";
  if (type === "boolean") return "boolean";
  return type === "integer" || type === "number" ? "number" : "text";
}

/** The revisions have five forms of choices. */
function choicesOf({ enum: values, enumNames, oneOf, anyOf, items }: Record<string, unknown>): Choice[] | undefined {
  if (Array.isArray(values)) {
    const names: unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value, index) => ({ value: String(value), title: String(names[index] ?? value) }));
  }
  const titled = Array.isArray(oneOf) ? oneOf : anyOf;
  if (Array.isArray(titled)) {
    return titled
      .filter(isRecord)
      .map((each) => ({ value: String(each["const"]), title: String(each["title"] ?? each["const"]) }));
  }
  return isRecord(items) ? choicesOf(items) : undefined;
}

function limitsOf({ minimum, maximum, minLength, maxLength, minItems, maxItems }: Record<string, unknown>): string {
  const least = minimum ?? minLength ?? minItems;
  const most = maximum ?? maxLength ?? maxItems;
  const of = minLength !== undefined || maxLength !== undefined ? " characters" : "";
  if (typeof least === "number" && typeof most === "number") return `, ${least} to ${most}${of}`;
  if (least === 1 && of !== "") return ", not empty";
  if (typeof least === "number") return `, at least ${least}${of}`;
  return typeof most === "number" ? `, at most ${most}${of}` : "";
}

/** Forms have only these four formats; the schema check ignores them, because elsewhere they are annotations. */
function wrongFormat(format: unknown, value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  if (format === "email") return /^\S+@\S+$/.test(value) ? undefined : `"${value}" is not an email address`;
  if (format === "uri") return URL.canParse(value) ? undefined : `"${value}" is not a URI (https://…)`;
  if (format === "date" && !(/^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)))) {
    return `"${value}" is not a date (2026-07-28)`;
  }
  if (format === "date-time" && !(/^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)))) {
    return `"${value}" is not a date and time (2026-07-28T09:30:00Z)`;
  }
  return undefined;
}
