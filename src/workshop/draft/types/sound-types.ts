import type { FieldSpec, Shape, UnionShape } from "../../file/model/tool-file.ts";
import type { QuestionList } from "../questions.ts";
import { typesIn } from "../../shape/shape-parts.ts";
import { allFields, type DraftType } from "./draft-type.ts";

type Types = ReadonlyMap<string, DraftType>;

/** Changes what no tool file can have: values that contain themselves without end, and unions that cannot be told apart. */
export function makeSound(types: Types, questions: QuestionList): void {
  breakEndless(types, questions);
  for (const type of types.values()) {
    for (const shape of shapesOf(type)) dropDiscriminators(shape, type, types, questions);
  }
}

/** A required object inside of itself becomes optional. */
function breakEndless(types: Types, questions: QuestionList): void {
  const done = new Set<string>();
  const visit = (type: DraftType, open: readonly DraftType[]): void => {
    if (done.has(type.name)) return;
    for (const [name, field] of allFields(type)) {
      const inner = field.optional || field.nullable ? undefined : objectIn(field.shape, types);
      if (!inner) continue;
      if (open.includes(inner)) {
        field.optional = true;
        questions.add(
          "The document requires a value that contains itself without end; it is optional here.",
          `types.${type.name}.fields.${name}`,
        );
      } else {
        visit(inner, [...open, inner]);
      }
    }
    done.add(type.name);
  };
  for (const type of types.values()) visit(type, [type]);
}

function objectIn(shape: Shape, types: Types): DraftType | undefined {
  return shape.kind === "object" ? types.get(shape.type) : undefined;
}

function shapesOf({ fields, additional, union }: DraftType): Shape[] {
  return [
    ...[...fields.values()].map(({ shape }) => shape),
    ...(additional ? [additional] : []),
    ...(union ? [union] : []),
  ];
}

function dropDiscriminators(shape: Shape, type: DraftType, types: Types, questions: QuestionList): void {
  if (shape.kind === "list" || shape.kind === "map") dropDiscriminators(shape.of, type, types, questions);
  if (shape.kind !== "union") return;
  for (const inner of shape.of) dropDiscriminators(inner, type, types, questions);
  if (!shape.discriminator || isSound(shape, types)) return;
  delete shape.discriminator;
  questions.add(
    "The values of the discriminator are not those of its types, so it was left out.",
    `types.${type.name}`,
  );
}

function isSound({ discriminator }: UnionShape, types: Types): boolean {
  return Object.entries(discriminator?.values ?? {}).every(([value, name]) => {
    const type = types.get(name);
    if (!type || type.union) return false;
    const field = [...allFields(type).values()].find(({ wire }) => wire === discriminator?.member);
    return field === undefined || takes(field, value);
  });
}

function takes({ shape }: FieldSpec, value: string): boolean {
  if (shape.kind !== "scalar") return false;
  return shape.enum === undefined || shape.enum.map(String).includes(value);
}

/** The types that can be reached from others, in the order of their first use. */
export function reachedFrom(roots: Iterable<string>, types: Types): Map<string, DraftType> {
  const reached = new Map<string, DraftType>();
  const open = [...roots].toReversed();
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const type = types.get(name);
    if (!type || reached.has(name)) continue;
    reached.set(name, type);
    const inner = [...type.include.map((each) => each.name), ...shapesOf(type).flatMap(typesIn)];
    open.push(...inner.toReversed());
  }
  return reached;
}
