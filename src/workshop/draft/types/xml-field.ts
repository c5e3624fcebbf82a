import type { SchemaFacts } from "../../documents/api-facts.ts";
import type { FieldSpec, RuleSpec, ScalarShape, Shape } from "../../file/model/tool-file.ts";
import { isSecretValue } from "../examples/secret-values.ts";
import { fittingValue, UNFIT } from "../examples/fitting-value.ts";
import type { DraftType } from "./draft-type.ts";
import { prefixFor, type Namespaces } from "./xml-wire.ts";

const PRESENCE: ScalarShape = { kind: "scalar", type: "presence", whitespace: "keep" };

interface XmlFieldOptions {
  shape: Shape;
  nullable: boolean;
  required: boolean;
  types: ReadonlyMap<string, DraftType>;
  namespaces: Namespaces;
}

/** What XML adds to a field: constants, elements without content, `xsi:nil` and `xsi:type`. */
export function xmlField(facts: SchemaFacts, options: XmlFieldOptions): Partial<FieldSpec> {
  const { xml, const: constant } = facts;
  const { nullable, required, types, namespaces } = options;
  if (xml?.presence) return { shape: PRESENCE, ...(constant === true ? { const: true } : {}) };
  if (xml?.qnames) return { shape: typeNames(xml.qnames, namespaces) };
  const { shape } = options;
  if (shape.kind === "list") return xml?.keepEmpty ? { shape: { ...shape, keepEmpty: true } } : {};
  if (required && shape.kind === "scalar" && isSimple(constant)) {
    const { enum: _values, ...free } = shape;
    return { shape: free, const: constant };
  }
  // An element that may be nil and is required has to be there, whether the caller gives it or not.
  if (nullable && !xml?.attribute) return required ? { nullable: true, default: null } : { nullable: true };
  const isSent = required || xml?.attribute === true;
  if (facts.default === undefined || shape.kind !== "scalar" || !isSent) return {};
  const value = isSecretValue(facts.default) ? UNFIT : fittingValue(facts.default, shape, { types, side: "input" });
  return value === UNFIT ? {} : { default: value };
}

/** The names of types: upstream with the prefixes of their namespaces. */
function typeNames(names: readonly { name: string; namespace: string }[], namespaces: Namespaces): ScalarShape {
  const codes = Object.fromEntries(
    names.map(({ name, namespace }) => {
      const code = namespace === "" ? name : `${prefixFor(namespace, undefined, namespaces)}:${name}`;
      return [code, name];
    }),
  );
  return { kind: "scalar", type: "string", codes, whitespace: "keep" };
}

function isSimple(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** More members would need too many rules; their description says it. */
const MOST_PAIRED = 4;

/** Adds rules for members of which only one is given. A rule is checked when both of its fields are there. */
export function addExclusiveRules(
  type: DraftType,
  { exclusive = [] }: SchemaFacts,
  names: ReadonlyMap<string, string>,
): void {
  const rules: RuleSpec[] = [];
  for (const { members, isRequired, evidence } of exclusive) {
    const fields = [...new Set(members.flatMap((member) => names.get(member) ?? []))];
    if (fields.length < 2) continue;
    const text = `Give ${isRequired ? "exactly" : "at most"} one of ${fields.join(", ")}.`;
    type.description = type.description === undefined ? text : `${type.description} ${text}`;
    if (fields.length > MOST_PAIRED) continue;
    for (const [index, first] of fields.entries()) {
      for (const second of fields.slice(index + 1)) {
        const say = `give ${first} or ${second}, not both`;
        rules.push({ that: `${first} == null or ${second} == null`, say, evidence: [evidence] });
      }
    }
  }
  if (rules.length > 0) type.rules = [...(type.rules ?? []), ...rules];
}
