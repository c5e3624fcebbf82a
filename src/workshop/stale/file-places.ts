import { evidencedPlaces, partsOfEvidence } from "../compile/citations.ts";
import { toolsByType } from "../compile/type-reach.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { groupedBy } from "../../text/grouped-by.ts";
import type { FactChange, TrailStep } from "./comparing.ts";

/** Finds the places of a tool file that state what a document says, and the tools that these are a part of. */
export class FilePlaces {
  readonly #file: ToolFile;
  readonly #document: string;
  /** By evidence. Fields and rules that only have the evidence of their type are not in it. */
  readonly #places = new Map<string, string[]>();
  #tools: Map<string, Set<string>> | undefined;

  constructor(file: ToolFile, document: string) {
    this.#file = file;
    this.#document = document;
    for (const [path, all] of evidencedPlaces(file)) {
      const inherited = path.startsWith("types.") ? (file.types[path.split(".")[1] ?? ""]?.evidence ?? []) : [];
      const isWhole = path.split(".").length === 2;
      if (!isWhole && all.length > 0 && all.join() === inherited.join()) continue;
      for (const evidence of all) this.#places.set(evidence, [...(this.#places.get(evidence) ?? []), path]);
    }
  }

  /** Where the file has what changed; the innermost part of the document that the file cites decides. */
  placesOf({ trail, member = "" }: FactChange): string[] {
    for (let index = trail.length - 1; index >= 0; index--) {
      const step = trail[index];
      const found = step ? this.#at(step, namesAround(trail, index), member) : [];
      if (found.length > 0) return found;
    }
    return [`documents.${this.#document}`];
  }

  /** The tools that a place is a part of; none if it is about the whole file. */
  toolsOf(path: string): string[] {
    const [section, name = ""] = path.split(".");
    if (section === "tools") return [name];
    if (section === "types") {
      this.#tools ??= toolsByType(this.#file);
      return [...(this.#tools.get(name) ?? [])];
    }
    if (section !== "secrets" || name === "") return [];
    return Object.entries(this.#file.tools).flatMap(([tool, { request }]) => (request?.secrets === name ? [tool] : []));
  }

  /** Whether a tool of the file was made of an operation. */
  isUsed(evidence: string): boolean {
    const own = Object.values(this.#file.tools).flatMap((tool) => tool.evidence);
    return own.some((each) => each === evidence || touches(each, evidence));
  }

  #at({ kind, evidence, name = "" }: TrailStep, names: NamesAround, member: string): string[] {
    switch (kind) {
      case "document":
        return member in this.#file ? [member] : [];
      case "server":
        return ["upstream.base"];
      case "security": {
        const sets = Object.keys(this.#file.secrets);
        const same = sets.filter((set) => plain(set) === plain(name));
        return same.length > 0 ? same.map((set) => `secrets.${set}`) : ["secrets"];
      }
      case "operation": {
        const tools = this.#toolsAt(evidence);
        const fields = this.#types(evidence, names).filter((path) => path.split(".").length > 2);
        return fields.length > 0 ? fields : tools;
      }
      case "parameter":
      case "message":
      case "schema": {
        const exact = evidence.flatMap((each) => this.#places.get(each) ?? []);
        const fields = exact.filter((path) => path.split(".").length > 2 || path.startsWith("settings."));
        const types = this.#types(evidence, names);
        if (fields.length === 0) return types;
        const name = nameFor(evidence, names);
        if (name === undefined) return [...new Set(fields)];
        const { named, others } = this.#byName(fields, name);
        const found = [...named, ...types.filter((path) => path.split(".").length > 2)];
        // A line can also be that of types which have nothing to do with it.
        const isEnough = found.length > 0 && evidence.some(isOfLines);
        return [...new Set([...found, ...(isEnough ? [] : others)])];
      }
    }
  }

  #toolsAt(evidence: readonly string[]): string[] {
    const exact = evidence.flatMap((each) => this.#places.get(each) ?? []).filter((path) => path.startsWith("tools."));
    if (exact.length > 0) return exact;
    const near = [...this.#places].filter(([cited]) => evidence.some((each) => touches(cited, each)));
    return [...new Set(near.flatMap(([, paths]) => paths).filter((path) => path.startsWith("tools.")))];
  }

  /** Types that were made of a part, or their field that a step further inside is about. */
  #types(evidence: readonly string[], names: NamesAround): string[] {
    const types = evidence
      .flatMap((each) => this.#places.get(each) ?? [])
      .filter((path) => /^types\.[^.]+$/.test(path));
    const name = nameFor(evidence, names);
    return [...new Set(types)].map((path) => {
      const field = name === undefined ? undefined : this.#fieldOf(path.slice("types.".length), name);
      return field === undefined ? path : `${path}.fields.${field}`;
    });
  }

  /** A type can have several fields that were made of one part of a document: of these, the one of that name. */
  #byName(fields: readonly string[], name: string): { named: string[]; others: string[] } {
    const [named, others]: [string[], string[]] = [[], []];
    for (const [type, all] of groupedBy(fields, (path) => path.split(".").slice(0, 2).join("."))) {
      const own = `${type}.fields.${this.#fieldOf(type.slice("types.".length), name)}`;
      if (all.includes(own)) named.push(own);
      else others.push(...all);
    }
    return { named, others };
  }

  #fieldOf(type: string, name: string): string | undefined {
    const fields = Object.entries(this.#file.types[type]?.fields ?? {});
    const byWire = fields.find(
      ([, { wire }]) => wire !== false && plain(wire.split(/[/.:]/).at(-1) ?? "") === plain(name),
    );
    return (byWire ?? fields.find(([field]) => plain(field) === plain(name)))?.[0];
  }
}

/** The nearest names of a step: of what is inside of it, and of what it is itself or is inside of. */
interface NamesAround {
  inside: string | undefined;
  outside: string | undefined;
}

function namesAround(trail: readonly TrailStep[], index: number): NamesAround {
  return {
    inside: trail.slice(index + 1).find((step) => step.name !== undefined)?.name,
    outside: trail.slice(0, index + 1).findLast((step) => step.name !== undefined)?.name,
  };
}

/** The name of the field that a step is about. Where a row of a manual begins a type, it is also that of its first field. */
function nameFor(evidence: readonly string[], { inside, outside }: NamesAround): string | undefined {
  return inside ?? (evidence.some(isOfLines) ? outside : undefined);
}

/** Lines that overlap, or a part inside of another one. */
export function touches(one: string, other: string): boolean {
  const [a, b] = [partsOfEvidence(one), partsOfEvidence(other)];
  if (a.document !== b.document) return false;
  const [lines, otherLines] = [linesOf(a.place), linesOf(b.place)];
  if (lines && otherLines) return lines.from <= otherLines.to && otherLines.from <= lines.to;
  return a.place === b.place || a.place.startsWith(`${b.place}/`) || b.place.startsWith(`${a.place}/`);
}

function isOfLines(evidence: string): boolean {
  return linesOf(partsOfEvidence(evidence).place) !== undefined;
}

function linesOf(place: string): { from: number; to: number } | undefined {
  const [, from, to = from] = /^L(\d+)(?:-L?(\d+))?$/.exec(place) ?? [];
  return from === undefined ? undefined : { from: Number(from), to: Number(to) };
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
