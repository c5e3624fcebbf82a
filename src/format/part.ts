import { memberAt, plainValue, type SourceNode } from "../source/source-node.ts";
import { nearestName } from "../text/nearest-name.ts";
import type { Path, Problems } from "./problem.ts";

/** How a value is read, apart from its form. */
export interface ReadingOptions {
  /** It came over the network: members that are local are refused, in these words, and stricter limits hold. */
  readonly network?: true | ((member: string) => { message: string; hint?: string });
  /** It is JSON: messages say object and null. */
  readonly isJson?: true;
  /** Numbers, true and false are written as text, as in the query of an address. */
  readonly asText?: true;
  /** What forms of this file need to know, such as the names that it defines. */
  readonly context?: unknown;
}

/** One value of a file or body, with its path: converts it, or reports that it is invalid. */
export class Part {
  readonly path: Path;
  readonly node: SourceNode | undefined;
  readonly problems: Problems;
  readonly reading: ReadingOptions;

  constructor(node: SourceNode | undefined, path: Path, problems: Problems, reading: ReadingOptions = {}) {
    // Programs write members that are undefined.
    this.node = node?.kind === "scalar" && node.value === undefined ? undefined : node;
    this.path = path;
    this.problems = problems;
    this.reading = reading;
  }

  get isThere(): boolean {
    return this.node !== undefined;
  }

  get isNull(): boolean {
    return this.node?.kind === "scalar" && this.node.value === null;
  }

  get isMap(): boolean {
    return this.node?.kind === "object";
  }

  get isText(): boolean {
    return this.node?.kind === "scalar" && typeof this.node.value === "string";
  }

  part(key: string | number): Part {
    const found = this.node && memberAt(this.node, key);
    return new Part(found?.node, [...this.path, key], this.problems, this.reading);
  }

  /** The same for a member of a map whose values were collected by their names. */
  inner(key: string, values: ReadonlyMap<string, SourceNode>): Part {
    return new Part(values.get(key), [...this.path, key], this.problems, this.reading);
  }

  has(key: string): boolean {
    // Not by `part`: most questions are about members that are absent.
    const found = this.node && memberAt(this.node, key)?.node;
    return found !== undefined && !(found.kind === "scalar" && found.value === undefined);
  }

  error(message: string, hint?: string): void {
    this.problems.error(this.path, message, hint);
  }

  warning(message: string, hint?: string): void {
    this.problems.warning(this.path, message, hint);
  }

  keyError(message: string, hint?: string): void {
    this.problems.keyError(this.path, message, hint);
  }

  /** Reports members that are not known. `foreign`: what to write for keywords of other formats. */
  refuseOthers(known: ReadonlySet<string>, foreign: Readonly<Record<string, string>> = {}): void {
    for (const [key, part] of this.entries()) {
      if (known.has(key)) continue;
      const meant = nearestName(key, [...known]);
      const advice = Object.hasOwn(foreign, key) ? foreign[key] : meant && `Did you mean "${meant}"?`;
      part.keyError(`"${key}" is not known here`, advice ?? `Known are ${[...known].join(", ")}.`);
    }
  }

  entries(): [string, Part][] {
    if (!this.isThere) return [];
    if (this.node?.kind !== "object") {
      this.#wrongKind(this.reading.isJson ? "an object" : "a map of names and values");
      return [];
    }
    // Not by `part`, which searches: a file may have thousands of types.
    return this.node.members.map(({ key, node }) => [
      key,
      new Part(node, [...this.path, key], this.problems, this.reading),
    ]);
  }

  items(): Part[] {
    if (!this.isThere) return [];
    if (this.node?.kind === "list") return this.node.items.map((_, index) => this.part(index));
    this.#wrongKind("a list");
    return [];
  }

  /** One item, or a list of them. */
  oneOrMore(): Part[] {
    return this.node?.kind === "scalar" ? [this] : this.items();
  }

  /** `empty`: it may be blank. */
  text({ empty = false } = {}): string | undefined {
    if (!this.isThere) return undefined;
    const value = this.#scalar("text");
    if (typeof value === "string" && (empty || value.trim() !== "")) return value;
    if (typeof value === "string") this.error("is empty");
    return undefined;
  }

  number(): number | undefined {
    return this.#scalar("a number") as number | undefined;
  }

  /** A whole number of at least `least`. */
  integer(least = 0): number | undefined {
    const value = this.number();
    if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return value;
    this.error(`must be a whole number, ${least} or more`);
    return undefined;
  }

  boolean(): boolean | undefined {
    return this.#scalar("true or false") as boolean | undefined;
  }

  choice<T extends string>(options: readonly T[]): T | undefined {
    const value = this.text();
    if (value === undefined || options.includes(value as T)) return value as T | undefined;
    const meant = nearestName(value, options);
    this.error(`must be ${oneOf(options)}, not "${value}"`, meant && `Did you mean "${meant}"?`);
    return undefined;
  }

  /** The value without its places. */
  value(): unknown {
    return this.node && plainValue(this.node);
  }

  /** A map with any values. */
  record(): Record<string, unknown> {
    return Object.fromEntries(this.entries().map(([key, part]) => [key, part.value()]));
  }

  /** The written text of a single value. */
  source(): string | undefined {
    return this.node?.kind === "scalar" ? writtenAs(this.node) : undefined;
  }

  #scalar(wanted: "text" | "a number" | "true or false"): unknown {
    if (!this.isThere) return undefined;
    const value = this.#inType(wanted);
    const type = { text: "string", "a number": "number", "true or false": "boolean" }[wanted];
    if (typeof value === type && (typeof value !== "number" || Number.isFinite(value))) return value;
    this.#wrongKind(wanted);
    return undefined;
  }

  /** The value; in a query, of the type that is wanted. */
  #inType(wanted: string): unknown {
    const value = this.node?.kind === "scalar" ? this.node.value : undefined;
    if (!this.reading.asText || typeof value !== "string" || wanted === "text") return value;
    if (wanted === "true or false") return value === "true" ? true : value === "false" ? false : value;
    return value.trim() === "" || Number.isNaN(Number(value)) ? value : Number(value);
  }

  #wrongKind(wanted: string): void {
    const found = kindOf(this.node);
    const source = this.source() ?? "";
    const quoted = wanted === "text" && this.node?.kind === "scalar" && this.node.value !== null;
    this.error(
      `must be ${wanted}, not ${this.reading.isJson ? (IN_JSON[found] ?? found) : found}`,
      quoted ? `Write it in quotes: "${source}"` : undefined,
    );
  }
}

export function oneOf(options: readonly string[]): string {
  const [last = "", ...others] = options.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(", ")} or ${last}`;
}

const IN_JSON: Readonly<Record<string, string>> = { "a map": "an object", nothing: "null" };

function kindOf(node: SourceNode | undefined): string {
  if (node?.kind === "object") return "a map";
  if (node?.kind === "list") return "a list";
  if (node?.value === null || node === undefined) return "nothing";
  if (typeof node.value === "string") return "text";
  return typeof node.value === "number" ? "a number" : writtenAs(node);
}

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Without undefined members: in the model, what was not written does not exist. */
export function present<T extends object>(value: T): Present<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Present<T>;
}

/** Undefined if there is no value. */
function writtenAs({ source, value }: Extract<SourceNode, { kind: "scalar" }>): string {
  return source === undefined || source === "" ? String(value) : source;
}
