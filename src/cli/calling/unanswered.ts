import type { FormField } from "./form-field.ts";
import { defaultOf, fieldFacts } from "./form-field.ts";
import { nearestName } from "../../errors/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { quoteWord } from "../text/split-words.ts";

/** A question of a server that nobody was there to answer. */
export type Unanswered = {
  /** Names the question within its round. */
  key: string;
  message: string;
  /** What was wrong with the answers that were given. */
  problems: readonly { name: string; text: string }[];
} & ({ kind: "form"; fields: readonly FormField[]; given: readonly string[] } | { kind: "url"; url: string });

/** What became of the call. */
export type Fate =
  | { kind: "parked"; again: string; hours: number }
  /** A legacy server waits for no one: it was told that the user declines, and went on. */
  | { kind: "declined"; again: string };

/** INPUT_FAILED with what was asked, and the command that answers it. */
export function unansweredError(
  questions: readonly Unanswered[],
  { server, fate, unused }: { server: string; fate: Fate; unused: readonly string[] },
): NexusError {
  const lines = [
    `Server "${server}" asks, and there is no terminal to answer at`,
    ...questions.flatMap(describe),
    ...unused.flatMap((text) => misspelt(text, questions)),
  ];
  const goesOn = `Give the answers; the call goes on from where it is, and is kept for ${fate.kind === "parked" ? fate.hours : 0} hours:`;
  const hint = fate.kind === "parked" ? goesOn : "It was told that you decline. Give the answers beforehand:";
  return new NexusError("INPUT_FAILED", lines.join("\n"), {
    server,
    hint: `${hint}\n${fate.again} ${answersWanted(questions, fate.kind === "parked")}`,
    mayHaveReached: true,
  });
}

/** The options that answer these questions, with a `…` where the answer goes. */
function answersWanted(questions: readonly Unanswered[], isKeyed: boolean): string {
  const names = questions.flatMap(namesWanted);
  const isUnique = (name: string) => names.filter(({ name: other }) => other === name).length === 1;
  return names
    .map(
      ({ key, name, value }) => `--answer ${quoteWord(isUnique(name) || !isKeyed ? name : `${key}.${name}`)}=${value}`,
    )
    .join(" ");
}

interface Wanted {
  key: string;
  name: string;
  value: string;
}

function namesWanted(question: Unanswered): Wanted[] {
  const { key } = question;
  if (question.kind === "url") return [{ key, name: "url", value: "accept" }];
  const missing = question.fields.filter((field) => {
    if (question.problems.some(({ name }) => name === field.name)) return true;
    return field.required && defaultOf(field) === undefined && !question.given.includes(field.name);
  });
  if (missing.length > 0) return missing.map(({ name }) => ({ key, name, value: "…" }));
  // Everything may be left as it is; somebody has to say so.
  return [{ key, name: "form", value: "accept" }];
}

function describe(question: Unanswered): string[] {
  const problems = question.problems.map(({ text }) => `  ${text}`);
  if (question.kind === "url") {
    return [
      question.message,
      `  ${question.url}`,
      "  url=accept once you have been there, url=decline if not",
      ...problems,
    ];
  }
  const width = Math.max(0, ...question.fields.map(({ name }) => name.length));
  const fields = question.fields.map((field) => {
    const { name, title, description } = field;
    const about = [title === name ? "" : title, description ?? ""].filter((text) => text !== "").join(": ");
    return `  ${name.padEnd(width)}  ${fieldFacts(field)}${about === "" ? "" : ` – ${about}`}`;
  });
  return [question.message, ...fields, ...problems];
}

/** An answer that nobody has taken may be for a later question, or misspelt. */
function misspelt(text: string, questions: readonly Unanswered[]): string[] {
  const [key = ""] = text.split("=");
  const names = questions.flatMap((question) =>
    question.kind === "url" ? ["url"] : question.fields.map(({ name }) => name),
  );
  const near = nearestName(key, names);
  return near === undefined || near === key ? [] : [`--answer ${text} was not asked for: did you mean ${near}?`];
}
