import type { StepSpec, Effect, RequestSpec, ToolFile, ToolSpec } from "../file/model/tool-file.ts";
import { changeOf, type ApiChange, type ApiChangeKind } from "./api-change.ts";
import { differingLeaves, pathText, type Leaf } from "./leaves.ts";
import { seenAlone } from "./seen-alone.ts";
import { fromTo, valueText } from "./value-text.ts";

/** An empty file, for the first approval: everything new is listed by member. */
const NOTHING = {
  nexus: 1,
  documents: {},
  upstream: {},
  namespaces: {},
  secrets: {},
  types: {},
  tools: {},
  fake: { secrets: {}, tables: {}, tools: {} },
};

/**
 * Every changed value of the file, except those that a change of the tools' schemas already shows with the same values.
 */
export function fileChanges(before: ToolFile | undefined, after: ToolFile, schemas: readonly ApiChange[]): ApiChange[] {
  const isSeen = before ? seenAlone(before) : () => false;
  const told = byLastName(schemas);
  return differingLeaves(before ?? NOTHING, after).flatMap((leaf) => {
    const isShown = told.get(String(leaf.path[3]))?.some((each) => isTold(leaf, each)) && isSeen(leaf);
    return isShown && !isTool(leaf) && verdictOn(leaf) === "seen" ? [] : [changeInFile(leaf, after)];
  });
}

/** A changed value of a file in words. `file`: the newer one. */
export function changeInFile(leaf: Leaf, file: ToolFile): ApiChange {
  if (isTool(leaf)) return toolChange(leaf, file);
  const verdict = verdictOn(leaf);
  const kind = verdict === "seen" ? kindOfUnseen(leaf) : verdict;
  return changeOf({ kind, path: pathText(leaf.path), message: wordsFor(leaf) }, [leaf.before, leaf.after]);
}

function isTool({ path }: Leaf): boolean {
  return path[0] === "tools" && path.length === 2;
}

function toolChange({ path, before, after }: Leaf, file: ToolFile): ApiChange {
  const name = String(path[1]);
  if (after === undefined) return changeOf({ kind: "tool removed", path: name, message: "is gone" }, [before]);
  const { title, effect, request, steps } = after as ToolSpec;
  const way = request ? requestWords(request, file) : `calls ${calledIn(steps).join(", ")}`;
  const message = `${valueText(title)} (${effect}, ${way})`;
  return changeOf({ kind: "tool added", path: name, message }, [undefined, after]);
}

function requestWords({ method, base, path, secrets }: RequestSpec, { upstream }: ToolFile): string {
  return `${method} ${base ?? upstream.base}${path}${secrets === undefined ? "" : `, with the secrets ${secrets}`}`;
}

function calledIn(steps: Readonly<Record<string, StepSpec>>): string[] {
  return [...new Set(Object.values(steps).map(({ call }) => call))];
}

/** The changes of schemas by the field that they are about. */
function byLastName(schemas: readonly ApiChange[]): Map<string, ApiChange[]> {
  const found = new Map<string, ApiChange[]>();
  for (const change of schemas) {
    const path = change.path.replace(/\[\]$/, "");
    const name = path.slice(path.lastIndexOf(".") + 1);
    const known = found.get(name);
    if (known) known.push(change);
    else found.set(name, [change]);
  }
  return found;
}

/** Whether a schema change of the same field shows the same values. */
function isTold({ before, after }: Leaf, told: ApiChange): boolean {
  return same(told.before, before) && same(told.after, after);
}

type Verdict = ApiChangeKind | "seen" | ((leaf: Leaf) => ApiChangeKind);

/**
 * The first match of a path gives the kind of its change. "seen": the tools' own schemas show it better, if it is
 * visible there.
 */
const KINDS: readonly (readonly [RegExp, Verdict])[] = [
  [/^(title|description|version)$/, "description changed"],
  [/^documents\./, "document changed"],
  [/^upstream\.(base|allow)/, endpointKind],
  [/^upstream\.timeoutMs$/, "limits changed"],
  [/^secrets\b/, ({ after }) => (after === undefined ? "secret dropped" : "secret used")],
  [/^tools\.[^.]+\.effect$/, ({ before, after }) => (rank(after) > rank(before) ? "effect raised" : "effect lowered")],
  [/^tools\.[^.]+\.request\.(method|base|path)$/, "endpoint added"],
  [/^tools\.[^.]+\.steps\.\(order\)$/, "wire changed"],
  [/^tools\.[^.]+\.(request|steps(\.[^.]+(\.call)?)?)$/, endpointKind],
  [/^tools\.[^.]+\.request\.secrets$/, ({ after }) => (after === undefined ? "secret dropped" : "secret used")],
  [/^tools\.[^.]+\.(request|steps|paging)\b/, "wire changed"],
  [/^tools\.[^.]+\.limits\b/, "limits changed"],
  [/^tools\.[^.]+\.(response|errors|outcomeUnknown|confirm)\b/, "answer changed"],
  [/^tools\.[^.]+\.(title|description|meta|examples)\b/, "description changed"],
  [/^fake\b/, "fake changed"],
  [/(?<!\.fields)\.evidence(\[\d+\])?$/, "document changed"],
  [/^types\.[^.]+\.rules\b/, ({ after }) => (after === undefined ? "input widened" : "input narrowed")],
  [/^types\.[^.]+\.fields\.[^.]+\.(wire|const|value|shape\.(codes|decimals|whitespace|keepEmpty))\b/, "wire changed"],
  [/^(types\.[^.]+\.(xml|fields\.\(order\))|namespaces)/, "wire changed"],
  [/^types\.[^.]+(\.(description|fields\b.*))?$/, "seen"],
];

function endpointKind({ after }: Leaf): ApiChangeKind {
  return after === undefined ? "endpoint removed" : "endpoint added";
}

function verdictOn(leaf: Leaf): ApiChangeKind | "seen" {
  const path = pathText(leaf.path);
  const verdict = KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? "other";
  return typeof verdict === "function" ? verdict(leaf) : verdict;
}

function kindOfUnseen({ path, before, after }: Leaf): ApiChangeKind {
  if (path.length === 2 && before === undefined) return "field added";
  if (path.length === 2 && after === undefined) return "field removed";
  return path.at(-1) === "description" ? "description changed" : "wire changed";
}

function wordsFor({ before, after }: Leaf): string {
  const isPart = (value: unknown) => typeof value === "object" && value !== null;
  if (before === undefined) return isPart(after) ? "is new" : `now ${valueText(after)}`;
  if (after === undefined) return isPart(before) ? "is gone" : `was ${valueText(before)}`;
  return fromTo(before, after);
}

const RANKS: readonly unknown[] = ["read", "write", "destructive"] satisfies Effect[];

function rank(effect: unknown): number {
  return RANKS.indexOf(effect);
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
