import { isRecord } from "../../../json/is-record.ts";
import { escapePart } from "../../../schema/pointer.ts";
import type { DocumentPart } from "./api-document.ts";

/** Where schemas with an `$id` and anchors are. Made on first use, because few documents have any. */
export class SchemaIds {
  readonly #root: Record<string, unknown>;
  readonly #address: string | undefined;
  #found: { ids: Map<string, string>; anchors: Map<string, DocumentPart> } | undefined;

  constructor(root: Record<string, unknown>, address: string | undefined) {
    this.#root = root;
    this.#address = address;
  }

  /** The pointer of the schema with this id. */
  schema(id: string): string | undefined {
    const { ids } = this.#index();
    return ids.get(id) ?? ids.get(this.#absolute(id));
  }

  /** The schema with an anchor, within the part at `base` if there are several. */
  anchor(name: string, base: string): DocumentPart | undefined {
    const { anchors } = this.#index();
    return anchors.get(`${base}#${name}`) ?? anchors.get(`#${name}`);
  }

  /** The pointers of those objects on a way that have an id, the innermost first. */
  enclosing(way: readonly DocumentPart[]): string[] {
    return way
      .filter(({ value, pointer }) => pointer !== "" && isRecord(value) && typeof value["$id"] === "string")
      .map(({ pointer }) => pointer)
      .toReversed();
  }

  #index() {
    if (this.#found) return this.#found;
    const ids = new Map<string, string>();
    const anchors = new Map<string, DocumentPart>();
    this.#found = { ids, anchors };
    const waiting: { part: DocumentPart; base: string }[] = [{ part: { value: this.#root, pointer: "" }, base: "" }];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { value, pointer } = next.part;
      let { base } = next;
      if (isRecord(value)) {
        const { $id: id, $anchor: anchor, $dynamicAnchor: dynamic } = value;
        if (typeof id === "string") {
          base = pointer;
          for (const key of [id, this.#absolute(id)]) if (!ids.has(key)) ids.set(key, pointer);
        }
        for (const name of [anchor, dynamic]) {
          if (typeof name !== "string") continue;
          anchors.set(`${base}#${name}`, next.part);
          if (!anchors.has(`#${name}`)) anchors.set(`#${name}`, next.part);
        }
      }
      for (const part of children(next.part)) waiting.push({ part, base });
    }
    return this.#found;
  }

  #absolute(id: string): string {
    const own = this.#root["$self"];
    const base = typeof own === "string" && URL.canParse(own) ? own : this.#address;
    return URL.canParse(id, base) ? new URL(id, base).href.replace(/#$/, "") : id;
  }
}

function children({ value, pointer }: DocumentPart): DocumentPart[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value)
    .filter(([, member]) => typeof member === "object" && member !== null)
    .map(([name, member]) => ({
      value: member as unknown,
      pointer: `${pointer}/${escapePart(name)}`,
    }));
}
