import { isDeepStrictEqual } from "node:util";
import { parseBoundedYaml } from "../../../source/bounded-yaml.ts";
import { isRecord } from "../../../json/is-record.ts";
import { editToolFile, type ToolFileChange } from "../../file/edit-tool-file.ts";
import { chunksOf, indentOf, mentionedTypes, type FileChunk } from "./file-chunks.ts";
import { canonicalJson } from "../../../json/canonical-json.ts";

/** Something that the document changed and that was taken over into the file. */
export interface TakenChange {
  /** `tools.find_pets` or, inside of an edited entry, `tools.find_pets.description`. */
  path: string;
  what: "added" | "changed" | "removed";
}

/** Something that the document changed and a person had edited: the file was left as it is. */
export interface Proposal extends Conflict {
  /** In words: `tools.find_pets.title`. */
  where: string;
}

export interface MergedDraft {
  text: string;
  taken: TakenChange[];
  /** What a person changed, added or removed since the old draft; it stays so. */
  edited: TakenChange[];
  proposals: Proposal[];
}

/**
 * Brings a tool file up to date with a new version of its document. `base` is the draft of the old document, `theirs`
 * that of the new one, `mine` the file. What a person edited stays, with comments, order and layout.
 */
export function mergeDraft(texts: { base: string; mine: string; theirs: string }): MergedDraft {
  const [base, mine, theirs] = [texts.base, texts.mine, texts.theirs].map((text) => new Chunks(text)) as [
    Chunks,
    Chunks,
    Chunks,
  ];
  const result: MergedDraft = { text: "", taken: [], edited: editsOf(base, mine), proposals: [] };
  const merged = mine.list.map((chunk) => {
    const text = mergeChunk({ base: base.find(chunk.path), mine: chunk, theirs: theirs.find(chunk.path) }, result);
    return { ...chunk, text };
  });
  const kept = withNeededTypes(merged, mine, result);
  result.text = withAdded(kept, { base, mine, theirs }, result)
    .map(({ text }) => text)
    .join("");
  return result;
}

/** A type that the new draft does not have stays if something that stays uses it. */
function withNeededTypes(
  merged: readonly { path: FileChunk["path"]; text: string | undefined }[],
  mine: Chunks,
  result: MergedDraft,
): FileChunk[] {
  const removed = new Map<string, FileChunk>();
  for (const { path, text } of merged) {
    const chunk = text === undefined && path[0] === "types" ? mine.find(path) : undefined;
    if (chunk) removed.set(path[1] ?? "", chunk);
  }
  const texts = merged.flatMap(({ path: [section], text }) =>
    text === undefined || section === "questions" ? [] : [text],
  );
  const needed = removed.size === 0 ? new Set<string>() : mentionedTypes(texts, removed);
  result.taken = result.taken.filter(({ path }) => !(path.startsWith("types.") && needed.has(path.slice(6))));
  return merged.flatMap(({ path, text }) => {
    const stays = text ?? (path[0] === "types" && needed.has(path[1] ?? "") ? mine.find(path)?.text : undefined);
    return stays === undefined ? [] : [{ path, text: stays }];
  });
}

/** What the file has otherwise than the old draft. */
function editsOf(base: Chunks, mine: Chunks): TakenChange[] {
  if (base.list.length === 0) return [];
  const edits: TakenChange[] = [];
  for (const chunk of mine.list) {
    const old = base.find(chunk.path);
    if (chunk.path[1] === "" || chunk.path[0] === "" || old?.text === chunk.text) continue;
    const [section, entry] = chunk.path;
    if (!old) {
      edits.push({ path: chunk.path.join("."), what: "added" });
      continue;
    }
    const before = valueOf(old);
    const { changes } = mergeValues({ base: before, mine: before, theirs: valueOf(chunk) });
    for (const { path, ...change } of changes) {
      const where = [...(entry === undefined ? [] : [section]), ...path].join(".");
      edits.push({ path: where, what: "remove" in change ? "removed" : "changed" });
    }
  }
  for (const { path } of base.list) {
    if (path[1] !== "" && !mine.find(path)) edits.push({ path: path.join("."), what: "removed" });
  }
  return edits;
}

class Chunks {
  readonly list: FileChunk[];
  readonly #byKey: Map<string, FileChunk>;

  constructor(text: string) {
    this.list = chunksOf(text);
    this.#byKey = new Map(this.list.map((chunk) => [chunkKey(chunk.path), chunk]));
  }

  find(path: FileChunk["path"]): FileChunk | undefined {
    return this.#byKey.get(chunkKey(path));
  }
}

/** The text of an entry after the merge; undefined if it is removed. */
function mergeChunk(
  { base, mine, theirs }: { base: FileChunk | undefined; mine: FileChunk; theirs: FileChunk | undefined },
  result: MergedDraft,
): string | undefined {
  const where = mine.path.filter((step) => step !== "").join(".");
  const isLine = mine.path[1] === "" || mine.path[0] === "";
  if (isLine || base?.text === theirs?.text || mine.text === theirs?.text) return mine.text;
  if (base && mine.text === base.text) {
    result.taken.push({ path: where, what: theirs ? "changed" : "removed" });
    return theirs?.text;
  }
  const values = { base: valueOf(base), mine: valueOf(mine), theirs: valueOf(theirs) };
  const { changes, conflicts } = mergeValues(values);
  const [section, entry] = mine.path;
  const within = entry === undefined ? [] : [section];
  for (const conflict of conflicts) {
    const inner = conflict.path.length === 0 ? [entry ?? section] : conflict.path;
    const path = [...within, ...inner];
    result.proposals.push({ ...conflict, path, where: path.join(".") });
  }
  const [first] = changes;
  // The whole entry: only its layout or its comments were edited, and the document does not have it any more.
  if (first && "remove" in first && first.path.length <= 1) {
    result.taken.push({ path: where, what: "removed" });
    return undefined;
  }
  for (const change of changes) {
    const path = [...within, ...change.path].join(".");
    result.taken.push({ path, what: "remove" in change ? "removed" : "changed" });
  }
  const spaces = indentOf(mine.text);
  return indented(editToolFile(indented(mine.text, 0), changes), spaces);
}

/** The entry as a map of its own name; undefined if there is none. */
function valueOf(chunk: FileChunk | undefined): Record<string, unknown> | undefined {
  if (!chunk) return undefined;
  const document = parseBoundedYaml(chunk.text);
  const [error] = document.errors;
  if (error) throw error;
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  return isRecord(value) ? value : undefined;
}

/** The questions that the old draft did not have: answering all of the old ones removed the section, not these. */
function newQuestions(base: FileChunk | undefined, theirs: FileChunk): FileChunk | undefined {
  if (theirs.path[0] !== "questions") return undefined;
  const { changes } = mergeValues({ base: valueOf(base), mine: { questions: [] }, theirs: valueOf(theirs) });
  const isSome = changes.some((change) => "value" in change && Array.isArray(change.value) && change.value.length > 0);
  return isSome ? { ...theirs, text: editToolFile(theirs.text, changes) } : undefined;
}

/** New entries follow the ones that they follow in the new draft. */
function withAdded(
  kept: readonly FileChunk[],
  { base, mine, theirs }: { base: Chunks; mine: Chunks; theirs: Chunks },
  result: MergedDraft,
): FileChunk[] {
  const after = new Map<string, FileChunk[]>();
  const present = new Set(kept.map(({ path }) => chunkKey(path)));
  let previous = "";
  for (const chunk of theirs.list) {
    const key = chunkKey(chunk.path);
    if (present.has(key)) {
      previous = key;
      continue;
    }
    // What the old draft also had was removed by the person, or by this merge.
    const isKnown = base.find(chunk.path) ?? mine.find(chunk.path);
    const added = isKnown ? newQuestions(base.find(chunk.path), chunk) : chunk;
    if (!added) continue;
    after.set(previous, [...(after.get(previous) ?? []), added]);
    if (chunk.path[1] !== "") result.taken.push({ path: chunk.path.join("."), what: "added" });
  }
  const spaces = new Map(kept.filter(({ path }) => path[1]).map(({ path, text }) => [path[0], indentOf(text)]));
  const place = (chunk: FileChunk): FileChunk => {
    const wanted = chunk.path[1] === undefined || chunk.path[1] === "" ? 0 : (spaces.get(chunk.path[0]) ?? 2);
    return { ...chunk, text: indented(chunk.text, wanted) };
  };
  const list = kept.flatMap((chunk) => [chunk, ...(after.get(chunkKey(chunk.path)) ?? []).map(place)]);
  return [...(after.get("") ?? []).map(place), ...list].map((chunk, index, all) =>
    index < all.length - 1 && !chunk.text.endsWith("\n") ? { ...chunk, text: `${chunk.text}\n` } : chunk,
  );
}

/** A value that both the person and the document changed, in different ways. */
interface Conflict {
  path: readonly string[];
  /** Undefined: it is not there. */
  mine: unknown;
  theirs: unknown;
}

/**
 * Compares three versions of a value: the old draft, the file, and the new draft. What only the document changed is a
 * change to make; what both changed is a conflict. Lists are whole values.
 */
function mergeValues(
  { base, mine, theirs }: { base: unknown; mine: unknown; theirs: unknown },
  path: readonly string[] = [],
): { changes: ToolFileChange[]; conflicts: Conflict[] } {
  const nothing = { changes: [], conflicts: [] };
  if (isDeepStrictEqual(mine, theirs) || isDeepStrictEqual(base, theirs)) return nothing;
  if (path[0] === "questions" && Array.isArray(mine) && Array.isArray(theirs)) {
    return { changes: [{ path, value: mergeItems(Array.isArray(base) ? base : [], mine, theirs) }], conflicts: [] };
  }
  const isInside = isRecord(mine) && isRecord(theirs) && (base === undefined || isRecord(base));
  if (!isInside) {
    if (!isDeepStrictEqual(base, mine)) return { changes: [], conflicts: [{ path, mine, theirs }] };
    return { changes: [theirs === undefined ? { path, remove: true } : { path, value: theirs }], conflicts: [] };
  }
  const names = [...new Set([...Object.keys(base ?? {}), ...Object.keys(theirs)])];
  const inner = names.map((name) =>
    mergeValues({ base: own(base ?? {}, name), mine: own(mine, name), theirs: own(theirs, name) }, [...path, name]),
  );
  return { changes: inner.flatMap(({ changes }) => changes), conflicts: inner.flatMap(({ conflicts }) => conflicts) };
}

/**
 * Answered questions stay away, new ones are asked, and those that the document answers now are not. A question whose
 * lines only moved is the same question.
 */
function mergeItems(base: readonly unknown[], mine: readonly unknown[], theirs: readonly unknown[]): unknown[] {
  const [inBase, inMine, inTheirs] = [byQuestion(base), byQuestion(mine), byQuestion(theirs)];
  const kept = [...inMine].flatMap(([key, item]) => {
    if (!inBase.has(key)) return [item];
    return inTheirs.has(key) ? [isDeepStrictEqual(item, inBase.get(key)) ? inTheirs.get(key) : item] : [];
  });
  const added = [...inTheirs].flatMap(([key, item]) => (inBase.has(key) || inMine.has(key) ? [] : [item]));
  return [...kept, ...added];
}

function byQuestion(list: readonly unknown[]): Map<string, unknown> {
  return new Map(
    list.map((item) => [canonicalJson(isRecord(item) ? [item["about"], item["ask"]] : item), item] as const),
  );
}

function own(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** One name for each path. */
function chunkKey([section, entry]: FileChunk["path"]): string {
  return entry === undefined ? section : `${section}\n${entry}`;
}

/** The text with as many spaces before its lines as another one has, of which it becomes a neighbour. */
function indented(text: string, spaces: number): string {
  const has = indentOf(text);
  if (has === spaces) return text;
  const lines = text.split(/(?<=\n)/).map((line) => {
    if (line.trim() === "") return line;
    return has < spaces ? " ".repeat(spaces - has) + line : line.slice(Math.min(has - spaces, line.search(/\S/)));
  });
  return lines.join("");
}
