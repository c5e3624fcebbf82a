import {
  constant,
  custom,
  flag,
  json,
  kinds,
  list,
  map,
  record,
  schemaWhen,
  text,
  type Form,
} from "../../../format/form.ts";
import { present, type Part } from "../../../format/part.ts";
import { RESERVED_WORDS } from "../../expression/parse.ts";
import type { FieldSpec, RuleSpec, Shape, TypeSpec } from "../model/tool-file.ts";
import { EVIDENCE, SINGLE, TEXT_OR_EMPTY, WORD } from "./parts.ts";
import { misfit, SCALARS } from "./scalars.ts";
import {
  ALTERNATIVES,
  FOREIGN,
  impliedType,
  INNER,
  isKnownType,
  SHAPE_MEMBERS,
  SHAPE_SCHEMAS,
  shapeOf,
  typedBy,
  unionOf,
  writtenShape,
} from "./shapes.ts";

/** A field as it is written: what its type says is left out. */
type OwnField = Omit<FieldSpec, "wire" | "evidence"> & Partial<Pick<FieldSpec, "wire" | "evidence">>;

/** A type before the fields of the types that it includes are added. */
type OwnType = TypeSpec & { include?: string[] };

/** Short forms are written out before the file is read (`short-forms.ts`), so none is ever read. */
const SHORT_FIELD = custom<OwnField>({
  read(part) {
    part.text();
    return undefined;
  },
  fallback: { shape: { kind: "any" }, optional: false, hidden: false },
  schema: {
    type: "string",
    pattern: String.raw`^\s*((list|map)( +of +\S+)?|\S+)( +((-?\d+(\.\d+)?)?\.\.(-?\d+(\.\d+)?)?|optional|hidden|nullable|readOnly|writeOnly|exact|uniqueItems|keepEmpty|collapse|unsent|= \S+|at \S+))*( +\[[^\]]*\])?( +- +[^]*)?\s*$`,
  },
})
  .says(
    "A field in one line: `type 1..10 optional = default at wire [L12, L14] - description`. Only the type is needed; a list is `list of type`, a map `map of type`. The range limits the length of a text, a number, or the number of items. Words: `optional`, `hidden`, `nullable`, `readOnly`, `writeOnly`, `exact`, `uniqueItems`, `keepEmpty`, `collapse` (whitespace) and `unsent` (`wire: false`).",
  )
  .example("integer 1..15 at @adults [L108] - Adults in this room.")
  .named("shortField");

const FIELD = record(
  {
    is: SHORT_FIELD.says(
      "The type and what else fits into one line, as in a field that is a text; members beside it say the rest.",
    ).optional(),
    description: text().says("What it is, for callers.").optional(),
    wire: kinds({ text: text(), boolean: constant(false, "must be text, or false") })
      .says(
        "Where it stands upstream; `false`: it is not sent or read. XML: a path from the element of the type, such as `RoomStays/RoomStay/@Count`, with `.` for the element's own text, `[]` behind the step that repeats, and `[@Code=8]` for an element that is told from its siblings by a constant. JSON and forms: a member, a path like `price.adult` or, for lists, `data.items[].id`, or `.` for the whole value. Left out, it is the name of the field; what path, query or headers take is not in the body as well, and what is constant or computed in an answer is not read from it.",
      )
      .example("members/member[]/@id", "price.adult", false)
      .optional(),
    ...SHAPE_MEMBERS,
    const: SINGLE.says(
      "Always this. In an input it is sent and callers do not see it, in an answer it is always shown.",
    ).optional(),
    value: text()
      .says(
        "It is computed and callers do not give it. In inputs it sees the other fields, `settings`, `now()`, `today()` and `request_key()`; in answers the answer's fields, `input` and `status`. An expression.",
      )
      .example("request_key()", "count(rooms)")
      .optional(),
    nullable: flag().says("Null is a value of its own. Without it, null counts as absent."),
    readOnly: flag().says("Only in outputs."),
    writeOnly: flag().says("Only in inputs."),
    optional: flag().says("It may be absent."),
    hidden: flag().says("It is not in the tool's input or output: it is there for rules, errors and other fields."),
    default: json().says("Used where the caller gives none.").optional(),
    evidence: EVIDENCE.optional(),
  },
  { foreign: FOREIGN },
)
  .schema({
    ...typedBy("const", "value", "is"),
    dependentSchemas: {
      ...SHAPE_SCHEMAS,
      value: { properties: { const: false } },
      default: { properties: { const: false, value: false } },
    },
  })
  .to<OwnField>({
    read(members, part) {
      const shape = shapeOf(members, part);
      const { description, wire, nullable, readOnly, writeOnly, optional = false, hidden = false } = members;
      checkConstant(members.const, shape, part.part("const"));
      checkTogether(part);
      const isNull = nullable === true && members.default === null;
      if (!isNull && isOfKnownType(part)) checkDefault(part.part("default"), shape);
      return present({
        description,
        wire,
        shape,
        nullable,
        side: readOnly ? ("output" as const) : writeOnly ? ("input" as const) : undefined,
        optional,
        hidden,
        default: members.default,
        const: members.const,
        value: members.value,
        evidence: members.evidence,
      });
    },
    write({ shape, side, ...rest }) {
      const isImplied =
        rest.const !== undefined &&
        shape.kind === "scalar" &&
        shape.type === impliedType(rest.const) &&
        Object.keys(writtenShape(shape)).length === (shape.whitespace === "keep" ? 2 : 0);
      return {
        ...rest,
        ...(isImplied ? {} : writtenShape(shape)),
        readOnly: side === "output" || undefined,
        writeOnly: side === "input" || undefined,
      };
    },
    fallback: { shape: { kind: "scalar", type: "string", whitespace: "keep" }, optional: false, hidden: false },
  })
  .says("One value of a type: of `type`, a `list`, a `map`, one of several, a constant, or computed.")
  .named("field");

/** A value of an unknown type cannot be checked. */
function isOfKnownType(part: Part): boolean {
  const of = part.has("list") ? part.part("list") : part;
  return isKnownType(of.isMap ? of.part("type").value() : of.value(), part);
}

function checkConstant(value: unknown, shape: Shape, part: Part): void {
  if (value === undefined) return;
  const wrong = shape.kind === "scalar" ? misfit(shape, value) : { what: "cannot be used for a type or a list" };
  if (wrong) part.error(wrong.what, wrong.hint);
}

function checkTogether(part: Part): void {
  if (part.has("readOnly") && part.has("writeOnly")) {
    const isBoth = part.part("readOnly").value() === true && part.part("writeOnly").value() === true;
    if (isBoth) part.part("writeOnly").keyError("readOnly already says where it is");
  }
  if (part.has("type") && part.has("list")) return;
  const isGiven = !part.has("const") && !part.has("value");
  if (part.has("const") && part.has("value")) part.part("value").keyError("const already says what it is");
  if (part.has("default") && !isGiven) {
    part.part("default").keyError("callers do not give this field, so it cannot have a default");
  }
  if (part.has("nullable") && !isGiven) {
    part.part("nullable").keyError("callers do not give this field, so it cannot be null");
  }
}

function checkDefault(part: Part, shape: Shape): void {
  if (!part.isThere) return;
  switch (shape.kind) {
    case "scalar": {
      const wrong = misfit(shape, part.value());
      if (wrong) part.error(wrong.what, wrong.hint);
      return;
    }
    case "list":
      for (const item of part.items()) checkItem(item, shape.of);
      return;
    case "map":
      for (const [, item] of part.entries()) checkItem(item, shape.of);
      return;
    case "object":
      // A named union may be something else than an object; the checker refuses a wrong one when the file is checked.
      return;
    case "any":
      if (shape.only === "object") part.entries();
      return;
    case "union":
      return;
  }
}

function checkItem(part: Part, shape: Shape): void {
  if (shape.kind === "scalar" || shape.kind === "list" || shape.kind === "map") checkDefault(part, shape);
}

const RULE = record({
  that: text()
    .says("What has to be true. It is not judged while a field that it needs is absent. An expression.")
    .example("departure > arrival")
    .otherwise("true"),
  say: text().says("What a caller is told when it is not."),
  evidence: EVIDENCE.optional(),
})
  .says("A condition on a value of the type.")
  .named("rule");

/** Names that expressions use, of fields and types. */
function names(what: string, taken: readonly string[] = []): Form<string> {
  return text({ empty: true })
    .check((name, part) => {
      if (taken.includes(name)) part.keyError(`"${name}" is the name of a type of values`);
      else if (!WORD.test(name)) {
        part.keyError(`"${name}" cannot be the name of ${what}`, "Letters, digits and _, beginning with a letter.");
      } else if (RESERVED_WORDS.includes(name)) {
        part.keyError(`"${name}" has a meaning of its own in expressions`, "Choose another name.");
      }
    })
    .schema({ pattern: WORD.source, not: { enum: [...taken, ...RESERVED_WORDS] } });
}

/** Only `binary` may also be the name of a type of the file. */
export const TYPE_NAME = names(
  "a type",
  SCALARS.filter((name) => name !== "binary"),
);

const OF_ALTERNATIVES = ["xml", "include", "fields", "rules", "additional"];

/** Types of values. */
export const TYPE = record(
  {
    description: text().says("What it is, for callers.").optional(),
    xml: record({
      element: text({
        pattern: /^[\p{L}_][\p{L}\p{N}._-]*$/u,
        not: "cannot be the name of an element",
        hint: "Write its namespace beside it.",
      })
        .says("Its local name.")
        .optional(),
      namespace: TEXT_OR_EMPTY.says(
        "Its namespace, which its children inherit; empty: they have none, whatever is around them. Default: none.",
      )
        .example("http://www.opentravel.org/OTA/2003/05")
        .optional(),
    })
      .says("The element that it is, where it is a whole document.")
      .filled(),
    include: list(text(), { single: "read" })
      .says("Types whose fields and rules come first. A field of the same name here replaces theirs.")
      .example(["Animal"])
      .unlessEmpty(),
    evidence: EVIDENCE.unlessEmpty(),
    wire: text()
      .says("What the written wire paths of its fields begin with. A path that begins with `/` is complete as it is.")
      .example("HotelReservations/HotelReservation/", "data.")
      .optional(),
    ...ALTERNATIVES,
    fields: map(kinds({ map: FIELD, text: SHORT_FIELD }), { names: names("a field") })
      .says("By name. In XML, elements are written in this order.")
      .optional(),
    additional: INNER.says("Members beside the fields, by their names upstream (JSON): the type of their values.")
      .example("string")
      .optional(),
    rules: list(RULE).says("What has to be true beyond the limits of each field.").filled(),
  },
  {
    needs: [{ count: "some", of: ["fields", "include", "additional", "oneOf"], message: "fields is missing" }],
  },
)
  .schema({
    dependentRequired: { discriminator: ["oneOf"] },
    ...schemaWhen(
      { required: ["oneOf"] },
      { properties: Object.fromEntries(OF_ALTERNATIVES.map((name) => [name, false])) },
    ),
  })
  .to<TypeSpec>({
    typeName: "TypeSpec",
    read(members, part) {
      const { description, xml, evidence, fields = {}, rules, additional } = members;
      if (part.has("oneOf")) {
        for (const key of OF_ALTERNATIVES.filter((each) => part.has(each))) {
          part.part(key).keyError(`${key} belongs to the alternatives`, "Write it at the types that oneOf names.");
        }
        return present({ description, xml: {}, fields: {}, rules: [], union: unionOf(members, part), evidence });
      }
      if (part.has("discriminator")) part.part("discriminator").keyError("belongs to oneOf");
      return present({
        description,
        xml,
        fields: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, whole(field, name, evidence)])),
        rules: rules.map((rule): RuleSpec => ({ ...rule, evidence: rule.evidence ?? [...(evidence ?? [])] })),
        additional,
        evidence,
      });
    },
    write({ union, fields, evidence = [], rules, ...type }: OwnType) {
      const isWritten = !union && (type.include === undefined || Object.keys(fields).length > 0);
      const isOwn = (places: readonly string[]) => places.length > 0 && places.join() !== evidence.join();
      return {
        ...type,
        evidence,
        ...(union ? writtenShape(union) : {}),
        fields: isWritten
          ? Object.fromEntries(
              Object.entries(fields).map(([name, field]) => [name, ownField(field, name, isOwn(field.evidence))]),
            )
          : undefined,
        rules: rules.map(({ that, say, evidence: places }) =>
          present({ that, say, evidence: isOwn(places) ? places : undefined }),
        ),
      };
    },
    fallback: { xml: {}, fields: {}, rules: [] },
  })
  .says("A kind of value: with fields (an input, an answer, or a part of one), or one of several types.")
  .named("type");

function whole(
  { description, wire, evidence, ...rest }: OwnField,
  name: string,
  ofType: readonly string[] = [],
): FieldSpec {
  return present({ description, wire: wire ?? name, ...rest, evidence: evidence ?? [...ofType] });
}

function ownField({ wire, evidence, ...rest }: FieldSpec, name: string, isOwn: boolean): OwnField {
  return { ...rest, ...(wire === name ? {} : { wire }), ...(isOwn ? { evidence } : {}) };
}
