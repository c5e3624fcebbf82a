import type { ListKind } from "../../protocol/list-kinds.ts";
import type { DefinitionChange, NamedDefinition, ReadList, Standing } from "./definition-ledger.ts";

/** `all`: as the list for all has it. `some`: as only callers with certain capabilities see it. */
type SeenBy = "all" | "some";

/** The place of a definition among those of one server. `lists`: the mark that a list was read before; its name is the list. */
export interface DefinitionPlace {
  kind: ListKind | "lists";
  seenBy: SeenBy;
  name: string;
}

/** The hashes of a definition. */
interface KnownHashes {
  /** Undefined where it was never accepted. */
  accepted: string | undefined;
  /** Undefined where the server does not list it any more. */
  current: string | undefined;
}

/** What has to be kept after a list was read; `now` is undefined where nothing has to be kept any more. */
export interface Difference {
  place: DefinitionPlace;
  now: KnownHashes | undefined;
  /** Undefined if there is nothing to report. */
  what?: DefinitionChange["what"] | undefined;
}

/**
 * Definitions of one list beyond this number are not kept, so a server cannot fill the memory or the database. Of all lists
 * for certain capabilities together, no more are kept: they never show that something is gone.
 */
const MAX_KEPT = 10_000;
const NONE: KnownHashes = { accepted: undefined, current: undefined };

/** The hashes of the definitions of one server. */
export class KnownDefinitions {
  readonly #known = new Map<string, { place: DefinitionPlace; hashes: KnownHashes }>();

  set(place: DefinitionPlace, hashes: KnownHashes | undefined): void {
    if (hashes) this.#known.set(keyOf(place), { place, hashes });
    else this.#known.delete(keyOf(place));
  }

  find(place: DefinitionPlace): KnownHashes | undefined {
    return this.#known.get(keyOf(place))?.hashes;
  }

  all(): { place: DefinitionPlace; hashes: KnownHashes }[] {
    return [...this.#known.values()];
  }

  standingOf({ kind, name, hash }: Omit<NamedDefinition, "server">): Standing {
    if (hash === undefined) return "unknown";
    const known = [this.find({ kind, name, seenBy: "all" }), this.find({ kind, name, seenBy: "some" })].filter(
      (hashes) => hashes !== undefined,
    );
    // Who is shown the accepted definition may also reach the changed one: a name has one server behind it.
    const isWaiting = known.some((hashes) => hashes.current !== undefined && hashes.current !== hashes.accepted);
    if (!isWaiting && known.some(({ accepted }) => accepted === hash)) return "accepted";
    if (known.some(({ accepted }) => accepted !== undefined)) return "changed";
    return known.length > 0 ? "added" : "unknown";
  }

  /** Whether something in a list waits to be accepted. */
  hasWaiting({ kind, definitions }: Pick<ReadList, "kind" | "definitions">): boolean {
    for (const [name, { hash }] of definitions) {
      const standing = this.standingOf({ kind, name, hash });
      if (standing === "changed" || standing === "added") return true;
    }
    return false;
  }

  /** What is different in a list that was read. */
  differences({ kind, isCommon, isPinned, definitions }: Omit<ReadList, "server">): Difference[] {
    const seenBy: SeenBy = isCommon ? "all" : "some";
    const mark = markOf(kind, seenBy);
    const isMarked = this.find(mark) !== undefined;
    const isFirst = !isMarked && (!isPinned || !this.find(markOf(kind, isCommon ? "some" : "all")));
    const found: Difference[] = [];
    let room = isCommon ? Infinity : MAX_KEPT - this.#count(kind, seenBy);
    for (const [name, { hash }] of [...definitions].slice(0, MAX_KEPT)) {
      const place: DefinitionPlace = { kind, seenBy, name };
      // A name of the list for all is always compared: it would be held for all.
      const isKnown = this.find(place) !== undefined || this.find(beside(place)) !== undefined;
      if (!isKnown && room <= 0) continue;
      const differences = this.#differences(place, hash, isFirst);
      if (!isKnown && differences.length > 0) room--;
      found.push(...differences);
    }
    if (isCommon) found.push(...this.#missing(kind, definitions));
    // Without the mark, the next list would be taken for the first one.
    if (!isMarked && (isFirst || isCommon)) found.push({ place: mark, now: NONE });
    return found;
  }

  #count(kind: ListKind, seenBy: SeenBy): number {
    let count = 0;
    for (const { place } of this.#known.values()) if (place.kind === kind && place.seenBy === seenBy) count++;
    return count;
  }

  #differences(place: DefinitionPlace, hash: string, isFirst: boolean): Difference[] {
    const own = this.find(place);
    const otherPlace = beside(place);
    const other = this.find(otherPlace);
    if (own?.current === hash) return [];
    if (place.seenBy === "some") {
      // Callers with certain capabilities see the same as all, which is kept once.
      if (other?.accepted === hash || other?.current === hash) return [];
      // Lists for different capabilities may differ, so a change stays until it is accepted.
      if (own && (own.accepted === hash || own.accepted !== own.current)) return [];
    }
    // A name that the other list has is not new: its definition has to be the accepted one.
    const isAccepted = other ? other.accepted === hash : isFirst && !own;
    const accepted = isAccepted ? hash : own?.accepted;
    const now = { accepted, current: hash };
    if (accepted === hash) return [{ place, now }];
    // What only some callers saw until now is in the list for all: it is kept once.
    const isSame = other?.accepted === undefined && other?.current === hash;
    const moved: Difference[] = isSame ? [{ place: otherPlace, now: undefined }] : [];
    const isReported = other?.current === hash || (own?.current !== undefined && own.current !== own.accepted);
    const what = accepted === undefined && other?.accepted === undefined ? "added" : "changed";
    return [...moved, { place, now, what: isReported ? undefined : what }];
  }

  /** What the list for all does not have any more. What was never accepted is forgotten. */
  #missing(kind: ListKind, definitions: ReadList["definitions"]): Difference[] {
    const missing: Difference[] = [];
    for (const { place, hashes } of this.#known.values()) {
      if (place.kind !== kind || place.seenBy !== "all" || hashes.current === undefined) continue;
      if (definitions.has(place.name)) continue;
      const { accepted } = hashes;
      if (accepted === undefined) missing.push({ place, now: undefined });
      else missing.push({ place, now: { accepted, current: undefined }, what: "removed" });
    }
    return missing;
  }
}

/** Whether a definition waits to be accepted, and as what. */
export function pendingChange({ accepted, current }: KnownHashes): DefinitionChange["what"] | undefined {
  if (accepted === current) return undefined;
  if (accepted === undefined) return "added";
  return current === undefined ? "removed" : "changed";
}

/** The changes to report, once for each name. */
export function reportedChanges(server: string, differences: readonly Difference[]): DefinitionChange[] {
  return differences.flatMap(({ place: { kind, name }, what }) =>
    what === undefined || kind === "lists" ? [] : [{ server, kind, name, what }],
  );
}

/** The place of the same name in the list for other callers. */
export function beside(place: DefinitionPlace): DefinitionPlace {
  return { ...place, seenBy: place.seenBy === "all" ? "some" : "all" };
}

function markOf(kind: ListKind, seenBy: SeenBy): DefinitionPlace {
  return { kind: "lists", seenBy, name: kind };
}

function keyOf({ kind, seenBy, name }: DefinitionPlace): string {
  return `${kind} ${seenBy} ${name}`;
}
