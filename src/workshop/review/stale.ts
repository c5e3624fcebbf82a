import { sha256 } from "../../text/digest.ts";
import { evidencedPlaces, isLines, isPage, partsOfEvidence, type Citation } from "../compile/citations.ts";
import { CitedDocument, partText } from "../compile/cited-document.ts";
import { toolsByType } from "../compile/type-reach.ts";
import type { ToolFile } from "../file/model/tool-file.ts";

/** A statement of a tool file whose evidence is not what it was. */
export interface StalePlace {
  /** Where in the file: `types.Pet.fields.name`, `tools.find_pets`. */
  path: string;
  evidence: string;
  change: "changed" | "gone";
  /** What the document said; undefined if only its hash was kept. */
  before?: string;
  after?: string;
  /** The tools that it is a part of. */
  tools: string[];
}

/** Lines or a page that say the same as before, elsewhere in the document. */
export interface MovedPlace {
  path: string;
  evidence: string;
  to: string;
}

export interface StaleOptions {
  /** What was cited before, by evidence. */
  citations: Readonly<Record<string, Citation>>;
  /** The texts that the citations were made of, if they are known. */
  before: Readonly<Record<string, string>>;
  /** The present texts. Documents that are not among them are not compared. */
  after: Readonly<Record<string, string>>;
}

/** Everything in a file that leaned on parts of documents that are different now, in the order of the file. */
export function staleIn(file: ToolFile, options: StaleOptions): { stale: StalePlace[]; moved: MovedPlace[] } {
  const documents = new Map(
    Object.entries(options.after).map(([name, text]) => [name, new ComparedDocument(name, text, options.before[name])]),
  );
  const users = usersOf(file);
  const stale: StalePlace[] = [];
  const moved: MovedPlace[] = [];
  for (const [path, all] of evidencedPlaces(file)) {
    for (const evidence of all) {
      const { document, place } = partsOfEvidence(evidence);
      const citation = Object.hasOwn(options.citations, evidence) ? options.citations[evidence] : undefined;
      const found = citation && documents.get(document)?.compare(place, citation);
      if (!found) continue;
      if ("to" in found) moved.push({ path, evidence, to: `${document}#${found.to}` });
      else stale.push({ path, evidence, ...found, tools: users(path) });
    }
  }
  return { stale, moved };
}

/** So far around changed lines a line is looked for that is still there. */
const NEAR_LINES = 50;

type Comparison = { to: string } | Pick<StalePlace, "change" | "before" | "after">;

class ComparedDocument {
  readonly #now: CitedDocument;
  readonly #old: CitedDocument | undefined;
  /** By the number of lines: the first line of each text of that many lines, or 0 if it is there twice. */
  readonly #windows = new Map<number, Map<string, number>>();
  readonly #known = new Map<string, Comparison | undefined>();

  constructor(name: string, now: string, old: string | undefined) {
    this.#now = new CitedDocument(now, name);
    this.#old = old === undefined ? undefined : new CitedDocument(old, name);
  }

  /** Undefined if it is the same at the same place. */
  compare(place: string, citation: Citation): Comparison | undefined {
    if (!this.#known.has(place)) {
      this.#known.set(place, this.#comparison(place, citation));
    }
    return this.#known.get(place);
  }

  #comparison(place: string, citation: Citation): Comparison | undefined {
    if (isLines(citation)) return this.#lines(citation);
    return isPage(citation) ? this.#page(citation) : this.#part(place, citation.sha256);
  }

  #page({ page, sha256: hash }: { page: number; sha256: string }): Comparison | undefined {
    const after = this.#now.findPage(page);
    if (after !== undefined && sha256(after) === hash) return undefined;
    const same = this.#now.pages.flatMap((text, index) => (sha256(text) === hash ? [index + 1] : []));
    if (same.length === 1) return { to: `P${same[0]}` };
    const before = this.#old?.findPage(page);
    return {
      change: after === undefined ? "gone" : "changed",
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    };
  }

  #part(pointer: string, hash: string): Comparison | undefined {
    if (this.#now.partHash(pointer) === hash) return undefined;
    const [old, now] = [this.#old?.findPart(pointer), this.#now.findPart(pointer)];
    return {
      change: now ? "changed" : "gone",
      ...(old ? { before: partText(old) } : {}),
      ...(now ? { after: partText(now) } : {}),
    };
  }

  #lines({ from, to, sha256: hash }: { from: number; to: number; sha256: string }): Comparison | undefined {
    const after = this.#now.quote({ from, to });
    if (sha256(after) === hash && to <= this.#now.lines.length) return undefined;
    const length = to - from + 1;
    const first = this.#window(length).get(hash) ?? 0;
    if (first > 0) return { to: length === 1 ? `L${first}` : `L${first}-L${first + length - 1}` };
    const before = this.#old?.quote({ from, to });
    const shift = this.#shift(from, to);
    const present = shift === 0 ? after : this.#now.quote({ from: from + shift, to: to + shift });
    return {
      change: from + shift > this.#now.lines.length ? "gone" : "changed",
      ...(before === undefined ? {} : { before }),
      ...(present === "" ? {} : { after: present }),
    };
  }

  /** By how many lines the text around changed lines moved; 0 if its nearest lines before and after disagree. */
  #shift(from: number, to: number): number {
    const above = this.#moveOfNearest(from - 1, -1);
    return above !== undefined && above === this.#moveOfNearest(to + 1, 1) ? above : 0;
  }

  #moveOfNearest(start: number, step: 1 | -1): number | undefined {
    const count = this.#old?.lines.length ?? 0;
    for (let line = start; line >= 1 && line <= count && Math.abs(line - start) < NEAR_LINES; line += step) {
      const found = this.#window(1).get(sha256(this.#old?.quote({ from: line, to: line }) ?? "")) ?? 0;
      if (found > 0) return found - line;
    }
    return undefined;
  }

  #window(length: number): Map<string, number> {
    const known = this.#windows.get(length);
    if (known) return known;
    const found = new Map<string, number>();
    for (let from = 1; from + length - 1 <= this.#now.lines.length; from++) {
      const hash = sha256(this.#now.quote({ from, to: from + length - 1 }));
      found.set(hash, found.has(hash) ? 0 : from);
    }
    this.#windows.set(length, found);
    return found;
  }
}

/** The tools that a place of the file is a part of. */
function usersOf(file: ToolFile): (path: string) => string[] {
  let byType: Map<string, Set<string>> | undefined;
  return (path) => {
    const [kind, name = ""] = path.split(".");
    if (kind !== "types") return kind === "tools" ? [name] : [];
    byType ??= toolsByType(file);
    return [...(byType.get(name) ?? [])];
  };
}
