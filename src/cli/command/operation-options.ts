import type { AnyForm, Declared, Form } from "../../format/form.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { optionName, withCommandHint } from "../../operations/hint-words.ts";
import type { Option, Options } from "./command.ts";
import { databaseAgain } from "./in-place.ts";

/** `perDay` → `per-day`. */
type Kebab<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${Kebab<Rest>}`
  : "";

type OptionFor<T> = [NonNullable<T>] extends [boolean]
  ? { type: "boolean"; help: string }
  : NonNullable<T> extends readonly unknown[]
    ? { type: "string"; multiple: true; value: string; help: string }
    : { type: "string"; value: string; help: string };

type OptionsFor<T, Names extends keyof T> = { [K in Names & string as Kebab<K>]: OptionFor<T[K]> };

/** The members that one option each can give. */
type Simple<T> = string &
  {
    [K in keyof T]: NonNullable<T[K]> extends boolean | string | readonly string[] ? K : never;
  }[keyof T];
const SIMPLE = new Set(["boolean", "text", "choice", "list"]);

/** How a member is written on a command line: its placeholder, and its help where that of the form is about bodies. */
type OptionText = NonNullable<Declared["traits"]["option"]>;

/** The options of a command for members of the input of an operation. */
export function optionsOf<T extends object, Name extends string & keyof T>(
  form: Form<T> | undefined,
  texts: Readonly<Record<Name, OptionText>>,
): OptionsFor<T, Name> {
  const members = membersOf(form);
  const options = Object.entries<OptionText>(texts).map(([name, [value, said]]) => {
    const { spec, traits } = resolved(members[name]);
    const help = said ?? helpOf(traits.says ?? name);
    const option: Option =
      spec.kind === "boolean"
        ? { type: "boolean", help }
        : spec.kind === "list"
          ? { type: "string", multiple: true, value, help: `${help}; repeatable` }
          : { type: "string", value, help };
    return [optionName(name), option] as const;
  });
  // Each option is made of the member with its name.
  return Object.fromEntries(options) as unknown as OptionsFor<T, Name>;
}

/** The same for all members that one option each can give, in the words of the form; those that are required come first. */
export function allOptionsOf<T extends object>(form: Form<T>): OptionsFor<T, Simple<T>> {
  const simple = Object.entries(membersOf(form)).filter(([, member]) => SIMPLE.has(resolved(member).spec.kind));
  const sorted = simple.toSorted(([, a], [, b]) => Number(a.traits.optional ?? 0) - Number(b.traits.optional ?? 0));
  const texts = Object.fromEntries(sorted.map(([name, { traits }]) => [name, traits.option ?? [""]]));
  // These are the members with the types of such options.
  return optionsOf<T, Simple<T>>(form, texts as Record<Simple<T>, OptionText>);
}

/** The members of the input that the options of a command line give. `none` removes what may be null. */
export function inputOf<T extends object>(form: Form<T> | undefined, values: object): Partial<T> {
  const given: Readonly<Record<string, unknown>> = { ...values };
  const members = Object.entries(membersOf(form)).flatMap(([name, member]) => {
    const value = given[optionName(name)];
    return value === undefined ? [] : [[name, valueFor(resolved(member), value)] as const];
  });
  // What is not of the form is found where the operation reads it.
  return Object.fromEntries(members) as Partial<T>;
}

interface GivenOptions {
  options: Options;
  values: Readonly<Record<string, unknown>>;
}

/** A failure as a person wrote the command: with options instead of members, and commands instead of operations. */
export async function inCommandWords(error: NexusError, { options, values }: GivenOptions): Promise<NexusError> {
  const [first] = error.details.invalid ?? [];
  if (!first) return withCommandHint(error, databaseAgain(values["database"]), values);
  const [, ...path] = first.at.split("/");
  const names = path.map(optionName);
  const option = names.findLast((name) => Object.hasOwn(options, name));
  const label = option === undefined ? `<${path.join("/")}>` : `--${option}`;
  const [, what = first.message, advice] = /^(.*?)\. (Use .*)$/.exec(first.message) ?? [];
  const isPredicate = /^(must|is|has|may|contains) /.test(what);
  return new NexusError(error.code, `${label}${isPredicate ? " " : ": "}${what}`, {
    ...error.details,
    invalid: undefined,
    hint: first.hint ?? advice,
  });
}

function membersOf(form: Declared | undefined): Readonly<Record<string, AnyForm>> {
  const spec = form?.spec;
  if (spec?.kind === "changed") return membersOf(spec.of);
  return spec?.kind === "record" ? spec.members : {};
}

/** What is inside of forms that only change a value. */
function resolved(form: AnyForm | undefined): Declared {
  if (!form) throw new TypeError("the input has no such member");
  const { spec, traits } = form;
  return spec.kind === "changed" ? { spec: resolved(spec.of).spec, traits } : { spec, traits };
}

function valueFor({ spec, traits }: Declared, value: unknown): unknown {
  if (traits.nullable && value === "none") return null;
  const isNumber = spec.kind === "number" && typeof value === "string" && value.trim() !== "";
  return isNumber && !Number.isNaN(Number(value)) ? Number(value) : value;
}

/** What the form says, in the style of help: no sentence, and no marks of Markdown. */
function helpOf(says: string): string {
  const text = says.replaceAll("`", "").replace(/\.$/, "");
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
