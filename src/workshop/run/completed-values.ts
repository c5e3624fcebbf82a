import { isRecord } from "../../json/is-record.ts";
import { setMember } from "../check/completion.ts";
import { AlternativeChooser } from "../codec/union/alternative-chooser.ts";
import type { HiddenValues } from "../../masking/hidden-values.ts";
import { textOf } from "../expression/arithmetic.ts";
import { isDate, isDateTime } from "../expression/calendar.ts";
import { evaluate } from "../expression/evaluate.ts";
import type { Expression, Scope } from "../expression/expression.ts";
import { callsIn } from "../expression/names.ts";
import { parseExpression } from "../expression/parse.ts";
import type { FieldSpec, Shape, ToolFile, TypeSpec, UnionShape } from "../file/model/tool-file.ts";
import { findType, findUnion, isOnSide, shapesOf, typesIn } from "../shape/shape-parts.ts";
import { fitting } from "../shape/fitting-value.ts";

type Value = Record<string, unknown>;

/**
 * Writes a value with secrets masked. Short secrets are not masked in the caller's own values, numbers, dates and
 * complete declared fields. `value` is the source of the text, if it is different.
 */
export type Show = (text: string, value?: unknown) => string;

/** How values are written for callers, with secrets masked. */
interface Showing {
  /** For free text from upstream. */
  text: (text: string) => string;
  /** For unknown members; undefined leaves them out. */
  unknown?: ((members: Value) => Value) | undefined;
}

type Completing = (value: unknown, scope: Scope) => unknown;
type Showed = (value: unknown, show: Showing) => unknown;

interface TypePlan {
  fields: ReadonlySet<string>;
  /** Whether nothing is added to its values or to those inside them. */
  isPlain: boolean;
  /** Whether all of it is shown in the order of its members, also inside. */
  isShownWhole: boolean;
  constants: readonly (readonly [string, unknown])[];
  /** Undefined where nothing is added. */
  nested: readonly { field: string; complete: Completing }[];
  computed: readonly { field: string; shape: Shape; expression: Expression }[];
  /** `write`: for parts with free text from upstream; all others are numbers, dates and codes. */
  shown: readonly { field: string; write: Showed | undefined }[];
  /** Further members; undefined if there are none. */
  further: { write: Showed | undefined; complete: Completing | undefined } | undefined;
}

/** Adds constants and computed fields to values of a file's types. */
export class CompletedValues {
  readonly #file: ToolFile;
  readonly #chooser: AlternativeChooser;
  readonly #plans = new Map<string, TypePlan>();

  /** `side`: whether the values are arguments or answers. */
  constructor(file: ToolFile, side: "input" | "output") {
    this.#file = file;
    this.#chooser = new AlternativeChooser(file.types, "names", side);
  }

  /** From the inside out, so that computed fields see those further inside. */
  complete(type: string, value: Value, scope: Scope): Value {
    const plan = this.#plan(type);
    if (plan.isPlain) return value;
    const whole = copyOf(value);
    for (const [field, constant] of plan.constants) whole[field] = constant;
    for (const { field, complete } of plan.nested) {
      const member = whole[field];
      if (typeof member === "object" && member !== null) whole[field] = complete(member, scope);
    }
    const { further } = plan;
    if (further?.complete) {
      for (const name of Object.keys(whole)) {
        if (!plan.fields.has(name)) whole[name] = further.complete(whole[name], scope);
      }
    }
    let seen: Value | undefined;
    for (const { field, shape, expression } of plan.computed) {
      seen ??= copyOf(scope, whole);
      const computed = fitting(shape, evaluate(expression, seen));
      if (computed === undefined) {
        delete whole[field];
        seen = undefined;
      } else {
        whole[field] = seen[field] = computed;
      }
    }
    return whole;
  }

  /** The visible fields in the order of the file; `show` writes the texts. */
  shown(type: string, value: Value, show: Showing): Value {
    const seen: Value = {};
    const { shown, fields, further } = this.#plan(type);
    for (const { field, write } of shown) {
      const member = value[field];
      if (member !== undefined) seen[field] = write ? write(member, show) : member;
    }
    const { unknown } = show;
    if (!unknown && !further) return seen;
    for (const name of Object.keys(value)) {
      if (fields.has(name)) continue;
      if (further) setMember(seen, show.text(name), further.write ? further.write(value[name], show) : value[name]);
      else if (unknown) Object.assign(seen, unknown({ [name]: value[name] }));
    }
    return seen;
  }

  /** Whether `shown` changes nothing but texts in values of the type. */
  isShownWhole(type: string): boolean {
    return this.#plan(type).isShownWhole;
  }

  /** Whether a value of the type, or one inside it, is computed with this function. */
  calls(type: string, name: string, seen = new Set<string>()): boolean {
    if (seen.has(type)) return false;
    seen.add(type);
    const { computed } = this.#plan(type);
    if (computed.some(({ expression }) => callsIn(expression, name))) return true;
    const spec = findType(this.#file, type);
    return (
      spec !== undefined &&
      shapesOf(spec)
        .flatMap(typesIn)
        .some((inner) => this.calls(inner, name, seen))
    );
  }

  #plan(type: string): TypePlan {
    const known = this.#plans.get(type);
    if (known) return known;
    const spec = findType(this.#file, type);
    const fields = Object.entries(spec?.fields ?? {});
    const plan: TypePlan = {
      fields: new Set(fields.map(([field]) => field)),
      isPlain: false,
      isShownWhole: false,
      constants: fields.flatMap(([field, { const: constant }]) =>
        constant === undefined ? [] : [[field, constant] as const],
      ),
      nested: [],
      computed: fields.flatMap(([field, { value, shape }]) =>
        value === undefined ? [] : [{ field, shape, expression: parseExpression(value) }],
      ),
      shown: [],
      further: undefined,
    };
    // Stored before the inner types are looked at: they may contain this one.
    this.#plans.set(type, plan);
    plan.nested = fields.flatMap(([field, { shape }]) => {
      const complete = this.#completing(shape);
      return complete ? [{ field, complete }] : [];
    });
    plan.shown = fields
      .filter(([, field]) => !field.hidden && isOnSide(field, "output"))
      .map(([field, each]) => ({ field, write: each.const === undefined ? this.#showing(each.shape) : undefined }));
    const additional = spec?.additional;
    plan.further = additional && { write: this.#showing(additional), complete: this.#completing(additional) };
    plan.isPlain = !this.#adds([type]);
    plan.isShownWhole = plan.isPlain && !this.#some([type], hidesParts);
    return plan;
  }

  /** Whether these types, or those inside them, have constants or computed fields. */
  #adds(types: readonly string[]): boolean {
    return this.#some(types, addsFields);
  }

  #some(types: readonly string[], is: (type: TypeSpec) => boolean): boolean {
    const seen = new Set(types);
    // The set grows while it is read.
    for (const name of seen) {
      const spec = findType(this.#file, name);
      if (!spec) continue;
      if (is(spec)) return true;
      for (const inner of shapesOf(spec).flatMap(typesIn)) seen.add(inner);
    }
    return false;
  }

  /** Undefined if nothing is added to values of that shape. */
  #completing(shape: Shape): Completing | undefined {
    const union = findUnion(this.#file, shape);
    if (union) return this.#completingOneOf(union);
    switch (shape.kind) {
      case "object": {
        const { type } = shape;
        if (!this.#adds([type])) return undefined;
        return (value, scope) => (isRecord(value) ? this.complete(type, value, scope) : value);
      }
      case "list": {
        const complete = this.#completing(shape.of);
        return (
          complete && ((value, scope) => (Array.isArray(value) ? value.map((item) => complete(item, scope)) : value))
        );
      }
      case "map": {
        const complete = this.#completing(shape.of);
        return complete && ((value, scope) => mapped(value, (member) => complete(member, scope)));
      }
      case "scalar":
      case "any":
      case "union":
        return undefined;
    }
  }

  #completingOneOf(union: UnionShape): Completing | undefined {
    // Alternatives may contain the union itself, so they are looked at when a value comes.
    if (!this.#adds(typesIn(union))) return undefined;
    const completings = new Map<Shape, Completing | undefined>();
    return (value, scope) => {
      const shape = this.#chooser.choose(union, value)?.shape;
      if (!shape) return value;
      if (!completings.has(shape)) completings.set(shape, this.#completing(shape));
      return completings.get(shape)?.(value, scope) ?? value;
    };
  }

  /** Undefined if values of that shape have no free text. */
  #showing(shape: Shape): Showed | undefined {
    const union = findUnion(this.#file, shape);
    if (union) return this.#showingOneOf(union);
    switch (shape.kind) {
      case "scalar":
        return shape.type === "string" && !shape.codes && !shape.enum ? shownText : undefined;
      case "object": {
        const { type } = shape;
        return (value, show) => (isRecord(value) ? this.shown(type, value, show) : shownAnything(value, show));
      }
      case "list": {
        const write = this.#showing(shape.of);
        return write && ((value, show) => (Array.isArray(value) ? value.map((item) => write(item, show)) : value));
      }
      case "map": {
        const write = this.#showing(shape.of);
        return (value, show) => mapped(value, (member) => (write ? write(member, show) : member), show.text);
      }
      case "any":
        return shownAnything;
      case "union":
        return undefined;
    }
  }

  /** Members that are in another alternative than the likely one are shown as any value. */
  #showingOneOf(union: UnionShape): Showed {
    const showings = new Map<Shape, Showed | undefined>();
    return (value, show) => {
      const shape = this.#chooser.choose(union, value)?.shape;
      if (!shape) return shownAnything(value, show);
      if (!showings.has(shape)) showings.set(shape, this.#showing(shape));
      const write = showings.get(shape);
      const shown = write ? write(value, show) : value;
      if (union.discriminator || shape.kind !== "object" || !isRecord(value) || !isRecord(shown)) return shown;
      const own = this.#plan(shape.type).fields;
      for (const name of Object.keys(value)) {
        if (own.has(name) || Object.hasOwn(shown, name) || !this.#isVisible(union, name)) continue;
        setMember(shown, name, shownAnything(value[name], show));
      }
      return shown;
    };
  }

  /** Whether an alternative shows a field with that name. */
  #isVisible(union: UnionShape, name: string): boolean {
    return union.of.some((shape) => {
      const fields = shape.kind === "object" ? (findType(this.#file, shape.type)?.fields ?? {}) : {};
      const field: FieldSpec | undefined = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return field !== undefined && !field.hidden && isOnSide(field, "output");
    });
  }
}

function addsFields({ fields }: TypeSpec): boolean {
  return Object.values(fields).some(({ const: constant, value }) => constant !== undefined || value !== undefined);
}

/** Which members of a union are shown depends on the value. */
function hidesParts(type: TypeSpec): boolean {
  return shapesOf(type).some(holdsUnion) || Object.values(type.fields).some(({ hidden }) => hidden);
}

function holdsUnion(shape: Shape): boolean {
  return shape.kind === "union" || ((shape.kind === "list" || shape.kind === "map") && holdsUnion(shape.of));
}

/** Member by member: spreading would give each object its own hidden classes. Names are those of fields. */
function copyOf(...each: readonly Readonly<Value>[]): Value {
  const copy: Value = {};
  for (const value of each) for (const name of Object.keys(value)) setMember(copy, name, value[name]);
  return copy;
}

function mapped(value: unknown, each: (member: unknown) => unknown, nameOf?: (name: string) => string): unknown {
  if (!isRecord(value)) return value;
  const copy: Value = {};
  for (const name of Object.keys(value)) setMember(copy, nameOf ? nameOf(name) : name, each(value[name]));
  return copy;
}

function shownText(value: unknown, show: Showing): unknown {
  return typeof value === "string" ? show.text(value) : value;
}

/** All texts inside, and the names of members. */
function shownAnything(value: unknown, show: Showing): unknown {
  if (Array.isArray(value)) return value.map((item) => shownAnything(item, show));
  if (isRecord(value)) return mapped(value, (member) => shownAnything(member, show), show.text);
  return shownText(value, show);
}

/** How values are shown in a call with this input. */
export function showing(hidden: HiddenValues, input: unknown): Show {
  if (!hidden.hasShort) return (text) => hidden.in(text);
  const given = textsIn(input);
  const show: Show = (text, value = text) => {
    if (Array.isArray(value)) return value.map((item) => show(textOf(item), item)).join(", ");
    const isOwn = isTyped(value) || given.has(text) || hidden.isShort(text.trim());
    return isOwn ? hidden.inOwnWords(text) : hidden.in(text);
  };
  return show;
}

/** Whether upstream cannot write free text there. */
function isTyped(value: unknown): boolean {
  if (typeof value !== "string") return typeof value !== "object";
  return isDate(value) || isDateTime(value);
}

function textsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value === "string") found.add(value);
  else if (typeof value === "object" && value !== null) for (const item of Object.values(value)) textsIn(item, found);
  return found;
}
