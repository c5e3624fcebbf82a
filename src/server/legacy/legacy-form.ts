import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";

type Property = Record<string, unknown>;

/** A form as clients of 2025-06-18 know it. */
export interface OlderForm {
  schema: unknown;
  /** What was filled in, in the members that the server asked for. */
  original: (content: Property) => Property;
}

/**
 * The form for a client of 2025-06-18, which has choices by `enum` and `enumNames` and defaults for yes-or-no fields alone:
 * other defaults are told in the description, and several of many are a yes-or-no field each.
 */
export function olderForm(schema: unknown): OlderForm {
  if (!isRecord(schema) || !isRecord(schema["properties"])) return { schema, original: unchanged };
  const { properties: given } = schema;
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const selections: Selection[] = [];
  const properties = Object.entries(given).flatMap(([name, property]): [string, unknown][] => {
    if (!isRecord(property)) return [[name, property]];
    if (property["type"] !== "array") return [[name, olderProperty(property)]];
    const choices = choicesOf(property["items"]).map((choice) => ({ ...choice, field: `${name}: ${choice.value}` }));
    if (choices.length === 0 || choices.some(({ field }) => field in given)) throw unknownField(name);
    selections.push({ name, choices, isRequired: required.includes(name) });
    return choices.map((choice) => [choice.field, yesOrNo(name, property, choice)]);
  });
  if (selections.length === 0)
    return { schema: { ...schema, properties: Object.fromEntries(properties) }, original: unchanged };
  // To choose none of them is an answer, and many clients leave out what is not ticked.
  const stillRequired = required.filter((name) => selections.every((selection) => selection.name !== name));
  return {
    schema: { ...schema, properties: Object.fromEntries(properties), required: stillRequired },
    original: (content) => selections.reduce(gathered, content),
  };
}

const unchanged: OlderForm["original"] = (content) => content;

interface Choice {
  value: string;
  title: string;
}

/** Several of many, by the fields that stand for them. */
interface Selection {
  name: string;
  choices: (Choice & { field: string })[];
  isRequired: boolean;
}

/** The content with one member in place of many. Whether these are too few or too many is for the server to say. */
function gathered(content: Property, { name, choices, isRequired }: Selection): Property {
  const fields = new Set(choices.map(({ field }) => field));
  const others = Object.entries(content).filter(([member]) => !fields.has(member));
  if (others.length === Object.keys(content).length && !isRequired) return content;
  const chosen = choices.filter(({ field }) => content[field] === true).map(({ value }) => value);
  return Object.fromEntries([...others, [name, chosen]]);
}

function yesOrNo(name: string, property: Property, { value, title }: Choice): Property {
  const { title: label = name, description, minItems, maxItems, default: preset } = property;
  const limits = [
    ...(typeof minItems === "number" && minItems > 0 ? [`at least ${minItems}`] : []),
    ...(typeof maxItems === "number" ? [`at most ${maxItems}`] : []),
  ];
  const words = [description, limits.length > 0 ? `Choose ${limits.join(" and ")}.` : undefined];
  return {
    type: "boolean",
    title: `${String(label)}: ${title}`,
    ...described(words),
    ...(Array.isArray(preset) ? { default: preset.includes(value) } : {}),
  };
}

function olderProperty(property: Property): Property {
  const { oneOf, default: preset, ...others } = property;
  const older: Property = others;
  if (preset !== undefined) {
    if (property["type"] === "boolean") older["default"] = preset;
    else Object.assign(older, described([property["description"], `Default: ${shown(preset)}.`]));
  }
  if (!Array.isArray(oneOf)) return older;
  const choices = choicesOf({ anyOf: oneOf });
  older["enum"] = choices.map(({ value }) => value);
  older["enumNames"] = choices.map(({ title }) => title);
  return older;
}

function described(words: readonly unknown[]): Property {
  const description = words.filter((text) => typeof text === "string").join(" ");
  return description === "" ? {} : { description };
}

function shown(preset: unknown): string {
  return typeof preset === "string" ? preset : JSON.stringify(preset);
}

/** What can be chosen; none where it is not a choice. */
function choicesOf(items: unknown): Choice[] {
  if (!isRecord(items)) return [];
  const { enum: values, anyOf, oneOf } = items;
  if (Array.isArray(values)) {
    return values.filter((value) => typeof value === "string").map((value) => ({ value, title: value }));
  }
  const titled: unknown[] = [anyOf, oneOf].find(Array.isArray) ?? [];
  return titled.filter(isRecord).flatMap(({ const: value, title }) => {
    return typeof value === "string" ? [{ value, title: typeof title === "string" ? title : value }] : [];
  });
}

function unknownField(name: string): NexusError {
  const message = `The client cannot be asked for "${name}": its revision 2025-06-18 does not support this form field`;
  return new NexusError("CAPABILITY_MISSING", message, {
    hint: "Use a client of revision 2025-11-25 or newer.",
  });
}
