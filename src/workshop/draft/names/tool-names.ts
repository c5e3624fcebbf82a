import type { OperationFacts } from "../../documents/api-facts.ts";
import { groupedBy } from "../../../text/grouped-by.ts";
import { shortHash, wordsOf } from "./words.ts";

const MOST = 64;

/** Steps of a path that say nothing about what an operation does. */
const EMPTY_STEP = /^(?:api|rest|v\d+(?:\.\d+)*|\d+(?:\.\d+)+)$/i;

/**
 * The name of the tool of each operation, by its key. A name is made of the operation alone; only those of operations
 * that would have the same name also get words of their methods and paths.
 */
export function toolNames(operations: readonly OperationFacts[]): Map<string, string> {
  const names = new Map<string, string>();
  const groups = groupedBy(operations, (operation) => baseName(operation));
  const taken = new Set([...groups].filter(([, group]) => group.length === 1).map(([name]) => name));
  for (const [name, group] of groups) {
    const [only] = group;
    if (group.length === 1 && only) {
      names.set(only.key, name);
      continue;
    }
    for (const [longer, same] of groupedBy(group, (operation) => distinguishedName(operation))) {
      for (const operation of same) {
        const isFree = same.length === 1 && !taken.has(longer);
        const unique = isFree
          ? longer
          : joinWithin([...cut(longer, MOST - 7), shortHash(operation.key)], operation.key);
        taken.add(unique);
        names.set(operation.key, unique);
      }
    }
  }
  return names;
}

function cut(name: string, most: number): string[] {
  return name.slice(0, most).replace(/_+$/, "").split("_");
}

function baseName(operation: OperationFacts): string {
  const words = operation.id === undefined ? [] : wordsOf(operation.id);
  // An id of another script leaves nothing readable behind.
  if (words.length === 0 || words.join("").length < Math.min(3, operation.id?.length ?? 0)) return pathName(operation);
  return asName(words, operation.id ?? "");
}

function pathName({ method, path, key }: OperationFacts): string {
  const steps = stepsOf(path);
  const end = steps.findLastIndex((step) => !isParameter(step));
  const fixed = steps.slice(0, end + 1).filter((step) => !isParameter(step) && !EMPTY_STEP.test(step));
  const last = steps.slice(end + 1).map((step) => wordsOf(step).join("_"));
  const by = last.filter((word) => word !== "").join("_and_");
  const words = [...fixed.flatMap(wordsOf), ...(by === "" ? [] : ["by", ...by.split("_")])];
  return asName([method.toLowerCase(), ...(words.length === 0 ? wordsOf(path) : words)], key);
}

/** The name with the words of method and path that it does not have yet. */
function distinguishedName(operation: OperationFacts): string {
  const own = baseName(operation).split("_");
  const steps = stepsOf(operation.path).filter((step) => !isParameter(step));
  const parameters = stepsOf(operation.path).filter(isParameter);
  const method = operation.id === undefined ? [] : [operation.method.toLowerCase()];
  const more = [...method, ...steps.flatMap(wordsOf)].filter((word) => !own.includes(word));
  const by = parameters.flatMap(wordsOf).filter((word) => !own.includes(word) && !more.includes(word));
  return asName([...own, ...more, ...(by.length === 0 ? [] : ["by", ...by])], operation.key);
}

function asName(words: readonly string[], whole: string): string {
  const [first = ""] = words;
  return joinWithin(/^[a-z]/.test(first) ? words : ["call", ...words], whole);
}

function stepsOf(path: string): string[] {
  return path.split("/").filter((step) => step !== "");
}

function isParameter(step: string): boolean {
  return /^\{[^{}]*\}$/.test(step);
}

/** `words` joined to at most `MOST` characters: cut after a whole word, with a hash of `whole` if anything is lost. */
function joinWithin(words: readonly string[], whole: string): string {
  const name = words.join("_");
  if (name.length <= MOST) return name;
  const hash = shortHash(whole);
  let short = "";
  for (const word of words) {
    const longer = short === "" ? word : `${short}_${word}`;
    if (longer.length + 1 + hash.length > MOST) break;
    short = longer;
  }
  return `${short === "" ? name.slice(0, MOST - 1 - hash.length) : short}_${hash}`;
}
