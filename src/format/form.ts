import type { Part } from "./part.ts";

/**
 * A form says once how a value is written. The type, the reader, the writer, the JSON Schema and the reference table are
 * derived from it:
 *
 *     const ITEM = record({
 *       name: text({ pattern: /^[a-z]+$/, not: "is not a valid name" }).says("Its name in the set."),
 *       tags: list(text()).optional(),
 *       timeout: duration({ most: 600_000 }).default(30_000),
 *       command: text().local().optional(),
 *     });
 *     type Item = Infer<typeof ITEM>;              // { name: string; tags?: string[]; timeout: number; command?: string }
 *     readValue(ITEM, body, { network: true });    // value, and all problems with JSON pointers (read-form.ts)
 *     readTree(ITEM, tree);                        // the same for a file, with line and column
 *     jsonSchema(ITEM); writeForm(ITEM, item);
 *
 * Declaring does no work: a form is a small object, and only what is used of the rest is loaded.
 */
export class Form<T, O extends boolean = false> {
  /** What reading gives; only for the type checker. */
  declare readonly type: T;
  declare readonly isOptional: O;
  declare readonly spec: Spec;
  declare readonly traits: Traits;

  constructor(spec: Spec, traits: Traits = {}) {
    this.spec = spec;
    this.traits = traits;
  }

  /** The member may be absent. */
  optional(): Form<T, true> {
    return this.#with({ optional: true });
  }

  /** The value if the member is absent; writing leaves it out. */
  default(value: T): Form<T> {
    return this.#with({ optional: true, default: value });
  }

  /** An absent member is read like an empty one: what is inside has defaults. */
  filled(): Form<T> {
    return this.#with({ filled: true });
  }

  /** Reading gives nothing for this value: it means the same as an absent member. */
  omits<const V extends T>(value: V): Form<Exclude<T, V>, true> {
    return this.#with({ optional: true, omitted: value });
  }

  /** An empty list or map means the same as an absent member. */
  unlessEmpty(): Form<T, true> {
    return this.#with({ optional: true, unlessEmpty: true });
  }

  /** Stands for what could not be read, so that the rest can be checked. */
  otherwise(value: T): Form<T, O> {
    return this.#with({ fallback: value });
  }

  /** JSON null stands for itself. */
  nullable(): Form<T | null, O> {
    return this.#with({ nullable: true });
  }

  /** What it is, for JSON Schema and reference pages. */
  says(text: string): Form<T, O> {
    return this.#with({ says: text });
  }

  /** How an option of a command is shown for it: its placeholder, and its help where what `says` is about files. */
  option(value: string, help?: string): Form<T, O> {
    return this.#with({ option: [value, help] });
  }

  /** What to write instead of a value of a wrong kind; the default names the value. */
  advice(advice: Advice): Form<T, O> {
    return this.#with({ advice });
  }

  /** Written values that show how it is used. */
  example(...examples: readonly unknown[]): Form<T, O> {
    return this.#with({ examples });
  }

  /** It names something of this machine and may not come over the network. */
  local(): Form<T, O> {
    return this.#with({ local: true });
  }

  /** It is never shown. */
  secret(): Form<T, O> {
    return this.#with({ secret: true });
  }

  /** It means something to this program alone: files for other programs do not have it. */
  own(): Form<T, O> {
    return this.#with({ own: true });
  }

  /** `${NAME}` in it is replaced. */
  variable(): Form<T, O> {
    return this.#with({ variable: true });
  }

  /** Only people read it: no call depends on it. */
  forPeople(): Form<T, O> {
    return this.#with({ forPeople: true });
  }

  /** Other names of the member that mean the same. */
  alias(...names: readonly string[]): Form<T, O> {
    return this.#with({ aliases: names });
  }

  /**
   * The name of its definition in a JSON Schema, and of its section in a reference. What is said before is about the
   * definition, and what is said after it about this use of it.
   */
  named(name: string): Form<T, O> {
    return this.#with({ name, definition: { spec: this.spec, traits: this.traits } });
  }

  /** What no other declaration can say: reports problems at the part. It also runs on values that were read in part. */
  check(rule: (value: T, part: Part) => void): Form<T, O> {
    // Rules are only called with what this form has read.
    return this.#with({ rules: [...(this.traits.rules ?? []), rule as Rule] });
  }

  /** Keywords of JSON Schema for what `check` requires. */
  schema(keywords: SchemaKeywords): Form<T, O> {
    return this.#with({ schema: { ...this.traits.schema, ...keywords } });
  }

  /** Another value is made of the read one, and the written one of that. */
  to<U>(change: ChangedForm<T, U>): Form<U, O> {
    const { name: _name, definition: _definition, rules: _rules, schema: _schema, ...traits } = this.traits;
    // Each is only called with what this form or the other one has made.
    return new Form({ kind: "changed", of: this, ...(change as ChangedForm<unknown, unknown>) }, traits);
  }

  /** Its type fits every form: that of the value exists for the type checker alone, and the caller declares it. */
  #with(traits: Traits): Form<never, never> {
    return new Form(this.spec, { ...this.traits, ...traits });
  }
}

export type AnyForm = Form<unknown, boolean>;
/** What writers and JSON Schemas are made of. */
export type Declared = Pick<AnyForm, "spec" | "traits">;
export type SchemaKeywords = Readonly<Record<string, unknown>>;
/** Whether a record has a member. */
type Has = (name: string) => boolean;
type Rule = (value: unknown, part: Part) => void;

/** What to write instead of this value. */
export type Advice = string | ((value: unknown) => string);

/** What is said about a form beside how it is read. */
interface Traits {
  readonly optional?: true;
  readonly default?: unknown;
  readonly filled?: true;
  readonly omitted?: unknown;
  readonly unlessEmpty?: true;
  readonly fallback?: unknown;
  readonly nullable?: true;
  readonly says?: string;
  readonly option?: readonly [value: string, help?: string | undefined];
  readonly advice?: Advice;
  readonly examples?: readonly unknown[];
  readonly local?: true;
  readonly secret?: true;
  readonly own?: true;
  readonly variable?: true;
  readonly forPeople?: true;
  readonly aliases?: readonly string[];
  readonly name?: string;
  readonly definition?: Declared;
  readonly rules?: readonly Rule[];
  readonly schema?: SchemaKeywords;
}

export interface TextOptions {
  /** Unless it matches, the message is `"…"` with what `not` says. */
  readonly pattern?: RegExp;
  readonly not?: string;
  readonly hint?: string;
  /** It may be empty or blank. */
  readonly empty?: true;
  /** Characters. */
  readonly least?: number;
  readonly most?: number;
  /** The same over the network, where one tenant must not use up what all share. */
  readonly mostOverNetwork?: number;
}

interface NumberOptions {
  readonly whole?: true;
  readonly least?: number;
  readonly most?: number;
  /** More than this. */
  readonly above?: number;
}

interface ListOptions {
  /** A single item may be written without the list. `read`: it is read, but never written like that. */
  readonly single?: true | "read";
  /** Something empty stands for an item that cannot be read, so that the others keep their places. */
  readonly keepsPlaces?: true;
  readonly least?: number;
  readonly mostOverNetwork?: number;
}

export interface MapOptions {
  /** The form of the names. */
  readonly names?: Form<string>;
  readonly least?: number;
  readonly most?: number;
  /** The same over the network, where one tenant must not use up what all share. */
  readonly mostOverNetwork?: number;
}

export interface RecordOptions {
  /** What to write instead of names from other formats. */
  readonly foreign?: Readonly<Record<string, string>>;
  /** Requirements over several members. */
  readonly needs?: readonly Need[];
  /** MemberForms that are not declared are ignored. */
  readonly open?: true;
  /** Members that other programs write, and that have no effect. */
  readonly ignored?: readonly string[];
}

/** At least one, exactly one or at most one of the members is there. */
export interface Need {
  readonly count: "some" | "one" | "atMostOne";
  readonly of: readonly string[];
  readonly message: string;
  readonly hint?: string;
}

export type MemberForms = Readonly<Record<string, AnyForm>>;

/** The forms for the kinds of values; the first one reports what fits none of them. */
export type Kinds = Readonly<Partial<Record<"text" | "number" | "boolean" | "list" | "map" | "null", AnyForm>>>;

interface ChangedForm<T, U> {
  /** Undefined after it has reported why there is nothing. */
  readonly read: (value: T, part: Part) => U | undefined;
  readonly write: (value: U) => unknown;
  /** Stands for what could not be read. */
  readonly fallback: U;
  /** The name of its type, for the reference. */
  readonly typeName?: string;
}

interface CustomForm<T> {
  /** Undefined after it has reported why nothing can be read. */
  readonly read: (part: Part) => T | undefined;
  /** Stands for what could not be read. */
  readonly fallback: T;
  readonly write?: (value: T) => unknown;
  /** The name of its type, for the reference. */
  readonly typeName?: string;
  readonly schema: SchemaKeywords;
}

export type Spec =
  | { readonly kind: "text"; readonly options: TextOptions }
  | { readonly kind: "number"; readonly options: NumberOptions }
  | { readonly kind: "boolean" }
  | { readonly kind: "json" }
  | { readonly kind: "choice"; readonly options: readonly string[] }
  | { readonly kind: "constant"; readonly value: string | number | boolean | null; readonly message: string }
  | { readonly kind: "list"; readonly of: AnyForm; readonly options: ListOptions }
  | { readonly kind: "map"; readonly of: AnyForm; readonly options: MapOptions }
  | { readonly kind: "record"; readonly members: MemberForms; readonly options: RecordOptions }
  | { readonly kind: "kinds"; readonly kinds: Kinds }
  | { readonly kind: "lazy"; readonly get: () => AnyForm }
  | { readonly kind: "varying"; readonly among: readonly AnyForm[]; readonly pick: (has: Has) => AnyForm }
  | ({ readonly kind: "changed"; readonly of: AnyForm } & ChangedForm<unknown, unknown>)
  | ({ readonly kind: "custom" } & CustomForm<unknown>);

/** Keywords of JSON Schema that hold where others do. */
export function schemaWhen(holds: SchemaKeywords, met: SchemaKeywords, unmet?: SchemaKeywords): SchemaKeywords {
  const keywords = [
    ["if", holds],
    ["then", met],
    ["else", unmet],
  ] as const;
  return Object.fromEntries(keywords.filter(([, keyword]) => keyword !== undefined));
}

/** Whether it is a list or map without content. */
export function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** What reading gives. */
export type Infer<F extends AnyForm> = F["type"];

type Flat<T> = { [K in keyof T]: T[K] };

type MembersOf<M extends MemberForms> = Flat<
  { -readonly [K in keyof M as M[K]["isOptional"] extends false ? K : never]: M[K]["type"] } & {
    -readonly [K in keyof M as M[K]["isOptional"] extends false ? never : K]?: M[K]["type"];
  }
>;

/** What a program may give for it: nothing is changed, members may be undefined, and flags false. */
export type Given<T> = unknown extends T
  ? T
  : T extends true
    ? boolean
    : T extends readonly (infer Item)[]
      ? readonly Given<Item>[]
      : T extends object
        ? { readonly [K in keyof T]: Given<T[K]> | (Pick<T, K> extends Required<Pick<T, K>> ? never : undefined) }
        : T;

export function text(options: TextOptions = {}): Form<string> {
  return new Form({ kind: "text", options });
}

export function number(options: NumberOptions = {}): Form<number> {
  return new Form({ kind: "number", options });
}

/** A whole number, 0 or more unless `least` says otherwise. */
export function whole(options: Omit<NumberOptions, "whole"> = {}): Form<number> {
  return new Form({ kind: "number", options: { least: 0, ...options, whole: true } });
}

export function boolean(): Form<boolean> {
  return new Form({ kind: "boolean" });
}

/** True or absent: false says the same as leaving it out. */
export function flag(): Form<true, true> {
  return boolean().omits(false);
}

export function choice<const T extends string>(options: readonly T[]): Form<T> {
  return new Form({ kind: "choice", options });
}

/** One value only. `message` says why others are refused. */
export function constant<const T extends string | number | boolean | null>(
  value: T,
  message = `must be ${value}`,
): Form<T> {
  return new Form({ kind: "constant", value, message });
}

/** Any JSON value, as it is. */
export function json(): Form<unknown> {
  return new Form({ kind: "json" });
}

export function list<T>(of: Form<T, boolean>, options: ListOptions = {}): Form<T[]> {
  return new Form({ kind: "list", of, options });
}

/** Values by names that are free. */
export function map<T>(of: Form<T, boolean>, options: MapOptions = {}): Form<Record<string, T>> {
  return new Form({ kind: "map", of, options });
}

/** MemberForms with names of their own, in the order in which they are written. */
export function record<const M extends MemberForms>(members: M, options: RecordOptions = {}): RecordForm<M> {
  // The members in its specification are those that were given.
  return new Form({ kind: "record", members, options }) as unknown as RecordForm<M>;
}

/** A record whose members can be looked at. */
export type RecordForm<M extends MemberForms> = Form<MembersOf<M>> & {
  readonly spec: { readonly kind: "record"; readonly members: M; readonly options: RecordOptions };
};

/** Another form for each kind of value: a text that is a short way to write a map, for example. */
export function kinds<const K extends Kinds>(of: K): Form<Infer<Extract<K[keyof K], AnyForm>>> {
  return new Form({ kind: "kinds", kinds: of });
}

/** A form that contains itself; it needs a name for JSON Schema. */
export function lazy<T>(get: () => Form<T, boolean>): Form<T> {
  return new Form({ kind: "lazy", get });
}

/** A member of a record that has one of several forms; the other members that are there say which. */
export function varying<const F extends readonly AnyForm[]>(
  among: F,
  pick: (has: Has) => F[number],
): Form<Infer<F[number]>> {
  return new Form({ kind: "varying", among, pick });
}

/** The form of a member, which may depend on the other members that are there. */
export function chosen(member: Declared, has: Has): Declared {
  if (member.spec.kind !== "varying") return member;
  const { spec, traits } = member.spec.pick(has);
  return { spec, traits: { ...traits, ...member.traits } };
}

/** What is said about a member of a record. */
export function findTraits({ spec }: Declared, member: string): Traits {
  if (spec.kind === "changed") return findTraits(spec.of, member);
  return (spec.kind === "record" && Object.hasOwn(spec.members, member) && spec.members[member]?.traits) || {};
}

/** What none of the others can read. */
export function custom<T>(how: CustomForm<T>): Form<T> {
  return new Form({ kind: "custom", ...(how as CustomForm<unknown>) });
}
