/** A JSON Schema (2020-12, or draft-07 with `$schema`). */
export interface JsonSchemaObject {
  readonly [keyword: string]: unknown;
}

/**
 * A schema of a library: zod 4.2, ArkType 2.1.28, Valibot with `toStandardJsonSchema`, or any other that implements Standard
 * Schema and Standard JSON Schema.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
      readonly output: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

/** What `validate` of a Standard Schema answers: the value, or what is wrong with it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What describes arguments and results: a JSON Schema, or a schema of a library. */
export type ValueSchema = JsonSchemaObject | StandardSchema;

/** The type of the values that a schema lets through: what a handler gets. */
export type CheckedType<S> = TypeOn<"output", S>;

/** The type of the values that are given to a schema: what a handler returns. */
export type GivenType<S> = TypeOn<"input", S>;

type TypeOn<Side extends "input" | "output", S> = S extends { readonly "~standard": { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly [Each in Side]: infer Value }
    ? Value
    : unknown
  : FromSchema<S>;

/**
 * The type of the values that a JSON Schema describes, where it is written out in the program. What the type cannot say is
 * `unknown`, never another type.
 */
export type FromSchema<S> = S extends { readonly const: infer Value }
  ? Writable<Value>
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Writable<Value>
    : S extends { readonly anyOf: readonly (infer Part)[] }
      ? FromEach<Part>
      : S extends { readonly oneOf: readonly (infer Part)[] }
        ? FromEach<Part>
        : S extends { readonly type: readonly (infer Name)[] }
          ? FromType<S, Name>
          : S extends { readonly type: infer Name }
            ? FromType<S, Name>
            : unknown;

type FromEach<Part> = Part extends unknown ? FromSchema<Part> : never;

type FromType<S, Name> = Name extends "string"
  ? string
  : Name extends "number" | "integer"
    ? number
    : Name extends "boolean"
      ? boolean
      : Name extends "null"
        ? null
        : Name extends "array"
          ? FromItems<S>
          : Name extends "object"
            ? FromMembers<S>
            : unknown;

type FromItems<S> = S extends { readonly prefixItems: unknown }
  ? unknown[]
  : S extends { readonly items: infer Item }
    ? FromSchema<Item>[]
    : unknown[];

type FromMembers<S> = S extends { readonly properties: infer Members }
  ? string extends keyof Members
    ? Record<string, unknown>
    : Flat<
        { -readonly [Name in keyof Members & RequiredNames<S>]: FromSchema<Members[Name]> } & {
          -readonly [Name in Exclude<keyof Members, RequiredNames<S>>]?: FromSchema<Members[Name]>;
        }
      >
  : S extends { readonly patternProperties: unknown }
    ? Record<string, unknown>
    : S extends { readonly additionalProperties: infer Rest }
      ? Record<string, FromSchema<Rest>>
      : Record<string, unknown>;

/** The names that a schema requires, where they are written out. */
type RequiredNames<S> = S extends { readonly required: readonly (infer Name)[] }
  ? string extends Name
    ? never
    : Name
  : never;

type Writable<T> = T extends readonly unknown[] | Record<string, unknown>
  ? { -readonly [Key in keyof T]: Writable<T[Key]> }
  : T;

type Flat<T> = { [Key in keyof T]: T[Key] };

/** The variables of a template such as `memo://{day}`, by name. */
export type TemplateVariables<Template extends string> = { [Name in VariableName<Template>]: string };

type VariableName<Template extends string> = string extends Template
  ? string
  : Template extends `${string}{${infer Name}}${infer Rest}`
    ? Name | VariableName<Rest>
    : never;
