import { isDeepStrictEqual } from "node:util";
import { plainValue, memberAt } from "../../source/source-node.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { editToolFile, type ToolFileChange } from "./edit-tool-file.ts";
import { readYaml } from "./model/read-yaml.ts";
import { stepsOf } from "./model/steps-of.ts";
import type { QuestionChoice, QuestionSpec } from "./model/tool-file.ts";

/** As a person writes the number of a choice, which the list shows as `2)`. */
const CHOICE_NUMBER = /^[#(]?([-+]?\d+)[.)]?$/;

/** The choice that an answer names: by its words, or by its number. */
export function findChoice({ choices = [] }: QuestionSpec, answer: string): QuestionChoice | undefined {
  const words = answer.trim().toLowerCase();
  if (words === "") return choices.find((choice) => choice.default === true);
  const byWords = choices.find((choice) => choice.answer.trim().toLowerCase() === words);
  const [, number] = CHOICE_NUMBER.exec(words) ?? [];
  return byWords ?? (number === undefined ? undefined : choices[Number(number) - 1]);
}

/** What an answer sets; nothing if it is kept as a comment. */
export function valuesOf(question: QuestionSpec, answer: string): QuestionChoice["set"] {
  return findChoice(question, answer)?.set ?? givenAddress(question, answer);
}

/** Yes and no, which are answers only where the question has them as choices, or has none. */
const BARE = /^(?:y|yes|no?|ok|true|false|ja|nein)$/i;

/** Why an answer to a question with choices cannot be applied; undefined if it can, or is words of its own to keep. */
export function refusedAnswer(question: QuestionSpec, answer: string): string | undefined {
  const { choices = [] } = question;
  const words = answer.trim();
  if (choices.length === 0 || findChoice(question, words) || givenAddress(question, words).length > 0) return undefined;
  if (CHOICE_NUMBER.test(words)) {
    return `there ${choices.length === 1 ? "is one choice" : `are ${choices.length} choices`}, and ${words} is none of them`;
  }
  if (BARE.test(words)) return `"${words}" is none of its choices`;
  const near = nearestName(
    words.toLowerCase(),
    choices.map((choice) => choice.answer.toLowerCase()),
  );
  return near === undefined ? undefined : `"${words}" is none of its choices; did you mean "${near}"?`;
}

/** A place that an answer would change and that is not in the file any more; undefined if all are there. */
export function missingPlace(text: string, question: QuestionSpec, answer: string): string | undefined {
  const { tree } = readYaml(text);
  return findChoice(question, answer)?.set.find(({ path }) => {
    let node: Tree | undefined = tree;
    for (const step of stepsOf(path).slice(0, -1)) node = node && memberAt(node, step)?.node;
    return node === undefined;
  })?.path;
}

/**
 * The text of a tool file after a question was answered: the question is removed, and the answer makes the changes of
 * its choice or is kept as a comment at the place that the question is about.
 */
export function withAnswer(
  text: string,
  index: number,
  { question, answer }: { question: QuestionSpec; answer: string },
): string {
  const choice = findChoice(question, answer);
  const set = valuesOf(question, answer);
  const changes = set
    .flatMap((change) => [change, ...(change.path === BASE ? allowedWith(text, change.value) : [])])
    .map(({ path, value }): ToolFileChange => ({ path: stepsOf(path), value }));
  const edited = editToolFile(text, [...changes, removal(text, index)]);
  return changes.length > 0 ? edited : withNote(edited, question, choice?.answer ?? answer);
}

const BASE = "upstream.base";

/** An address is an answer to every question about the base address. */
function givenAddress({ about }: QuestionSpec, answer: string): QuestionChoice["set"] {
  const address = answer.trim().replaceAll(/^[<"']|[>"'.]$/g, "");
  if (about !== BASE || !/^https?:\/\/\S+$/i.test(address) || !URL.canParse(address)) return [];
  const { origin, pathname } = new URL(address);
  return [{ path: BASE, value: `${origin}${pathname.replace(/\/*$/, "")}/` }];
}

/** The addresses that may be reached, with the new base instead of the old one. */
function allowedWith(text: string, base: unknown): QuestionChoice["set"] {
  const { tree } = readYaml(text);
  const upstream = tree && memberAt(tree, "upstream")?.node;
  const value = upstream && plainValue(upstream);
  if (typeof value !== "object" || value === null || !("allow" in value) || !Array.isArray(value.allow)) return [];
  const before: unknown = "base" in value ? value.base : undefined;
  const allowed: unknown[] = value.allow.map((each: unknown) => (each === before ? base : each));
  return [{ path: "upstream.allow", value: [...new Set(allowed)] }];
}

function removal(text: string, index: number): ToolFileChange {
  const questions = readYaml(text).tree;
  const list = questions && memberAt(questions, "questions")?.node;
  const isLast = list?.kind === "list" && list.items.length === 1;
  return { path: isLast ? ["questions"] : ["questions", index], remove: true };
}

/** A comment above the place; at the end of the file if it cannot be there. */
function withNote(text: string, { about, ask }: QuestionSpec, answer: string): string {
  const note = (where: string) => `# ${oneLine(`${where}${ask}`)} Answer: ${oneLine(answer)}`;
  const { tree } = readYaml(text);
  const { line, isExact } = tree ? lineOf(tree, about) : {};
  if (tree && line !== undefined) {
    const lines = text.split("\n");
    const indent = /^ */.exec(lines[line - 1] ?? "")?.[0] ?? "";
    lines.splice(line - 1, 0, `${indent}${note(isExact ? "" : `${about}: `)}`);
    const noted = lines.join("\n");
    const after = readYaml(noted).tree;
    if (after && isDeepStrictEqual(plainValue(after), plainValue(tree))) return noted;
  }
  return `${text.replace(/\n*$/, "\n")}${note(`${about}: `)}\n`;
}

type Tree = NonNullable<ReturnType<typeof readYaml>["tree"]>;

/** The line of the key, or of its nearest existing parent. */
function lineOf(root: Tree, about: string): { line?: number; isExact?: boolean } {
  let node = root;
  let found: { line?: number } = {};
  for (const step of stepsOf(about)) {
    const next = memberAt(node, step);
    if (!next) return { ...found, isExact: false };
    ({ node } = next);
    found = { line: next.place.line };
  }
  return { ...found, isExact: true };
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
}
