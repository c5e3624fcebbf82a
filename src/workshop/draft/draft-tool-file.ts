import {
  OMISSION_REASONS,
  type ApiFacts,
  type OmittedOperation,
  type ManualFormat,
  type OperationFacts,
  type ServerFacts,
} from "../documents/api-facts.ts";
import type { Problem } from "../../format/problem.ts";
import { readToolFile, readTree } from "../file/read-tool-file.ts";
import type { Effect, QuestionSpec, ToolFile, FieldSpec } from "../file/model/tool-file.ts";
import { baseAddress, endpointOf, ownBase } from "./base-address.ts";
import { toolNames } from "./names/tool-names.ts";
import { leaveOutParts } from "./leave-out.ts";
import { QuestionList } from "./questions.ts";
import { SecretsDrafter } from "./secrets/draft-secrets.ts";
import { choiceText, type Choice } from "./select/choice.ts";
import { askAboutIncomplete, wholePaths } from "./select/complete-requests.ts";
import { cutQuestions, fittingTools } from "./select/fit-list.ts";
import { byImportance, MOST_LISTED } from "./select/proposed-list.ts";
import { selected } from "./select/selectors.ts";
import { checkFileSize, checkToolCount, fittingOperations } from "./select/size-limits.ts";
import { cleanText } from "./texts.ts";
import { draftTool, type DraftedTool } from "./tool/draft-tool.ts";
import { groupedBy } from "../../text/grouped-by.ts";
import { effectOf, isEffectOpen } from "./tool/effect-of.ts";
import { makeSound, reachedFrom } from "./types/sound-types.ts";
import { TypeDrafter } from "./types/type-drafter.ts";
import { writtenType } from "./types/written-type.ts";
import { writeYaml, type YamlMap, type YamlSection } from "./yaml/write-yaml.ts";
import { treeOf } from "./yaml/yaml-tree.ts";
import type { DraftType } from "./types/draft-type.ts";
import { pascalCase, wordsOf } from "./names/words.ts";

const LEAST_FIELDS = 3;
const LEAST_USES = 3;

export interface DraftOptions extends Choice {
  /** The id of the API. */
  api: string;
  /** The documents beside the file, by the names that evidence uses. */
  documents: Record<string, { file: string; sha256: string; title?: string; source?: string }>;
  base?: string | undefined;
  documentUrl?: string | undefined;
}

/** Rounds of leaving out single parts, and then whole tools, that cannot be read. */
const MAX_REPAIRS = 4;
const MAX_ROUNDS = 8;

/** A tool file made of a description, without a model. */
export interface Draft {
  text: string;
  /** The file as it is read; undefined if it has errors, which then are defects of the draft. */
  file?: ToolFile;
  /** Those of a draft without errors have no places. */
  problems: Problem[];
  tools: { name: string; operation: string; effect: Effect; offer: "list" | "search" }[];
  /** Operations without a tool, and why. */
  omitted: OmittedOperation[];
  questions: QuestionSpec[];
}

/** Drafts the tool file of an API. The same description gives the same file. */
export function draftToolFile(facts: ApiFacts, options: DraftOptions): Draft {
  const questions = new QuestionList();
  const { whole, cut } = wholePaths(facts.operations);
  const { fitting, large } = fittingOperations({ ...facts, operations: whole });
  const names = toolNames(whole);
  const items = fitting.map((operation) => ({
    operation,
    name: names.get(operation.key) ?? "",
    effect: effectOf(operation),
  }));
  const select = options.select ?? [];
  const chosen = selected(items, select);
  const kept = options.rest === "search" ? items : items.filter((item) => chosen.has(item));
  checkToolCount(kept.length);
  const isKept = new Set(kept);
  const omitted = [
    ...facts.omitted,
    ...cut,
    ...large,
    ...items.filter((item) => !isKept.has(item)).map(({ operation }) => notSelected(operation)),
  ];
  const common = commonServers(facts);
  const address = baseAddress(common, options, questions);
  const { base, path: endpoint } = facts.operations.some(({ graphql }) => graphql)
    ? endpointOf(address, options.base)
    : { base: address, path: "" };
  const types = new TypeDrafter(questions);
  const secrets = new SecretsDrafter(facts, questions);
  const readers = readersByPath(kept);
  const bases = new Set<string>();
  const drafted = kept.map(({ operation, name }) => {
    const { documentUrl } = options;
    const own = ownBase(operation.servers, { base, documentUrl, common, about: `tools.${name}`, questions });
    if (own !== undefined) bases.add(own);
    const reader = readers.get(operation.path);
    return draftTool(operation, { tool: name, types, questions, secrets, base: own, reader, endpoint });
  });
  shareParameters(
    drafted.flatMap(({ types: [input = ""] }) => types.types.get(input) ?? []),
    types,
  );
  makeSound(types.types, questions);
  askAboutWhole(facts, questions, secrets);
  askAboutIncomplete({ omitted }, questions);
  if (FOR_PEOPLE.has(facts.format)) askAboutEffects(kept, questions);
  askAboutMethods(kept, questions);
  askAboutOrigins(base, [...bases, ...secrets.tokenUrls()], questions);
  const parts: FileParts = {
    facts,
    options,
    base,
    bases: [...bases, ...secrets.tokenUrls()],
    types,
    secrets,
    questions,
    drafted,
  };
  const searchable = new Set(
    options.rest === "search" ? kept.filter((item) => !chosen.has(item)).map(({ name }) => name) : [],
  );
  const listable = byImportance(kept.filter(({ name }) => !searchable.has(name))).map(({ name }) => name);
  return fitted(parts, { listable, searchable, omitted, isSelected: select.length > 0 });
}

interface FileParts {
  facts: ApiFacts;
  options: DraftOptions;
  base: string;
  /** Other addresses that requests reach. */
  bases: readonly string[];
  types: TypeDrafter;
  secrets: SecretsDrafter;
  questions: QuestionList;
  drafted: readonly DraftedTool[];
}

/** Lists as many tools as a list can have; the others are found by searching. */
function fitted(
  all: FileParts,
  given: { listable: readonly string[]; searchable: Set<string>; omitted: OmittedOperation[]; isSelected: boolean },
): Draft {
  const { listable, searchable, omitted, isSelected } = given;
  const { parts, file, problems, broken } = readable(all, searchable);
  const most = isSelected ? Infinity : MOST_LISTED;
  if (file) {
    const listed = fittingTools(file, listable, most);
    for (const name of listable) if (!listed.has(name)) searchable.add(name);
    for (const [name, cut] of listed) {
      for (const { about, ask } of cutQuestions(name, cut)) parts.questions.add(ask, about);
    }
  }
  for (const { name } of broken) searchable.delete(name);
  if (searchable.size > 0) {
    const left = searchable.size === 1 ? "1 tool is" : `${searchable.size} tools are`;
    const ask = `${left} not in the list of tools, which would be too long, but found by searching. Are the listed ones those that are needed most?`;
    parts.questions.add(ask, "tools");
  }
  const { sections, questions } = fileSections(parts, searchable);
  const text = writeYaml(sections);
  checkFileSize(text);
  for (const name of searchable) {
    const tool = file?.tools[name];
    if (tool) tool.offer = "search";
  }
  if (file && questions.length > 0) file.questions = questions;
  return {
    text,
    ...(file ? { file } : {}),
    problems,
    tools: parts.drafted.map(({ name, operation, effect }) => ({
      name,
      operation,
      effect,
      offer: searchable.has(name) ? "search" : "list",
    })),
    omitted: [...omitted, ...broken.map(({ omission }) => omission)],
    questions,
  };
}

interface Readable {
  parts: FileParts;
  file: ToolFile | undefined;
  problems: Problem[];
  /** Tools that were left out, because the file could not be read with them. */
  broken: { name: string; omission: OmittedOperation }[];
}

/** Leaves out tools that a tool file cannot have, so that the others can be used. */
function readable(all: FileParts, searchable: ReadonlySet<string>): Readable {
  let parts = all;
  const broken: Readable["broken"] = [];
  for (let round = 0; ; round++) {
    const { file, problems } = readDraft(parts, searchable);
    const errors = problems.filter(({ severity }) => severity === "error");
    if (errors.length > 0 && round < MAX_REPAIRS && leaveOutParts(errors, parts)) continue;
    const causes = errors.length === 0 || round === MAX_ROUNDS ? undefined : brokenTools(errors, parts);
    if (!causes || causes.size === 0) return { parts, file, problems, broken };
    for (const { name, operation, evidence } of parts.drafted) {
      const detail = causes.get(name);
      if (detail === undefined) continue;
      broken.push({ name, omission: { key: operation, reason: "unreadable-operation", detail, evidence } });
    }
    parts = { ...parts, drafted: parts.drafted.filter(({ name }) => !causes.has(name)) };
  }
}

/** Reads what would be written; its text only if that is needed to say what is wrong, and where. */
function readDraft(parts: FileParts, searchable: ReadonlySet<string>): Pick<Readable, "file" | "problems"> {
  const { sections } = fileSections(parts, searchable);
  const tree = treeOf(sections);
  const read = tree && readTree(tree, "the draft");
  return read?.file ? read : readToolFile(writeYaml(sections), "the draft");
}

/** The tools that errors are about, directly or by the types that they use, with the first error of each. */
function brokenTools(errors: readonly Problem[], { drafted, types }: FileParts): Map<string, string> {
  const causes = new Map<string, string>();
  const ofTypes = new Map<string, string>();
  for (const { path, message } of errors) {
    const [section, name = ""] = path.split(".");
    const target = section === "types" ? ofTypes : section === "tools" ? causes : undefined;
    if (target && !target.has(name)) target.set(name, `${path}: ${message}`);
    if (section === "fake") causes.set(path.split(".")[2] ?? "", `${path}: ${message}`);
  }
  if (ofTypes.size === 0) return causes;
  for (const tool of drafted) {
    for (const type of reachedFrom(tool.types, types.types).keys()) {
      const message = ofTypes.get(type);
      if (message !== undefined && !causes.has(tool.name)) causes.set(tool.name, message);
    }
  }
  return causes;
}

type Layout = Omit<YamlSection, "key" | "value">;

/** How the sections that are long are written. */
const LAYOUTS = {
  documents: { levels: 1 },
  upstream: { levels: 1, apart: true },
  secrets: { levels: 1, apart: true, comment: "Names only: store the values with nexus secrets set." },
  types: { levels: 3, apart: true },
  tools: { levels: 2, apart: true },
  fake: { levels: 2, apart: true, comment: "What the fake answers, from the examples of the document." },
  questions: {
    apart: true,
    comment: "What was decided without the document. Answer them by editing the file, and remove them.",
  },
} satisfies Record<string, Layout>;

function fileSections(
  parts: FileParts,
  searchable: ReadonlySet<string>,
): { sections: YamlSection[]; questions: QuestionSpec[] } {
  const { facts, options, base, bases, types, secrets, drafted } = parts;
  const roots = drafted.flatMap(({ types: used }) => used);
  const reached = reachedFrom(roots, types.types);
  const { secrets: sets, placeholders } = secrets.sets();
  const fakes = drafted.flatMap(({ name, fake }) => (fake ? [[name, fake] as const] : []));
  const tools = new Set(drafted.map(({ name }) => name));
  const exists = (about: string) => {
    const [section, name = ""] = about.split(".");
    return section === "types" ? reached.has(name) : section !== "tools" || name === "" || tools.has(name);
  };
  const questions = parts.questions.list(exists);
  const description = cleanText(facts.description ?? "", 600);
  const chosen = choiceText(options);
  const about = {
    nexus: 1,
    api: options.api,
    title: cleanText(facts.title, 120).replaceAll("\n", " ") || options.api,
    description: description === "" ? undefined : description,
    version: cleanText(facts.version, 60).replaceAll("\n", " ") || "1.0.0",
    documents: options.documents,
    upstream: { base, ...(bases.length === 0 ? {} : { allow: [...new Set([base, ...bases])] }) },
  };
  const content = {
    namespaces: filled(types.namespaces),
    secrets: filled(sets),
    types: Object.fromEntries([...reached].map(([name, type]) => [name, writtenType(type)])),
    tools: Object.fromEntries(drafted.map(({ name, tool }) => [name, searchable.has(name) ? withOffer(tool) : tool])),
    fake: filled({
      ...(filled(placeholders) ? { secrets: placeholders } : {}),
      ...(fakes.length === 0 ? {} : { tools: Object.fromEntries(fakes) }),
    }),
    questions:
      questions.length === 0
        ? undefined
        : questions.map(({ evidence, ...question }) => ({
            ...question,
            ...(evidence.length === 0 ? {} : { evidence }),
          })),
  };
  const layouts: Partial<Record<string, Layout>> =
    chosen === undefined ? LAYOUTS : { ...LAYOUTS, nexus: { comment: chosen } };
  const sections = Object.entries({ ...about, ...content }).map(([key, value]) => ({ key, value, ...layouts[key] }));
  return { sections, questions };
}

function withOffer({ title, description, effect, ...rest }: YamlMap): YamlMap {
  return { title, description, effect, offer: "search", ...rest };
}

function filled(map: YamlMap): YamlMap | undefined {
  return Object.keys(map).length === 0 ? undefined : map;
}

function notSelected({ key, evidence }: OperationFacts): OmittedOperation {
  return { key, reason: "not-selected", detail: OMISSION_REASONS["not-selected"], evidence };
}

/** The tool that reads a path, for callers who have to look what became of a write. */
function readersByPath(items: readonly { operation: OperationFacts; name: string }[]): Map<string, string> {
  const readers = items.filter(
    ({ operation }) => operation.method.toUpperCase() === "GET" && effectOf(operation) === "read",
  );
  // Where several requests have one address, it does not say what they read.
  const byPath = groupedBy(readers, ({ operation }) => operation.path);
  return new Map(
    [...byPath].flatMap(([path, [only, ...more]]) => (only && more.length === 0 ? [[path, only.name]] : [])),
  );
}

function askAboutWhole(
  { security, operations, remarks, doubts = [] }: ApiFacts,
  questions: QuestionList,
  secrets: SecretsDrafter,
): void {
  const isSilent = Object.keys(security).length === 0 && Object.keys(secrets.sets().secrets).length === 0;
  if (isSilent && operations.length > 0) {
    questions.add("The document describes no credentials. Does the API need any?", "secrets");
  }
  for (const { text, evidence } of remarks.slice(0, 50)) questions.add(text, "documents", evidence);
  for (const { text, evidence } of doubts.slice(0, 50)) questions.add(text, "documents", evidence);
}

const FOR_PEOPLE: ReadonlySet<string> = new Set(["markdown", "html", "text", "pdf"] satisfies ManualFormat[]);
const MOST_EFFECTS = 20;

/** Manuals say seldom what a request changes; where its name does not say it either, a person has to. */
function askAboutEffects(items: readonly { operation: OperationFacts; name: string }[], questions: QuestionList): void {
  const open = items.filter(({ operation }) => operation.method === "POST" && isEffectOpen(operation));
  for (const { operation, name } of open.slice(0, MOST_EFFECTS)) {
    const ask = `The manual does not say whether ${operation.key} changes something: it is a write here. Is it?`;
    const choices = (["write", "read", "destructive"] as const).map((effect) => ({
      answer: effect,
      set: { "": effect },
    }));
    questions.add(ask, `tools.${name}.effect`, operation.evidence, choices);
  }
}

function askAboutMethods(items: readonly { operation: OperationFacts; name: string }[], questions: QuestionList): void {
  for (const { operation, name } of items.filter((item) => item.operation.methodAssumed).slice(0, MOST_EFFECTS)) {
    const { method, key, evidence } = operation;
    const ask = `The document does not say the method of ${key}: it is ${method} here, because only its address is shown. Is that right?`;
    const others = ["GET", "POST"].filter((each) => each !== method);
    const choices = [method, ...others].map((each) => ({ answer: each, set: { "": each } }));
    questions.add(ask, `tools.${name}.request.method`, evidence, choices);
  }
}

/** A document can name any address; a person has to know where requests and credentials go. */
function askAboutOrigins(base: string, others: readonly string[], questions: QuestionList): void {
  const originOf = (address: string) => (URL.canParse(address) ? new URL(address).origin : address);
  const foreign = [...new Set(others.map(originOf))].filter(
    (origin) => origin !== originOf(base) && !origin.endsWith(".invalid"),
  );
  for (const origin of foreign.slice(0, MOST_ORIGINS)) {
    const ask = `The document also sends requests to ${origin}. Does it belong to this API? If not, remove it and what uses it.`;
    questions.add(ask, "upstream.allow");
  }
  if (foreign.length > MOST_ORIGINS) {
    questions.add(
      `${foreign.length - MOST_ORIGINS} more origins are reached. Are all of them right?`,
      "upstream.allow",
    );
  }
}

const MOST_ORIGINS = 10;

type Shared = { type: DraftType; fields: [string, FieldSpec][] };

/**
 * Parameters that the document describes once and many operations use become a type of their own, which the inputs
 * include.
 */
function shareParameters(inputs: Iterable<DraftType>, types: TypeDrafter): void {
  const candidates: Shared[] = [...new Set(inputs)].map((type) => ({ type, fields: sharedFields(type) }));
  const large = candidates.filter(({ fields }) => fields.length >= LEAST_FIELDS);
  for (const [key, same] of groupedBy(large, ({ fields }) => JSON.stringify(fields))) {
    const [first] = same;
    if (same.length < LEAST_USES || !first) continue;
    const names = first.fields.map(([name]) => name);
    const name = `${pascalCase(wordsOf(`${names[0]} to ${names.at(-1)}`))}Parameters`;
    const evidence = [...new Set(first.fields.flatMap(([, field]) => field.evidence))];
    const shared = types.add(name, key, { evidence: [], xml: {}, include: [], fields: new Map(first.fields) });
    if (evidence.length === 1) shared.evidence = evidence;
    for (const { type } of same) {
      for (const field of names) type.fields.delete(field);
      type.include.unshift(shared);
    }
  }
}

/** Fields whose evidence is outside of the operation. Those of the body come from included types and are not here. */
function sharedFields({ fields, evidence: [own = ""] }: DraftType): [string, FieldSpec][] {
  const path = own.replace(/\/[^/]*$/, "");
  return [...fields].filter(
    ([name, field]) =>
      field.wire === name &&
      field.evidence.every((place) => !place.startsWith(`${own}/`) && !place.startsWith(`${path}/`)),
  );
}

/** The servers of the document; if it names none, those of the operations that have the most operations in common. */
function commonServers({ servers, operations }: Pick<ApiFacts, "servers" | "operations">): ServerFacts[] {
  if (servers.length > 0) return servers;
  const counts = new Map<string, { servers: ServerFacts[]; count: number }>();
  for (const { servers: own = [] } of operations) {
    const key = own.map(({ url }) => url).join("\n");
    const known = counts.get(key) ?? { servers: own, count: 0 };
    counts.set(key, { servers: own, count: known.count + 1 });
  }
  counts.delete("");
  return [...counts.values()].toSorted((one, other) => other.count - one.count)[0]?.servers ?? [];
}
