import { quoteWord } from "../../text/shell-words.ts";
import { type FormField, defaultOf, fieldFacts } from "../../agent/questions/form-field.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { NexusError, type OpenQuestion } from "../../errors/nexus-error.ts";
import { REQUEST_STATE_HOURS } from "../../protocol/modern.ts";

/** A question of a server that could not be asked. */
export type Unanswered = {
  /** The key of the question in its round. */
  key: string;
  message: string;
  /** The problems of the given answers. */
  problems: readonly { name: string; text: string }[];
} & (
  | { kind: "form"; fields: readonly FormField[]; given: readonly string[]; schema: unknown }
  | { kind: "url"; url: string }
);

/** What happened to the call. */
export type UnansweredOutcome =
  /** `isOurs`: the server is from a tool file, and keeps its state as long as the call is kept. */
  | { kind: "parked"; id: string; again: string; isOurs: boolean }
  /** It could have been parked, but could not be saved. */
  | { kind: "lost"; again: string; reason: string }
  /** A legacy server does not wait: it was told that the user declines, and continued. */
  | { kind: "declined"; again: string };

interface UnansweredContext {
  server: string;
  outcome: UnansweredOutcome;
  /** Answers that were not used. */
  unused: readonly string[];
  /** If true, `--json` prevents asking. */
  isTerminalThere: boolean;
}

/** INPUT_FAILED with the questions, and the command that answers them. */
export function unansweredError(
  asked: readonly Unanswered[],
  { server, outcome, unused, isTerminalThere }: UnansweredContext,
): NexusError {
  // A parked round needs an answer for each of several equal questions; a repeated call lists each question once.
  const questions = outcome.kind === "declined" ? distinct(asked) : asked;
  const why = isTerminalThere ? "--json does not ask at the terminal" : "there is no terminal";
  const lines = [
    `Server "${server}" asks a question, but ${why}`,
    ...questions.flatMap(describe),
    ...unused.map((text) => notAskedFor(text, questions)),
  ];
  return new NexusError("INPUT_FAILED", lines.join("\n"), {
    server,
    hint: `${adviceFor(outcome)}\n${outcome.again} ${answersWanted(questions, outcome.kind !== "declined")}`,
    input: { continue: outcome.kind === "parked" ? outcome.id : undefined, questions: questions.map(forPrograms) },
    mayHaveReached: true,
  });
}

function adviceFor(outcome: UnansweredOutcome): string {
  switch (outcome.kind) {
    case "parked":
      return `Add the answers to continue the call. It is kept for ${keptFor(outcome.isOurs)}:`;
    case "lost":
      return `The call could not be kept (${outcome.reason}). Repeat it with the answers:`;
    case "declined":
      return "The question was declined. Repeat the call with the answers:";
  }
}

function keptFor(isOurs: boolean): string {
  return `${REQUEST_STATE_HOURS} hours${isOurs ? "" : ", unless the server drops it sooner"}`;
}

function distinct(questions: readonly Unanswered[]): Unanswered[] {
  return [...new Map(questions.map((question) => [JSON.stringify({ ...question, key: "" }), question])).values()];
}

function forPrograms(question: Unanswered): OpenQuestion {
  const { key, message } = question;
  return question.kind === "url" ? { key, message, url: question.url } : { key, message, schema: question.schema };
}

/** The options that answer these questions, with `…` in place of the answer. */
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
  // All fields are optional, so only the acceptance is needed.
  return [{ key, name: "form", value: "accept" }];
}

function describe(question: Unanswered): string[] {
  const problems = question.problems.map(({ text }) => `  ${text}`);
  if (question.kind === "url") {
    return [
      question.message,
      `  ${question.url}`,
      "  url=accept after you have opened the page, url=decline otherwise",
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

/** Unused answers that were probably meant for one of these questions. */
export function misspeltAnswers(unused: readonly string[], questions: readonly Unanswered[]): string[] {
  return unused.filter((text) => meantBy(text, questions) !== undefined);
}

/** An unused answer may be for a later question, or misspelt. */
function notAskedFor(text: string, questions: readonly Unanswered[]): string {
  const near = meantBy(text, questions);
  return `The server has not asked for --answer ${text}${near === undefined ? " so far" : `. Did you mean ${near}?`}`;
}

function meantBy(text: string, questions: readonly Unanswered[]): string | undefined {
  const [key = ""] = text.split("=");
  const names = questions.flatMap((question) =>
    question.kind === "url" ? ["url"] : question.fields.map(({ name }) => name),
  );
  const near = nearestName(key, names);
  return near === key ? undefined : near;
}
