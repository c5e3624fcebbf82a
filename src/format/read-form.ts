import { nodeOf, type SourceNode } from "../source/source-node.ts";
import {
  chosen,
  isEmpty,
  type Declared,
  type Form,
  type Kinds,
  type MapOptions,
  type MemberForms,
  type Need,
  type RecordOptions,
  type Spec,
  type TextOptions,
} from "./form.ts";
import { oneOf, Part, type ReadingOptions } from "./part.ts";
import { Problems, TooManyErrors, type Path, type Problem } from "./problem.ts";

/** A problem of a value without lines: a body, or what a program gives. */
export interface ValueProblem {
  path: Path;
  /** The path as a JSON pointer: `/allow/0`; empty for the whole value. */
  pointer: string;
  message: string;
  hint?: string;
}

/** Reads a file whose text was parsed. The value is complete if there is no error; otherwise it is what could be read. */
export function readTree<T>(
  form: Form<T, boolean>,
  tree: SourceNode,
  reading?: ReadingOptions,
): { value: T; problems: Problem[] } {
  const problems = new Problems(tree);
  const value = attempt(form, new Part(tree, [], problems, reading));
  return { value, problems: problems.all() };
}

/** Reads a JSON value. The value is complete if there are no problems. */
export function readValue<T>(
  form: Form<T>,
  given: unknown,
  reading?: ReadingOptions,
): { value: T; problems: ValueProblem[] } {
  const tree = nodeOf(given);
  const problems = new Problems(tree);
  const value = attempt(form, new Part(tree, [], problems, { isJson: true, ...reading }));
  return { value, problems: problems.errors().map((each) => ({ ...each, pointer: pointerText(each.path) })) };
}

function pointerText(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function attempt<T>(form: Form<T, boolean>, part: Part): T {
  try {
    return readPart(form, part);
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error;
    return standIn(form);
  }
}

/** Reads a part of a value. What cannot be read is reported, and something empty stands for it. */
export function readPart<T>(form: Form<T, boolean>, part: Part): T {
  const value = readOptional(form, part);
  return value === undefined ? standIn(form) : value;
}

/** Undefined if it is absent or cannot be read. */
function readOptional<T>(form: Form<T, boolean>, part: Part): T | undefined {
  // The reader makes the values of the type that the form was declared with.
  return readAny(form, part) as T | undefined;
}

function readAny(form: Declared, part: Part): unknown {
  const { spec, traits } = form;
  if (traits.advice !== undefined) part.advice = traits.advice;
  if (!part.isThere) return absent(form);
  if (traits.nullable && part.isNull) return null;
  const value = readSpec(spec, part);
  if (value === undefined) return absent(form);
  for (const rule of traits.rules ?? []) rule(value, part);
  return value === traits.omitted || (traits.unlessEmpty && isEmpty(value)) ? undefined : value;
}

/** What an absent member means. */
function absent({ spec, traits }: Declared): unknown {
  if (traits.default !== undefined) return traits.default;
  if (traits.filled) return emptyOf(spec);
  return undefined;
}

function readSpec(spec: Spec, part: Part): unknown {
  switch (spec.kind) {
    case "text":
      return readText(spec.options, part);
    case "number": {
      const { whole, least, most, above } = spec.options;
      const value = whole ? part.integer(least) : part.number();
      if (value === undefined) return undefined;
      if (above !== undefined && value <= above) part.error(`must be more than ${above}`);
      else if (least !== undefined && value < least) part.error(`must be ${least} or more`);
      else if (most !== undefined && value > most) part.error(`must be ${most} or less, not ${value}`);
      return value;
    }
    case "boolean":
      return part.boolean();
    case "json":
      return part.value();
    case "choice":
      return part.choice(spec.options);
    case "constant":
      if (part.value() === spec.value) return spec.value;
      part.error(spec.message);
      return undefined;
    case "list":
      return readList(spec, part);
    case "map":
      return readMap(spec, part);
    case "record":
      return readRecord(spec.members, spec.options, part);
    case "kinds":
      return readKinds(spec.kinds, part);
    case "varying":
      return undefined;
    case "lazy":
      return readAny(spec.get(), part);
    case "changed": {
      const value = readAny(spec.of, part);
      return value === undefined ? undefined : spec.read(value, part);
    }
    case "custom":
      return spec.read(part);
  }
}

function readKinds(kinds: Kinds, part: Part): unknown {
  const form = kinds[kindOf(part)];
  if (form) return readAny(form, part);
  const words = part.reading.isJson ? { ...KIND_WORDS, map: "an object", null: "null" } : KIND_WORDS;
  part.wrongKind(oneOf(Object.keys(kinds).flatMap((kind) => words[kind as keyof Kinds])));
  return undefined;
}

const KIND_WORDS: Readonly<Record<keyof Kinds, string | string[]>> = {
  text: "text",
  number: "a number",
  boolean: ["true", "false"],
  list: "a list",
  map: "a map of names and values",
  null: "nothing",
};

function readText(options: TextOptions, part: Part): string | undefined {
  const text = part.text({ empty: options.empty ?? options.pattern !== undefined });
  const wrong = text === undefined ? undefined : misfit(options, text, part.reading);
  if (wrong) part.error(wrong, options.hint);
  return text;
}

/** Characters of a text that a message repeats. */
const MOST_QUOTED = 100;

function misfit(
  { pattern, not, least = 0, most, mostOverNetwork }: TextOptions,
  text: string,
  { network }: ReadingOptions,
): string | undefined {
  const limit = network ? (mostOverNetwork ?? most) : most;
  if (text.length < least) return `must have at least ${least} characters`;
  if (limit !== undefined && text.length > limit) return `must have at most ${limit} characters`;
  if (pattern === undefined || pattern.test(text)) return undefined;
  return text === "" ? "is empty" : `"${text.slice(0, MOST_QUOTED)}" ${not ?? `must match ${pattern.source}`}`;
}

function readList({ of, options }: Extract<Spec, { kind: "list" }>, part: Part): unknown[] | undefined {
  const { single, keepsPlaces, least = 0, mostOverNetwork = Infinity } = options;
  if (part.node?.kind !== "list" && !(single && part.node?.kind === "scalar")) {
    part.items();
    return undefined;
  }
  const items = single ? part.oneOrMore() : part.items();
  if (items.length < least) part.error(`must have at least ${least === 1 ? "one item" : `${least} items`}`);
  if (part.reading.network && items.length > mostOverNetwork) {
    part.error(`must have at most ${mostOverNetwork} items`);
    return [];
  }
  const advice = adviceOnce(part);
  return items.flatMap((item) => {
    item.advice = advice;
    const value = readAny(of, item);
    return value === undefined && !keepsPlaces ? [] : [value ?? fallback(of)];
  });
}

/** The advice about a list, for each of its items. It may show the whole list, so it is written once, and only for a problem. */
function adviceOnce(part: Part): (() => string) | undefined {
  if (part.advice === undefined) return undefined;
  let advice: string | undefined;
  return () => (advice ??= part.advised ?? "");
}

function readMap({ of, options }: Extract<Spec, { kind: "map" }>, part: Part): Record<string, unknown> | undefined {
  const entries = part.entries();
  if (!part.isMap) return undefined;
  const { least = 0 } = options;
  const most = (part.reading.network ? options.mostOverNetwork : undefined) ?? options.most ?? Infinity;
  if (entries.length < least) part.error(`must have at least ${least === 1 ? "one member" : `${least} members`}`);
  if (entries.length > most) {
    part.error(`has ${entries.length} members, ${most} are allowed`);
    return undefined;
  }
  return Object.fromEntries(
    entries.map(([name, member]) => {
      checkName(options, name, member);
      const value = readAny(of, member);
      return [name, value === undefined ? fallback(of) : value];
    }),
  );
}

function checkName({ names }: MapOptions, name: string, part: Part): void {
  if (!names) return;
  const { spec, traits } = names;
  const wrong = spec.kind === "text" ? misfit(spec.options, name, part.reading) : undefined;
  if (wrong) part.keyError(wrong, spec.kind === "text" ? spec.options.hint : undefined);
  else for (const rule of traits.rules ?? []) rule(name, part);
}

function readRecord(members: MemberForms, options: RecordOptions, part: Part): Record<string, unknown> | undefined {
  const plan = planOf(members, options);
  if (!part.isMap || !options.open) part.refuseOthers(plan.known, options.foreign);
  if (part.node?.kind !== "object") return undefined;
  const written = new Map<string, SourceNode>();
  for (const { key, node } of part.node.members) {
    if (!written.has(key) && !isNothing(node, part)) written.set(key, node);
  }
  const has = (name: string) => written.has(name);
  const value: [string, unknown][] = [];
  for (const { name, names, form, isAlways } of plan.members) {
    const found = names.length === 1 ? names.find(has) : findSpelling(names, part);
    if (found === undefined && !isAlways) continue;
    const member = readMember(chosen(form, has), { name, member: part.inner(found ?? name, written), part });
    if (member !== undefined) value.push([name, member]);
  }
  for (const need of options.needs ?? []) checkNeed(need, members, part);
  return Object.fromEntries(value);
}

/** Null counts as absent in files of some programs. */
function isNothing(node: SourceNode, { reading }: Part): boolean {
  return reading.nullIsAbsent === true && node.kind === "scalar" && node.value === null;
}

/** The spelling of a member that is written. Two are an error: which one counts must not depend on their order. */
function findSpelling(names: readonly string[], part: Part): string | undefined {
  const [found, another] = part
    .writtenAmong(names)
    .filter((name) => !part.part(name).isNull || !part.reading.nullIsAbsent);
  if (another !== undefined) part.part(another).keyError(`and "${found}" are synonyms`, "Delete one of them.");
  return found;
}

interface PlannedMember {
  name: string;
  /** With its aliases. */
  names: readonly string[];
  form: Declared;
  /** Absent, it is a problem or has a value. */
  isAlways: boolean;
}

/** What is the same each time a record is read: a file has thousands of them. */
const PLANS = new WeakMap<MemberForms, { known: ReadonlySet<string>; members: readonly PlannedMember[] }>();

function planOf(
  members: MemberForms,
  { ignored = [] }: RecordOptions,
): { known: ReadonlySet<string>; members: readonly PlannedMember[] } {
  const planned = PLANS.get(members);
  if (planned) return planned;
  const all = Object.entries(members).map(([name, form]): PlannedMember => {
    const { optional, filled, default: usual, aliases = [] } = form.traits;
    return {
      name,
      names: [name, ...aliases],
      form,
      isAlways: optional !== true || filled === true || usual !== undefined,
    };
  });
  const plan = { known: new Set([...all.flatMap(({ names }) => names), ...ignored]), members: all };
  PLANS.set(members, plan);
  return plan;
}

function readMember(form: Declared, { name, member, part }: { name: string; member: Part; part: Part }): unknown {
  const { optional, filled, local } = form.traits;
  const isOptional = optional === true || filled === true;
  if (!member.isThere && !isOptional) part.error(`${name} is missing`);
  const { network } = part.reading;
  if (local && network && member.isThere) {
    const refusal = network === true ? { message: "may not come over the network" } : network(name);
    member.keyError(refusal.message, refusal.hint);
    return absent(form);
  }
  const value = readAny(form, member);
  return value === undefined && !isOptional ? fallback(form) : value;
}

function checkNeed({ count, of, message, hint }: Need, members: MemberForms, part: Part): void {
  const isThere = (name: string) => [name, ...(members[name]?.traits.aliases ?? [])].some((each) => part.has(each));
  const there = of.filter(isThere).length;
  if (count === "some" ? there === 0 : count === "one" ? there !== 1 : there > 1) part.error(message, hint);
}

function kindOf(part: Part): "text" | "number" | "boolean" | "list" | "map" | "null" {
  const { node } = part;
  if (node?.kind !== "scalar") return node?.kind === "object" ? "map" : "list";
  if (node.value === null) return "null";
  return typeof node.value === "number" ? "number" : typeof node.value === "boolean" ? "boolean" : "text";
}

function firstOf(forms: readonly (Declared | undefined)[]): Declared {
  const [first] = forms;
  if (!first) throw new TypeError("a form of several has none");
  return first;
}

/** What stands for a value that could not be read, so that the rest can be checked. */
export function standIn<T>(form: Form<T, boolean>): T {
  // Its type is that of the form that it stands for.
  return fallback(form) as T;
}

function fallback(form: Declared): unknown {
  return absent(form) ?? (form.traits.optional ? undefined : (form.traits.fallback ?? emptyOf(form.spec)));
}

function emptyOf(spec: Spec): unknown {
  switch (spec.kind) {
    case "text":
      return "";
    case "number":
      return spec.options.least ?? 0;
    case "boolean":
      return false;
    case "json":
      return null;
    case "choice":
      return spec.options[0];
    case "constant":
      return spec.value;
    case "list":
      return [];
    case "map":
      return {};
    case "record": {
      const members = Object.entries(spec.members).map(([name, member]) => [name, fallback(member)] as const);
      return Object.fromEntries(members.filter(([, value]) => value !== undefined));
    }
    case "kinds":
      return fallback(firstOf(Object.values(spec.kinds)));
    case "varying":
      return fallback(firstOf(spec.among));
    case "lazy":
      return fallback(spec.get());
    case "changed":
    case "custom":
      return spec.fallback;
  }
}
