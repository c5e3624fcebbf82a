import { isRecord } from "../../../json/is-record.ts";
import { escapePart, pointerParts } from "../../../schema/pointer.ts";
import { percentDecoded } from "../../../text/percent-decoded.ts";
import { visible } from "../../../text/visible.ts";
import type { Evidence, Remark } from "../api-facts.ts";
import type { LoadedDocument } from "../parse-document.ts";

/** The member of a bundled document that has the other files, by their paths from the folder of the document. */
export const BUNDLED_FILES = "x-nexus-files";

/** A part of the document and its JSON pointer. */
export interface DocumentPart {
  value: unknown;
  pointer: string;
}

/** A part that is an object. */
export interface ObjectPart extends DocumentPart {
  value: Record<string, unknown>;
}

const MAX_HOPS = 100;
const MAX_REMARKS = 1_000;

/** The document with its references, followed when they are asked for, and remarks about it. */
export class ApiDocument {
  readonly root: Record<string, unknown>;
  readonly format: LoadedDocument["format"];
  /** The address that the document came from, if it was one. */
  readonly address: string | undefined;
  readonly remarks: Remark[] = [];
  readonly #name: string;
  readonly #ids: SchemaIds;
  readonly #seen = new Set<string>();
  readonly #resolved = new Map<string, DocumentPart | undefined>();

  constructor({ name, value, format, source, remarks }: LoadedDocument) {
    this.#name = name;
    this.root = isRecord(value) ? value : {};
    this.format = format;
    this.address = source !== undefined && /^https?:/i.test(source) ? source : undefined;
    this.#ids = new SchemaIds(this.root, this.address);
    for (const text of remarks) this.remark("", text);
  }

  /** Whether keywords are those of JSON Schema 2020-12, where `$ref` may have siblings. */
  get isModern(): boolean {
    return this.format === "openapi-3.1" || this.format === "openapi-3.2";
  }

  evidence(pointer: string): Evidence {
    return `${this.#name}#${pointer}`;
  }

  remark(pointer: string, text: string): void {
    const remark = { text: visible(text), evidence: this.evidence(pointer) };
    const key = `${remark.evidence}\n${remark.text}`;
    if (this.#seen.has(key) || this.remarks.length >= MAX_REMARKS) return;
    this.#seen.add(key);
    this.remarks.push(remark);
  }

  /** The part that a chain of references ends at; undefined if one of them leads nowhere or in a circle. */
  follow(part: DocumentPart): DocumentPart | undefined {
    let at: DocumentPart | undefined = part;
    for (let hop = 0; hop < MAX_HOPS && at; hop++) {
      const ref = referenceOf(at.value);
      if (ref === undefined) return at;
      at = this.resolve(ref, at.pointer);
    }
    return undefined;
  }

  /** The same, if it ends at an object. */
  followObject(part: DocumentPart): ObjectPart | undefined {
    const found = this.follow(part);
    return found && isRecord(found.value) ? { value: found.value, pointer: found.pointer } : undefined;
  }

  /** What one reference, written at `from`, refers to. */
  resolve(ref: string, from: string, hops = 0): DocumentPart | undefined {
    // Each reference is resolved once: pointers that lead through others could otherwise take exponential time.
    const key = `${bundledFile(from) ?? ""}\n${ref}`;
    if (!this.#resolved.has(key)) {
      this.#resolved.set(key, undefined);
      this.#resolved.set(key, this.#find(ref, from, hops));
    }
    const found = this.#resolved.get(key);
    return found || !ref.startsWith("#/") ? found : this.#inOwnSchema(ref.slice(1), from);
  }

  /** Inside a schema with an id of its own, pointers begin at that schema. */
  #inOwnSchema(fragment: string, from: string): DocumentPart | undefined {
    for (const id of this.#ids.enclosing(this.#chain(from))) {
      const found = this.#walk(id, fragment, MAX_HOPS);
      if (found) return found;
    }
    return undefined;
  }

  #find(ref: string, from: string, hops: number): DocumentPart | undefined {
    const hash = ref.indexOf("#");
    const file = hash === -1 ? ref : ref.slice(0, hash);
    const fragment = hash === -1 ? "" : ref.slice(hash + 1);
    const base = this.#base(file, from, fragment);
    if (base === undefined) return hash === -1 ? this.#byName(ref) : undefined;
    if (fragment === "") return this.#walk(base, "", hops);
    if (!fragment.startsWith("/")) return this.#ids.anchor(percentDecoded(fragment), base);
    const found = this.#walk(base, fragment, hops);
    return found || !fragment.includes("%") ? found : this.#walk(base, percentDecoded(fragment), hops);
  }

  /** The pointer of the file that a reference is about. */
  #base(file: string, from: string, fragment: string): string | undefined {
    const here = bundledFile(from);
    if (file === "") return here === undefined ? "" : `/${BUNDLED_FILES}/${escapePart(here)}`;
    const files = this.root[BUNDLED_FILES];
    const path = relativePath(percentDecoded(file), here);
    if (isRecord(files) && Object.hasOwn(files, path)) {
      return `/${BUNDLED_FILES}/${escapePart(path)}`;
    }
    return this.#ids.schema(file) ?? (this.#isItself(file) && fragment !== "" ? "" : undefined);
  }

  /** Some documents refer to themselves by the name of their own file. */
  #isItself(file: string): boolean {
    const own = this.root["$self"] ?? this.address;
    return typeof own === "string" && (own === file || own.endsWith(`/${file.replace(/^\.\//, "")}`));
  }

  /** `$ref: Pet`, as Swagger 1 wrote it. */
  #byName(name: string): DocumentPart | undefined {
    const base = this.format === "openapi-2.0" ? "/definitions" : "/components/schemas";
    return /^[\w.-]+$/.test(name) ? this.#walk("", `${base}/${escapePart(name)}`, 0) : undefined;
  }

  #walk(base: string, fragment: string, hops: number): DocumentPart | undefined {
    let at: DocumentPart | undefined = { value: this.root, pointer: "" };
    for (const name of pointerParts(`${base}${fragment}`)) {
      let next = memberOf(at, name);
      const ref: string | undefined = next ? undefined : referenceOf(at.value);
      if (ref !== undefined && hops < MAX_HOPS) {
        const target = this.resolve(ref, at.pointer, hops + 1);
        next = target && memberOf(target, name);
      }
      if (!next) return undefined;
      at = next;
    }
    return at;
  }

  /** The objects on the way to a pointer. */
  #chain(pointer: string): DocumentPart[] {
    const parts: DocumentPart[] = [{ value: this.root, pointer: "" }];
    for (const name of pointerParts(pointer)) {
      const [last] = parts.slice(-1);
      const next = last && memberOf(last, name);
      if (!next) break;
      parts.push(next);
    }
    return parts;
  }
}

/** The reference of an object, if it is one. */
export function referenceOf(value: unknown): string | undefined {
  if (!isRecord(value) || !Object.hasOwn(value, "$ref")) return undefined;
  const ref = value["$ref"];
  return typeof ref === "string" ? ref : undefined;
}

/** An own member of an object, or an item of a list. */
export function memberOf({ value, pointer }: DocumentPart, name: string): DocumentPart | undefined {
  if (Array.isArray(value)) {
    const index = /^\d{1,9}$/.test(name) ? Number(name) : -1;
    return index >= 0 && index < value.length
      ? { value: (value as unknown[])[index], pointer: `${pointer}/${index}` }
      : undefined;
  }
  if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
  return { value: value[name], pointer: `${pointer}/${escapePart(name)}` };
}

/** The members of an object with their pointers, without extensions; none if it is not an object. */
export function membersOf(part: DocumentPart | undefined): [string, DocumentPart][] {
  if (!part || !isRecord(part.value)) return [];
  return Object.entries(part.value)
    .filter(([name]) => !name.startsWith("x-"))
    .map(([name, value]) => [name, { value, pointer: `${part.pointer}/${escapePart(name)}` }]);
}

/** The items of a list with their pointers; none if it is not a list. */
export function itemsOf(part: DocumentPart | undefined): DocumentPart[] {
  if (!part || !Array.isArray(part.value)) return [];
  return (part.value as unknown[]).map((value, index) => ({ value, pointer: `${part.pointer}/${index}` }));
}

/** Text, also where a number or a boolean was written without quotes. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** The path of a file from the folder of the document: `../common/types.json`. */
function relativePath(file: string, here: string | undefined): string {
  const steps = here === undefined ? [] : here.split("/").slice(0, -1);
  for (const step of file.split("/")) {
    if (step === ".." && steps.length > 0 && steps.at(-1) !== "..") steps.pop();
    else if (step !== "." && step !== "") steps.push(step);
  }
  return steps.join("/");
}

/** Where schemas with an `$id` and anchors are. Made on first use, because few documents have any. */
class SchemaIds {
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

/** The file that a pointer of a bundled document is in; undefined for the document itself. */
function bundledFile(pointer: string): string | undefined {
  if (!pointer.startsWith(`/${BUNDLED_FILES}/`)) return undefined;
  return pointerParts(pointer)[1];
}
