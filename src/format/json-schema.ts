import type { Declared, SchemaKeywords, MemberForms, RecordOptions, Spec } from "./form.ts";
import { writeForm } from "./write-form.ts";

interface JsonSchemaOptions {
  /** What names of definitions stand behind; default: `#/$defs/`. */
  refs?: string;
  /** Without members that may not come over the network, and with the limits there. */
  network?: boolean;
  /** Definitions of named forms, which are added to. */
  definitions?: Map<string, SchemaKeywords>;
}

/** The JSON Schema (2020-12) of what is written. Named forms are definitions that others refer to. */
export function jsonSchema(form: Declared, options: JsonSchemaOptions = {}): SchemaKeywords {
  const definitions = options.definitions ?? new Map<string, SchemaKeywords>();
  const schema = new SchemaWriter({ ...options, definitions }).whole(form);
  return options.definitions || definitions.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) };
}

class SchemaWriter {
  readonly #refs: string;
  readonly #network: boolean;
  readonly #definitions: Map<string, SchemaKeywords>;

  constructor({ refs = "#/$defs/", network = false, definitions = new Map() }: JsonSchemaOptions) {
    this.#refs = refs;
    this.#network = network;
    this.#definitions = definitions;
  }

  /** Not as a reference, though it has a name. */
  whole(form: Declared): SchemaKeywords {
    const { traits } = form;
    const { says, examples, nullable } = traits;
    const plain = { ...this.#ofSpec(form.spec), ...traits.schema };
    return {
      ...given({ description: says }),
      ...(nullable ? { anyOf: [plain, { type: "null" }] } : plain),
      ...this.#usual(form),
      ...given({ examples }),
    };
  }

  #of(form: Declared): SchemaKeywords {
    const { spec, traits } = form;
    if (spec.kind === "lazy" && traits.name === undefined) return { ...this.#of(spec.get()), ...described(form) };
    const { name, definition } = traits;
    if (name === undefined || !definition) return this.whole(form);
    if (!this.#definitions.has(name)) {
      // Forms may contain themselves.
      this.#definitions.set(name, {});
      this.#definitions.set(name, this.whole(definition));
    }
    const { says, examples } = definition.traits;
    return {
      $ref: `${this.#refs}${name}`,
      ...given({ description: traits.says === says ? undefined : traits.says }),
      ...this.#usual(form),
      ...given({ examples: traits.examples === examples ? undefined : traits.examples }),
    };
  }

  #usual(form: Declared): SchemaKeywords {
    const value = form.traits.default ?? form.traits.omitted;
    if (value === undefined) return {};
    const { default: _default, omitted: _omitted, ...traits } = form.traits;
    return { default: writeForm({ spec: form.spec, traits }, value) };
  }

  #ofSpec(spec: Spec): SchemaKeywords {
    switch (spec.kind) {
      case "text": {
        const { pattern, empty, least, most, mostOverNetwork } = spec.options;
        const limit = this.#network ? (mostOverNetwork ?? most) : most;
        const form = pattern?.source ?? (empty ? undefined : String.raw`\S`);
        return { type: "string", ...given({ pattern: form, minLength: least, maxLength: limit }) };
      }
      case "number": {
        const { whole, least, most, above } = spec.options;
        const type = whole ? "integer" : "number";
        return { type, ...given({ minimum: least, maximum: most, exclusiveMinimum: above }) };
      }
      case "boolean":
        return { type: "boolean" };
      case "json":
        return {};
      case "choice":
        return { enum: spec.options };
      case "constant":
        return { const: spec.value };
      case "list": {
        const { single, least, mostOverNetwork } = spec.options;
        const maxItems = this.#network ? mostOverNetwork : undefined;
        const items = this.#of(spec.of);
        const list = { type: "array", ...given({ minItems: least, maxItems }), items };
        return single ? { anyOf: [items, list] } : list;
      }
      case "map": {
        const { names, least, most, mostOverNetwork } = spec.options;
        const { type: _type, description: _description, ...propertyNames } = names ? this.#of(names) : {};
        return {
          type: "object",
          ...given({ minProperties: least, maxProperties: this.#network ? (mostOverNetwork ?? most) : most }),
          additionalProperties: this.#of(spec.of),
          ...(names ? { propertyNames } : {}),
        };
      }
      case "record":
        return this.#ofRecord(spec.members, spec.options);
      case "kinds":
        return { anyOf: Object.values(spec.kinds).map((each) => this.#of(each)) };
      case "varying":
        return { anyOf: spec.among.map((each) => this.#of(each)) };
      case "lazy":
        return this.#of(spec.get());
      case "changed":
        return this.#of(spec.of);
      case "custom":
        return spec.schema;
    }
  }

  #ofRecord(members: MemberForms, { needs = [], open }: RecordOptions): SchemaKeywords {
    const shown = Object.entries(members).filter(([, { traits }]) => !(this.#network && traits.local));
    const required = shown.flatMap(([name, { traits }]) => (traits.optional || traits.filled ? [] : [name]));
    const properties = shown.flatMap(([name, form]) =>
      [name, ...(form.traits.aliases ?? [])].map((each) => [each, this.#of(form)] as const),
    );
    return {
      type: "object",
      ...(required.length === 0 ? {} : { required }),
      properties: Object.fromEntries(properties),
      ...(open ? {} : { additionalProperties: false }),
      ...allOf(
        needs.map(({ count, of }) => {
          const each = of.map((name) => ({ required: [name] }));
          return count === "some"
            ? { anyOf: each }
            : count === "one"
              ? { oneOf: each }
              : { anyOf: [{ oneOf: each }, { not: { anyOf: each } }] };
        }),
      ),
    };
  }
}

function described({ traits: { says, examples } }: Declared): SchemaKeywords {
  return given({ description: says, examples });
}

function allOf(parts: readonly SchemaKeywords[]): SchemaKeywords {
  return parts.length > 1 ? { allOf: parts } : (parts[0] ?? {});
}

function given(keywords: Readonly<Record<string, unknown>>): SchemaKeywords {
  return Object.fromEntries(Object.entries(keywords).filter(([, value]) => value !== undefined));
}
