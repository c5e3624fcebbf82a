import { exactText } from "../../../json/exact-json.ts";
import { isJsonObject } from "../../../json/exact-decimal.ts";
import type { ObjectShape, ToolFile, UnionShape } from "../../file/model/tool-file.ts";
import { tagField } from "../../shape/union-tags.ts";
import { own } from "../record/record-source.ts";

/** `names`: a value has the names of fields, as callers write them; `wire`: it has the names upstream. */
export type Wording = "names" | "wire";

/** The types by the text of one member, with their place in the discriminator. */
interface TagMember {
  name: string;
  types: Map<string, { shape: ObjectShape; rank: number }>;
}

/** Finds the alternative that a discriminator names, in one look however many alternatives there are. */
export class Discriminators {
  readonly #file: Pick<ToolFile, "types">;
  readonly #wording: Wording;
  readonly #members = new Map<UnionShape, TagMember[]>();

  constructor(types: ToolFile["types"], wording: Wording) {
    this.#file = { types };
    this.#wording = wording;
  }

  named(union: UnionShape, value: unknown): ObjectShape | undefined {
    if (!union.discriminator || !isJsonObject(value)) return undefined;
    let first: { shape: ObjectShape; rank: number } | undefined;
    for (const { name, types } of this.#membersOf(union)) {
      const given = own(value, name);
      if (given === undefined) continue;
      const found = types.get(plainText(given));
      if (found && found.rank < (first?.rank ?? Infinity)) first = found;
    }
    return first?.shape;
  }

  /** Usually one; the types may have different names for the same member. */
  #membersOf(union: UnionShape): TagMember[] {
    const known = this.#members.get(union);
    if (known) return known;
    const members = new Map<string, TagMember>();
    const { member = "", values = {} } = union.discriminator ?? {};
    for (const [rank, [value, type]] of Object.entries(values).entries()) {
      const [name, field] = (this.#wording === "names" ? tagField(this.#file, type, member) : undefined) ?? [member];
      const codes = field?.shape.kind === "scalar" ? field.shape.codes : undefined;
      const text = codes?.[value] ?? value;
      const its = members.get(name) ?? { name, types: new Map() };
      if (!its.types.has(text)) its.types.set(text, { shape: { kind: "object", type }, rank });
      members.set(name, its);
    }
    const made = [...members.values()];
    this.#members.set(union, made);
    return made;
  }
}

/** As it stands in a tool file. */
export function plainText(value: unknown): string {
  return typeof value === "string" ? value : exactText(value);
}
