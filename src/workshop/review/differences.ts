import { isRecord } from "../../protocol/json-rpc.ts";
import type { CompiledApi } from "../compile/compile.ts";
import type { Effect } from "../file/tool-file.ts";
import { byWeight, fromTo, shown, type Change, type ChangeKind } from "./change.ts";
import { differingLeaves, type Leaf } from "./leaves.ts";
import { inputChanges, outputChanges } from "./schema-changes.ts";
import { seenAlone } from "./seen-alone.ts";

/** What differs between what was approved and what would be served, by kind. Empty exactly where the hashes are the same. */
export function differences(before: CompiledApi | undefined, after: CompiledApi): Change[] {
  if (!before) return byWeight(Object.keys(after.tools).map((tool) => added(tool, after)));
  if (before.hash === after.hash) return [];
  const changes = [...toolChanges(before, after), ...fileChanges(before, after)];
  if (changes.length === 0) changes.push({ kind: "other", path: "", message: "compiled differently" });
  return byWeight(changes);
}

/** What callers see: tools, their arguments and their results. */
function toolChanges(before: CompiledApi, after: CompiledApi): Change[] {
  const names = [...new Set([...Object.keys(before.tools), ...Object.keys(after.tools)])];
  return names.flatMap((name): Change[] => {
    const [old, now] = [before.tools[name], after.tools[name]];
    if (!old) return [added(name, after)];
    if (!now) return [{ kind: "tool removed", path: name, message: "is gone" }];
    return [
      ...inputChanges(old.inputSchema, now.inputSchema, name),
      ...outputChanges(old.outputSchema ?? {}, now.outputSchema ?? {}, `${name}()`),
    ];
  });
}

function added(name: string, { file, tools }: CompiledApi): Change {
  const spec = file.tools[name];
  const { effect, request } = spec ?? {};
  const secrets = request?.secrets === undefined ? "" : `, with the secrets ${request.secrets}`;
  const what = request ? `${effect}, ${request.method} ${file.upstream.base}${request.path}${secrets}` : "";
  return { kind: "tool added", path: name, message: `${shown(tools[name]?.title)} (${what})` };
}

/** What stands behind: where requests go, with which secrets, how they are written and read. */
function fileChanges(before: CompiledApi, after: CompiledApi): Change[] {
  const leaves = differingLeaves(before.file, after.file).filter(({ path }) => !isWholeTool(path));
  const isSeen = seenAlone(before.file);
  return leaves.flatMap((leaf) => {
    const verdict = verdictOn(leaf);
    if (verdict === "seen" && isSeen(leaf)) return [];
    const kind =
      verdict !== "seen" ? verdict : leaf.path.at(-1) === "description" ? "description changed" : "wire changed";
    return [{ kind, path: leaf.path.join("."), message: wordsFor(leaf) }];
  });
}

/** Told by what callers see of it. */
function isWholeTool(path: readonly string[]): boolean {
  return path[0] === "tools" && (path.length === 2 || path[1] === "(order)");
}

type Verdict = ChangeKind | "seen" | ((leaf: Leaf) => ChangeKind | "seen");

/** The first that fits a path says what its change means. "seen": the tools' own schemas tell it better, if they show it. */
const KINDS: readonly (readonly [RegExp, Verdict])[] = [
  [/^(title|description|version)$/, "description changed"],
  [/^documents\./, "document changed"],
  [
    /^upstream\.(base|allow)/,
    ({ before, after }) => (reachesMore(before, after) ? "endpoint added" : "endpoint removed"),
  ],
  [/^upstream\.timeoutMs$/, "limits changed"],
  [/^secrets\b/, ({ after }) => (after === undefined ? "secret dropped" : "secret used")],
  [/^tools\.[^.]+\.effect$/, ({ before, after }) => (rank(after) > rank(before) ? "effect raised" : "effect lowered")],
  [/^tools\.[^.]+\.request\.(method|path)$/, "endpoint added"],
  [/^tools\.[^.]+\.request\.secrets$/, ({ after }) => (after === undefined ? "secret dropped" : "secret used")],
  [/^tools\.[^.]+\.request\b/, "wire changed"],
  [/^tools\.[^.]+\.limits\b/, "limits changed"],
  [/^tools\.[^.]+\.(response|errors|outcomeUnknown|confirm)\b/, "answer changed"],
  [/^tools\.[^.]+\.(title|description|meta|examples)\b/, "description changed"],
  [/\bevidence$/, "document changed"],
  [
    /^types\.[^.]+\.rules$/,
    ({ before, after }) => (sizeOf(after) < sizeOf(before) ? "input widened" : "input narrowed"),
  ],
  [/^types\.[^.]+\.fields\.[^.]+\.(wire|const|value|shape\.(codes|decimals|whitespace|keepEmpty))\b/, "wire changed"],
  [/^(types\.[^.]+\.(xml|fields\.\(order\))|namespaces)/, "wire changed"],
  [/^types\.[^.]+(\.(description|fields\b.*))?$/, "seen"],
];

function verdictOn(leaf: Leaf): ChangeKind | "seen" {
  const path = leaf.path.join(".");
  const verdict = KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? "other";
  return typeof verdict === "function" ? verdict(leaf) : verdict;
}

function wordsFor({ before, after }: Leaf): string {
  if (before === undefined) return `now ${shown(after)}`;
  if (after === undefined) return `was ${shown(before)}`;
  return fromTo(before, after);
}

const RANKS: readonly unknown[] = ["read", "write", "destructive"] satisfies Effect[];

function rank(effect: unknown): number {
  return RANKS.indexOf(effect);
}

function reachesMore(before: unknown, after: unknown): boolean {
  if (!Array.isArray(before) || !Array.isArray(after)) return true;
  return after.some((address) => !before.includes(address));
}

function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isRecord(value) ? Object.keys(value).length : 0;
}
