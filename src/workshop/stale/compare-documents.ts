import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { sha256 } from "../../text/digest.ts";
import { citationsOf, partsOfEvidence, type Citation, evidencedPlaces } from "../compile/citations.ts";
import type { ApiFacts, DocumentFormat } from "../documents/api-facts.ts";
import { parseDocument } from "../documents/parse-document.ts";
import { factsOf } from "../draft/read-document.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { staleIn, type MovedPlace, type StalePlace } from "../review/stale.ts";
import type { FactChange, TrailStep } from "./comparing.ts";
import { factChanges } from "./fact-changes.ts";
import { isSameMeaning } from "./same-meaning.ts";
import { toolsByType } from "../compile/type-reach.ts";
import { groupedBy } from "../../text/grouped-by.ts";

/** A document of which not everything could be compared. */
export interface Uncompared {
  document: string;
  why: string;
}

interface ComparedDocuments {
  stale: StalePlace[];
  moved: MovedPlace[];
  uncompared: Uncompared[];
  /** Documents that say the same in all that the file has of them, although their texts differ. */
  otherwise: string[];
}

export interface DocumentVersions {
  /** The texts that the file was written from, as far as they are known. */
  before: Readonly<Record<string, string>>;
  /** The present texts. Documents that are not among them are not compared. */
  after: Readonly<Record<string, string>>;
  /** What was cited before of documents whose older text is not known. */
  citations?: Readonly<Record<string, Citation>>;
}

/**
 * Everything in a file that newer versions of its documents say differently: what the documents mean is compared, and
 * each text that is cited.
 */
export async function compareDocuments(file: ToolFile, versions: DocumentVersions): Promise<ComparedDocuments> {
  const { before, after, citations: kept = {} } = versions;
  const read = await Promise.all(
    Object.entries(after).flatMap(([name, text]) => {
      const old = before[name];
      return old === undefined || sha256(old) === sha256(text) ? [] : [readBoth(file, name, [old, text])];
    }),
  );
  const formats = Object.fromEntries(read.map(({ name, format }) => [name, format]));
  const known = Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(after, name)));
  const { citations, outside } = citationsOf(file, known);
  const cited = staleIn(file, { citations: { ...kept, ...citations }, before, after, formats });
  const isWithin = (name: string) => (evidence: string) => partsOfEvidence(evidence).document === name;
  const uncompared = read.flatMap(({ name, problem }) =>
    problem === undefined ? [] : [{ document: name, why: problem }],
  );
  for (const { evidence, path, problem } of outside) {
    const { document } = partsOfEvidence(evidence);
    uncompared.push({ document, why: `${path} cites ${evidence}, which is not in the earlier version: ${problem}` });
  }
  const said = read.flatMap(({ name, format, changes }) => {
    const isOfIt = isWithin(name);
    const texts = cited.stale.filter(({ evidence }) => isOfIt(evidence));
    return merged(texts, placed(file, name, changes), isManual(format));
  });
  const unread = cited.stale.filter(({ evidence }) => !read.some(({ name }) => isWithin(name)(evidence)));
  const stale = [...unread, ...said];
  const otherwise = read.flatMap(({ name, problem }) => {
    const isOfIt = isWithin(name);
    return problem === undefined && !stale.some(({ evidence }) => isOfIt(evidence)) ? [name] : [];
  });
  return { stale, moved: cited.moved, uncompared, otherwise };
}

interface ReadVersions {
  name: string;
  format: DocumentFormat | undefined;
  changes: FactChange[];
  /** Why the newer one could not be compared by its meaning. */
  problem?: string;
}

async function readBoth(file: ToolFile, name: string, [old, now]: readonly [string, string]): Promise<ReadVersions> {
  const stored = file.documents[name]?.file;
  const before = await readFacts(old, name, stored);
  // A document that is not a description, such as a contract, is compared by what is cited.
  if (!("facts" in before)) return { name, format: undefined, changes: [] };
  const { facts, format } = before;
  const after = await readFacts(now, name, stored);
  if (!("facts" in after)) return { name, format, changes: [], problem: after.problem };
  const places = new FilePlaces(file, name);
  const isUsed = ({ evidence }: { evidence: string }) => places.isUsed(evidence);
  return { name, format, changes: factChanges(facts, after.facts, { document: name, isUsed }) };
}

async function readFacts(
  text: string,
  name: string,
  file: string | undefined,
): Promise<{ facts: ApiFacts; format: DocumentFormat } | { problem: string }> {
  try {
    const document = parseDocument(text, name, file);
    return { facts: await factsOf(document), format: document.format };
  } catch (error) {
    if (error instanceof NexusError) return { problem: messageOf(error) };
    throw error;
  }
}

function placed(file: ToolFile, document: string, changes: readonly FactChange[]): StalePlace[] {
  const places = new FilePlaces(file, document);
  const found = new Map<string, StalePlace>();
  for (const change of changes) {
    const { at, member, before, after } = change;
    for (const path of places.placesOf(change)) {
      const key = JSON.stringify([path, at, member, before, after]);
      if (found.has(key)) continue;
      found.set(key, {
        path,
        evidence: at,
        ...(member === undefined ? {} : { member }),
        change: change.change,
        ...(before === undefined ? {} : { before: textOf(before) }),
        ...(after === undefined ? {} : { after: textOf(after) }),
        tools: places.toolsOf(path),
      });
    }
  }
  return [...found.values()];
}

/** The same change is listed once: as what it means, or for a manual as the lines that say it. */
function merged(texts: readonly StalePlace[], meant: readonly StalePlace[], isForPeople: boolean): StalePlace[] {
  if (!isForPeople) {
    const unexplained = texts.filter(
      (text) => !meant.some((change) => touches(change.evidence, text.evidence)) && !isOnlyOrder(text),
    );
    return [...unexplained, ...meant];
  }
  const isSamePart = (one: StalePlace, other: StalePlace) => touches(one.evidence, other.evidence);
  const quotes = texts.filter(
    (text) => !meant.some((change) => change.path.startsWith(`${text.path}.`) && isSamePart(change, text)),
  );
  const isQuoted = (change: StalePlace) =>
    quotes.some(
      (text) => text.path === change.path || (isSamePart(text, change) && text.path.startsWith(`${change.path}.`)),
    );
  return [...quotes, ...meant.filter((change) => !isQuoted(change))];
}

/** Lists of a schema whose order says nothing. */
const SETS: ReadonlySet<string> = new Set(["enum", "required", "type"]);

function isOnlyOrder({ before, after }: StalePlace): boolean {
  if (before === undefined || after === undefined) return false;
  try {
    return isSameMeaning(inAnyOrder(JSON.parse(before)), inAnyOrder(JSON.parse(after)));
  } catch {
    return false;
  }
}

function inAnyOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inAnyOrder);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([name, member]) => {
    const isSet = SETS.has(name) && Array.isArray(member);
    return [name, isSet ? member.map((each) => JSON.stringify(each)).toSorted() : inAnyOrder(member)];
  });
  return Object.fromEntries(members);
}

function isManual(format: DocumentFormat | undefined): boolean {
  return format === undefined || ["markdown", "html", "text", "pdf"].includes(format);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Finds the places of a tool file that state what a document says, and the tools that these are a part of. */
class FilePlaces {
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
function touches(one: string, other: string): boolean {
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
