import { sha256 } from "../../text/digest.ts";
import { evidencedPlaces, isLines, isPage, partsOfEvidence, type Citation } from "../compile/citations.ts";
import { CitedDocument, partText } from "../compile/cited-document.ts";
import type { DocumentFormat } from "../documents/api-facts.ts";
import { toolsByType } from "../compile/type-reach.ts";
import type { ToolFile } from "../file/model/tool-file.ts";

/** A statement of a tool file whose evidence is not what it was. */
export interface StalePlace {
  /** Where in the file: `types.Pet.fields.name`, `tools.find_pets`, `upstream.base`. */
  path: string;
  /** The place in the document. */
  evidence: string;
  /** What of it differs, such as `required` or `enum`; undefined if that is not known, or all of it. */
  member?: string;
  /** `new`: the document says more about it than before. */
  change: "changed" | "gone" | "new";
  /** What the document said; undefined if only its hash was kept. */
  before?: string;
  after?: string;
  /** The tools that it is a part of; none if it is about the whole file. */
  tools: string[];
}

/** Lines or a page that say the same as before, elsewhere in the document. */
export interface MovedPlace {
  path: string;
  evidence: string;
  to: string;
}

interface StaleOptions {
  /** What was cited before, by evidence. */
  citations: Readonly<Record<string, Citation>>;
  /** The texts that the citations were made of, if they are known. */
  before: Readonly<Record<string, string>>;
  /** The present texts. Documents that are not among them are not compared. */
  after: Readonly<Record<string, string>>;
  /** By document, for comparing words instead of lines. */
  formats?: Readonly<Record<string, DocumentFormat | undefined>>;
}

/** Everything in a file that leaned on parts of documents that are different now, in the order of the file. */
export function staleIn(file: ToolFile, options: StaleOptions): { stale: StalePlace[]; moved: MovedPlace[] } {
  const documents = new Map(
    Object.entries(options.after).map(([name, text]) => {
      const old = options.before[name];
      return [name, new ComparedDocument(name, text, { old, format: options.formats?.[name] })];
    }),
  );
  const users = usersOf(file);
  const stale: StalePlace[] = [];
  const moved: MovedPlace[] = [];
  for (const [path, all] of evidencedPlaces(file)) {
    const owned = ownedLines(file, path);
    for (const evidence of all) {
      if (isInherited(file, path, evidence)) continue;
      const { document, place } = partsOfEvidence(evidence);
      const citation = Object.hasOwn(options.citations, evidence) ? options.citations[evidence] : undefined;
      const compared = documents.get(document);
      const found = citation && compared?.compare(place, citation);
      if (!found) continue;
      if (citation && isLines(citation) && compared?.isSameWithout(citation, owned.get(document))) continue;
      if ("to" in found) moved.push({ path, evidence, to: `${document}#${found.to}` });
      else stale.push({ path, evidence, ...found, tools: users(path) });
    }
  }
  return { stale, moved };
}

/** Fields and rules without evidence of their own have that of their type, where it is reported. */
function isInherited(file: ToolFile, path: string, evidence: string): boolean {
  const [section, type = "", part] = path.split(".");
  return section === "types" && part !== undefined && file.types[type]?.evidence?.includes(evidence) === true;
}

/** The lines that the fields and rules of a type cite themselves, by document: what changed there is reported there. */
function ownedLines(file: ToolFile, path: string): Map<string, Set<number>> {
  const [section, name = "", part] = path.split(".");
  const found = new Map<string, Set<number>>();
  if (section !== "types" || part !== undefined) return found;
  const { fields = {}, rules = [], evidence: own = [] } = file.types[name] ?? {};
  for (const evidence of [...Object.values(fields), ...rules].flatMap((each) => each.evidence)) {
    if (own.includes(evidence)) continue;
    const { document, place } = partsOfEvidence(evidence);
    const [lines, from, to = from] = /^L(\d+)(?:-L(\d+))?$/.exec(place) ?? [];
    if (lines === undefined) continue;
    const numbers = found.get(document) ?? new Set();
    for (let line = Number(from); line <= Number(to); line++) numbers.add(line);
    found.set(document, numbers);
  }
  return found;
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
  readonly #said: () => readonly [MeaningText, MeaningText] | undefined;
  #texts: { both: readonly [MeaningText, MeaningText] | undefined } | undefined;

  constructor(
    name: string,
    now: string,
    { old, format }: { old: string | undefined; format: DocumentFormat | undefined },
  ) {
    this.#now = new CitedDocument(now, name);
    this.#old = old === undefined ? undefined : new CitedDocument(old, name);
    this.#said = () => (old === undefined ? undefined : [new MeaningText(old, format), new MeaningText(now, format)]);
  }

  /** The older and the newer text, if the older one is known. */
  get #words(): readonly [MeaningText, MeaningText] | undefined {
    this.#texts ??= { both: this.#said() };
    return this.#texts.both;
  }

  /** Whether lines say the same, apart from some of them. False if there are no such lines. */
  isSameWithout({ from, to }: { from: number; to: number }, lines: ReadonlySet<number> = new Set()): boolean {
    const words = this.#words;
    if (!words || lines.size === 0) return false;
    const [old, now] = words;
    for (let first = from; first <= to; first++) {
      if (lines.has(first)) continue;
      let last = first;
      while (last < to && !lines.has(last + 1)) last++;
      if (!now.find(old.between(first, last), first)) return false;
      first = last;
    }
    return true;
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
    if (before !== undefined && after !== undefined && isSameText(before, after)) return undefined;
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
    if (first > 0) return { to: lineText(first, first + length - 1) };
    const [old, now] = this.#words ?? [];
    const same = old && now?.find(old.between(from, to), from);
    if (same) return same.from === from && same.to === to ? undefined : { to: lineText(same.from, same.to) };
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

function lineText(from: number, to: number): string {
  return from === to ? `L${from}` : `L${from}-L${to}`;
}

function isSameText(before: string, after: string): boolean {
  const [old, now] = [before, after].map((text) => text.replaceAll(/\s+/g, " ").trim());
  return old === now;
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

/** A piece of a document that means something, and the line that it begins in. */
interface Token {
  text: string;
  line: number;
}

/** A text in which words, tags or names follow each other, whatever the layout of the document. */
export class MeaningText {
  readonly #tokens: readonly Token[];
  /** All tokens, each between line feeds. */
  readonly #text: string;
  /** Where each token begins in it. */
  readonly #starts: number[] = [];

  constructor(text: string, format: DocumentFormat | undefined) {
    this.#tokens = [...tokensOf(text, format)];
    let length = 1;
    for (const { text: token } of this.#tokens) {
      this.#starts.push(length);
      length += token.length + 1;
    }
    this.#text = `\n${this.#tokens.map((token) => token.text).join("\n")}\n`;
  }

  /** What lines from the first to the last say. */
  between(from: number, to: number): string[] {
    return this.#tokens.filter(({ line }) => line >= from && line <= to).map(({ text }) => text);
  }

  /** The lines that say the same; those nearest to `line` if there are several. */
  find(tokens: readonly string[], line: number): { from: number; to: number } | undefined {
    if (tokens.length === 0) return { from: line, to: line };
    const needle = `\n${tokens.join("\n")}\n`;
    let best: { from: number; to: number } | undefined;
    for (let at = this.#text.indexOf(needle); at >= 0; at = this.#text.indexOf(needle, at + 1)) {
      const first = this.#indexAt(at + 1);
      const found = { from: this.#lineOf(first), to: this.#lineOf(first + tokens.length - 1) };
      if (!best || Math.abs(found.from - line) < Math.abs(best.from - line)) best = found;
      if (best.from > line) break;
    }
    return best;
  }

  #lineOf(index: number): number {
    return this.#tokens[index]?.line ?? 1;
  }

  #indexAt(position: number): number {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** One alternative each: comments, quoted texts, names, and all other characters. */
const GRAPHQL = /#[^\n]*|"""[^]*?"""|"[^"\n]*"|[\w$@!]+|[^\s,]/g;
const MARKUP_COMMENT = /<!--[^]*?-->/g;
/** The line below the head of a table. */
const TABLE_RULE = /^[|:+=-]+$/;

function* tokensOf(text: string, format: DocumentFormat | undefined): Generator<Token> {
  if (format === "wsdl-1.1") return yield* tags(withoutComments(text));
  if (format === "graphql") {
    for (const token of matches(text, GRAPHQL)) if (!token.text.startsWith("#")) yield token;
    return;
  }
  const words = format === "markdown" || format === "html" ? withoutComments(text) : text;
  for (const token of matches(words, /[|]|[^\s|]+/g))
    if (!TABLE_RULE.test(token.text) || token.text === "|") yield token;
}

/** Comments of markup become blanks, and lines stay where they are. */
function withoutComments(text: string): string {
  // Behind the last end, each of many beginnings would be read up to the end of the text.
  const end = text.lastIndexOf("-->") + "-->".length;
  const head = text.slice(0, end).replaceAll(MARKUP_COMMENT, (found) => found.replaceAll(/[^\n]/g, " "));
  return head + text.slice(end);
}

function* matches(text: string, pattern: RegExp): Generator<Token> {
  let [line, from] = [1, 0];
  for (const { 0: found, index } of text.matchAll(pattern)) {
    for (let at = text.indexOf("\n", from); at >= 0 && at < index; at = text.indexOf("\n", at + 1)) line++;
    from = index;
    yield { text: oneLine(found), line };
  }
}

/** From the beginning of a name: at each letter of a long one it would be read again. */
const ATTRIBUTE = /(?<![^\s=<>"'])[^\s=<>"']+\s*=\s*(?:"[^"]*"|'[^']*')/g;

/** Tags of XML with their attributes in alphabetical order, and the words between them. */
function* tags(text: string): Generator<Token> {
  for (const token of matches(text, /<[^<>]*>|[^<>\s]+/g)) {
    const { text: found, line } = token;
    if (!found.startsWith("<")) yield token;
    else {
      const attributes = (found.match(ATTRIBUTE) ?? []).map((each) => each.replace(/\s*=\s*["'](.*)["']$/, '="$1"'));
      const name = /^<[/?!]?[^\s<>/]*/.exec(found)?.[0] ?? "<";
      yield { text: [name, ...attributes.toSorted()].join(" "), line };
      // An empty element is written in two ways.
      if (found.endsWith("/>")) yield { text: name.replace("<", "</"), line };
    }
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
