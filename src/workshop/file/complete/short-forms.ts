import { nearestName } from "../../../text/nearest-name.ts";
import { findMember, type Member, type SourceNode, allAt, nodeOf, type Place } from "../../../source/source-node.ts";
import type { Path } from "../../../format/problem.ts";

/** A problem of a short form; its place is that of the part that it is in. */
interface Misuse {
  path: Path;
  message: string;
  hint?: string | undefined;
}

/**
 * The file with its short forms written out: fields in one line, and examples and checks that are like another one.
 * Readers see only the long forms, so that both compile to the same.
 */
export function writtenOut(tree: SourceNode): { tree: SourceNode; misuses: Misuse[] } {
  const misuses: Misuse[] = [];
  const withFields = inMembers(tree, "types", (types) =>
    eachMember(types, (type, name) => {
      const start = textOf(findMember(type, "wire")?.node);
      const long = inMembers(type, "fields", (fields) =>
        eachMember(fields, (field, key) => withStart(longField(field, ["types", name, "fields", key], misuses), start)),
      );
      return start === undefined ? long : without(long, "wire");
    }),
  );
  const whole = inMembers(withFields, "tools", (tools) =>
    eachMember(tools, (tool, name) => new Likenesses(["tools", name], misuses).writtenOut(tool)),
  );
  return { tree: whole, misuses };
}

/** A text instead of a map, or `is` with further members. */
function longField(field: SourceNode, path: Path, misuses: Misuse[]): SourceNode {
  const short = field.kind === "object" ? findMember(field, "is")?.node : field;
  const text = textOf(short);
  if (short === undefined || text === undefined) return field;
  const { members, problem } = membersOfShortField(text, short.place);
  if (problem) misuses.push({ path, ...problem });
  const others = field.kind === "object" ? field.members.filter(({ key }) => key !== "is") : [];
  for (const { key } of others) {
    if (!members.some((member) => member.key === key)) continue;
    misuses.push({ path: [...path, key], message: `"is" already says it`, hint: "Say it in one of the two." });
  }
  return { kind: "object", place: field.place, members: [...members, ...others] };
}

/** The wire path of a field after that of its type. A path that begins with / is complete. */
function withStart(field: SourceNode, start: string | undefined): SourceNode {
  if (start === undefined) return field;
  return inMembers(field, "wire", (wire) => {
    const path = textOf(wire);
    if (path === undefined) return wire;
    return { kind: "scalar", place: wire.place, value: path.startsWith("/") ? path.slice(1) : `${start}${path}` };
  });
}

/** Examples and checks of one tool that take over the arguments of an earlier one. */
class Likenesses {
  readonly #path: Path;
  readonly #misuses: Misuse[];
  readonly #known = new Map<string, SourceNode>();
  #takenOver = 0;

  constructor(path: Path, misuses: Misuse[]) {
    this.#path = path;
    this.#misuses = misuses;
  }

  writtenOut(tool: SourceNode): SourceNode {
    const withExamples = this.#inList(tool, { list: "examples", name: "title", given: "arguments" });
    return this.#inList(withExamples, { list: "checks", name: "name", given: "call" });
  }

  #inList(tool: SourceNode, keys: { list: string; name: string; given: string }): SourceNode {
    return inMembers(tool, keys.list, (list) => {
      if (list.kind !== "list") return list;
      const items = list.items.map((item, index) => {
        const written = this.#item(item, [...this.#path, keys.list, index], keys.given);
        const [name, given] = [textOf(findMember(item, keys.name)?.node), findMember(written, keys.given)?.node];
        if (given && name !== undefined) this.#known.set(name, given);
        return written;
      });
      return { ...list, items };
    });
  }

  #patched(base: SourceNode, patch: SourceNode, path: Path): SourceNode {
    this.#takenOver += base.kind === "object" ? base.members.length : 0;
    if (this.#takenOver <= MOST_TAKEN_OVER) return patched(base, patch);
    const message = `the examples and checks of a tool take over more than ${MOST_TAKEN_OVER} members of others`;
    if (!this.#misuses.some((known) => known.message === message)) this.#misuses.push({ path, message });
    return patch;
  }

  #item(item: SourceNode, path: Path, given: string): SourceNode {
    const like = findMember(item, "like");
    if (item.kind !== "object" || !like) return item;
    const members = item.members.filter(({ key }) => key !== "like" && key !== given);
    const name = textOf(like.node) ?? "";
    const base = this.#known.get(name);
    const own = findMember(item, given);
    if (!base) {
      const near = this.#misuses.length < MOST_ADVISED ? nearestName(name, [...this.#known.keys()]) : undefined;
      this.#misuses.push({
        path,
        message: `no example or check before it is called "${name}"`,
        hint: near === undefined ? "Write the title of an example or the name of a check." : `Did you mean "${near}"?`,
      });
    }
    const node = base && own ? this.#patched(base, own.node, path) : (base ?? own?.node ?? like.node);
    return { ...item, members: [...members, { key: given, place: like.place, node }] };
  }
}

/** A comparison with all names is made for so many unknown ones. */
const MOST_ADVISED = 100;
/** Members that are taken over in all maps of a tool: maps that are like each other grow without bound. */
const MOST_TAKEN_OVER = 100_000;

/** As a JSON Merge Patch (RFC 7396): maps are merged, null removes a member, anything else replaces. */
function patched(base: SourceNode, patch: SourceNode): SourceNode {
  if (base.kind !== "object" || patch.kind !== "object") return patch;
  const isRemoved = ({ node }: Member) => node.kind === "scalar" && node.value === null;
  const kept = base.members.flatMap((member) => {
    const change = findMember(patch, member.key);
    if (!change) return [member];
    return isRemoved(change) ? [] : [{ ...change, node: patched(member.node, change.node) }];
  });
  const added = patch.members.filter((member) => !findMember(base, member.key) && !isRemoved(member));
  return { ...patch, members: [...kept, ...added] };
}

function inMembers(node: SourceNode, key: string, change: (inner: SourceNode) => SourceNode): SourceNode {
  if (node.kind !== "object") return node;
  return {
    ...node,
    members: node.members.map((each) => (each.key === key ? replaced(each, change(each.node)) : each)),
  };
}

function eachMember(node: SourceNode, change: (inner: SourceNode, key: string) => SourceNode): SourceNode {
  if (node.kind !== "object") return node;
  return { ...node, members: node.members.map((each) => replaced(each, change(each.node, each.key))) };
}

function without(node: SourceNode, key: string): SourceNode {
  return node.kind === "object" ? { ...node, members: node.members.filter((each) => each.key !== key) } : node;
}

function textOf(node: SourceNode | undefined): string | undefined {
  return node?.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
}

function replaced(member: Member, node: SourceNode): Member {
  return node === member.node ? member : { ...member, node };
}

/** `integer 1..15 optional at @adults [L108, L119] - Adults in this room.` */
const PARTS = /^(.*?)(?: +\[([^\]]*)\])?(?: +- +(.*))?$/s;
const RANGE = /^(-?\d+(?:\.\d+)?)?\.\.(-?\d+(?:\.\d+)?)?$/;

/** Words that stand for a member. */
const WORDS: ReadonlyMap<string, readonly [key: string, value: unknown]> = new Map<
  string,
  readonly [key: string, value: unknown]
>([
  ...["optional", "hidden", "nullable", "readOnly", "writeOnly", "exact", "uniqueItems", "keepEmpty"].map(
    (key) => [key, [key, true]] as const,
  ),
  ["collapse", ["whitespace", "collapse"]],
  ["unsent", ["wire", false]],
]);

/** The limits that a range stands for. */
const LIMITS: Readonly<Record<string, readonly [string, string]>> = {
  list: ["minItems", "maxItems"],
  map: ["minEntries", "maxEntries"],
  string: ["minLength", "maxLength"],
  integer: ["minimum", "maximum"],
  number: ["minimum", "maximum"],
};

/** What is wrong with the short form of a field, and what to do. */
interface ShortFormProblem {
  message: string;
  hint: string;
}

const FORM = "Write: type 1..10 optional = default at wire [L12, L14] - description. All but the type may be left out.";

/** The members that a field in one line stands for. `list 1..` says only how many items there are. */
function membersOfShortField(
  text: string,
  place: Place,
): { members: Member[]; problem?: ShortFormProblem | undefined } {
  const [, head = "", evidence, description] = PARTS.exec(text.trim()) ?? [];
  const members: Member[] = [];
  const say = (key: string, value: unknown) => members.push({ key, place, node: nodeOf(value, allAt(place)) });
  if (description !== undefined) say("description", description);
  const words = head.split(/\s+/).filter((word) => word !== "");
  const kind = words[0] === "list" || words[0] === "map" ? words[0] : "type";
  const [type] = kind === "type" ? words.splice(0, 1) : words.splice(0, words[1] === "of" ? 3 : 1).slice(2);
  if (type !== undefined) say(kind, type);
  else if (kind === "type") return { members, problem: { message: "does not say what it is", hint: FORM } };
  const problem = sayWords(words, LIMITS[kind === "type" ? (type ?? "") : kind], say);
  if (evidence !== undefined) say("evidence", evidence);
  return { members, problem: problem === undefined ? undefined : { message: problem, hint: FORM } };
}

/** Returns what is wrong with them. */
function sayWords(
  words: readonly string[],
  limits: readonly [string, string] | undefined,
  say: (key: string, value: unknown) => void,
): string | undefined {
  const said = new Set<string>();
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    const [range, least, most] = RANGE.exec(word) ?? [];
    const key = range === undefined ? word : "a range";
    if (said.has(key)) return `says ${key} twice`;
    said.add(key);
    const known = WORDS.get(word);
    const next = words[index + 1];
    if (known) say(...known);
    else if (word === "at" && next !== undefined) say("wire", words[++index]);
    else if (word === "=" && next !== undefined) say("default", valueOf(words[++index] ?? ""));
    else if (range === undefined || (least === undefined && most === undefined))
      return `does not know the word "${word}"`;
    else if (!limits) return `has the range ${range}, which is for string, integer, number, list and map`;
    else {
      if (least !== undefined) say(limits[0], Number(least));
      if (most !== undefined) say(limits[1], Number(most));
    }
  }
  return undefined;
}

/** A number, true, false or an empty list; everything else is text. */
function valueOf(word: string): unknown {
  if (word === "[]") return [];
  if (word === "true" || word === "false") return word === "true";
  return /^-?\d+(?:\.\d+)?$/.test(word) ? Number(word) : word;
}
