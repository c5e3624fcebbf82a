import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { sha256 } from "../../text/digest.ts";
import { citationsOf, partsOfEvidence, type Citation } from "../compile/citations.ts";
import type { ApiFacts, DocumentFormat } from "../documents/api-facts.ts";
import { parseDocument } from "../documents/parse-document.ts";
import { factsOf } from "../draft/read-document.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { staleIn, type MovedPlace, type StalePlace } from "../review/stale.ts";
import type { FactChange } from "./comparing.ts";
import { factChanges } from "./fact-changes.ts";
import { FilePlaces, touches } from "./file-places.ts";
import { isSameMeaning } from "./same-meaning.ts";

/** A document of which not everything could be compared. */
export interface Uncompared {
  document: string;
  why: string;
}

export interface ComparedDocuments {
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
