import type { Outline, ManualSection } from "../outline.ts";
import { looseName, singularWords } from "../words.ts";
import type { Endpoint } from "./endpoints.ts";

/** Which endpoint each block of a manual describes; undefined: none, or all. */
export class Scopes {
  readonly #owners: (Endpoint | undefined)[];

  constructor(outline: Outline, endpoints: readonly Endpoint[]) {
    this.#owners = outline.blocks.map(() => undefined);
    const bySection = headedSections(outline, endpoints);
    for (const [section, endpoint] of bySection) this.#fill(section.from, section.to, endpoint);
    this.#byMention(outline, endpoints, bySection);
    const [only] = endpoints;
    if (endpoints.length === 1 && only) this.#owners.fill(only);
  }

  ownerOf(index: number): Endpoint | undefined {
    return this.#owners[index];
  }

  /** A request below a heading that is not one of an endpoint begins the description of its endpoint. */
  #byMention(outline: Outline, endpoints: readonly Endpoint[], headed: ReadonlyMap<ManualSection, Endpoint>): void {
    const subjects = endpoints.flatMap((endpoint) =>
      endpoint.mentions
        .filter(({ isSubject, kind }) => isSubject && kind !== "heading")
        .map(({ index }) => ({ endpoint, index })),
    );
    const inBlock = new Map<number, Set<Endpoint>>();
    for (const { endpoint, index } of subjects) inBlock.set(index, (inBlock.get(index) ?? new Set()).add(endpoint));
    // A block with several requests is a list of them and describes none.
    const inOrder = subjects
      .filter(({ index }) => inBlock.get(index)?.size === 1)
      .toSorted((a, b) => a.index - b.index);
    const ofSection = new Map<ManualSection, Set<Endpoint>>();
    for (const { endpoint, index } of inOrder) {
      for (let section = outline.blocks[index]?.section; section; section = section.parent) {
        const all = ofSection.get(section) ?? new Set();
        ofSection.set(section, all);
        all.add(endpoint);
      }
    }
    for (const [at, { endpoint, index }] of inOrder.entries()) {
      const section = outline.blocks[index]?.section;
      if (!section) continue;
      const owner = this.#owners[index];
      if (owner === endpoint) continue;
      if (owner !== undefined && headed.size > 0 && isHeaded(section, headed)) {
        // A sample of another request, in the description of one.
        this.#owners[index] = endpoint;
        continue;
      }
      let widest: ManualSection | undefined;
      for (
        let each: ManualSection | undefined = section;
        each && each.level > 0 && ofSection.get(each)?.size === 1;
        each = each.parent
      )
        widest = each;
      if (widest && !isShared(widest, headed)) this.#fill(widest.from, widest.to, endpoint);
      else {
        const next = inOrder.slice(at + 1, at + 2)[0]?.index ?? section.to;
        this.#fill(this.#leadFrom(outline, index, section), Math.min(next, section.to), endpoint);
      }
    }
  }

  /** The paragraph before a request belongs to it. */
  #leadFrom(outline: Outline, index: number, section: ManualSection): number {
    const before = outline.blocks[index - 1];
    const isLead =
      before?.block.kind === "paragraph" && before.section === section && this.#owners[index - 1] === undefined;
    return isLead ? index - 1 : index;
  }

  #fill(from: number, to: number, endpoint: Endpoint): void {
    for (let index = from; index < to; index++) this.#owners[index] = endpoint;
  }
}

function isHeaded(section: ManualSection, headed: ReadonlyMap<ManualSection, Endpoint>): boolean {
  for (let each: ManualSection | undefined = section; each; each = each.parent) if (headed.has(each)) return true;
  return false;
}

/** A section inside of which another endpoint has a heading. */
function isShared(section: ManualSection, headed: ReadonlyMap<ManualSection, Endpoint>): boolean {
  for (const inner of headed.keys()) if (inner.from > section.from && inner.from < section.to) return true;
  return false;
}

/** Sections whose heading has the request, or the name of exactly one endpoint. Outer ones come first. */
function headedSections(outline: Outline, endpoints: readonly Endpoint[]): Map<ManualSection, Endpoint> {
  const found = new Map<ManualSection, Endpoint>();
  const direct = new Map<number, Endpoint>();
  for (const endpoint of endpoints) {
    for (const { kind, index } of endpoint.mentions)
      if (kind === "heading" && !direct.has(index)) direct.set(index, endpoint);
  }
  const owners = new Map<string, Set<Endpoint>>();
  for (const endpoint of endpoints) {
    for (const name of endpoint.names) {
      const key = looseName(name);
      const all = owners.get(key) ?? new Set();
      owners.set(key, all);
      all.add(endpoint);
    }
  }
  const longest = Math.min(8, Math.max(0, ...[...owners.keys()].map(() => 8)));
  const subjects = endpoints
    .flatMap((endpoint) =>
      endpoint.mentions.filter(({ isSubject }) => isSubject).map(({ index }) => ({ endpoint, index })),
    )
    .toSorted((a, b) => a.index - b.index);
  for (const section of outline.sections.slice(1)) {
    const stated = direct.get(section.from);
    const named = stated ? undefined : namedIn(section.title, owners, longest);
    const endpoint = stated ?? (named && !isOthers(section, named, subjects) ? named : undefined);
    if (endpoint) found.set(section, endpoint);
  }
  return found;
}

/** Whether a section with a name in its title describes another request, or several. */
function isOthers(
  { from, to }: ManualSection,
  named: Endpoint,
  subjects: readonly { endpoint: Endpoint; index: number }[],
): boolean {
  let low = 0;
  let high = subjects.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((subjects[middle]?.index ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  for (let at = low; at < subjects.length && (subjects[at]?.index ?? to) < to; at++) {
    if (subjects[at]?.endpoint !== named) return true;
  }
  return false;
}

/** The endpoint whose name is in a title; undefined if none or several are. */
function namedIn(
  title: string,
  owners: ReadonlyMap<string, ReadonlySet<Endpoint>>,
  longest: number,
): Endpoint | undefined {
  const words = singularWords(title).slice(0, 16);
  if (words.length > 10) return undefined;
  let best: ReadonlySet<Endpoint> | undefined;
  let length = 0;
  for (let from = 0; from < words.length; from++) {
    let key = "";
    for (let to = from; to < Math.min(words.length, from + longest); to++) {
      key += words[to] ?? "";
      const all = owners.get(key);
      if (all && key.length > length && (key.length > 3 || words.length === 1)) {
        best = all;
        length = key.length;
      }
    }
  }
  // A single common word, such as the last step of a path, is a name only if it is most of the title.
  if (!best || best.size !== 1 || length < looseName(title).length * 0.4) return undefined;
  return [...best][0];
}
