import { NexusError } from "../../errors/nexus-error.ts";
import { writeAtomic } from "../../files/atomic-write.ts";
import { visible } from "../../text/visible.ts";
import { findRegularText } from "../../files/regular-file.ts";
import { findChoice, missingPlace, refusedAnswer, valuesOf, withAnswer } from "../../workshop/file/answer-question.ts";
import { surePlaceholderIn } from "../../workshop/file/model/address-placeholder.ts";
import { openAddresses } from "../../workshop/file/model/open-addresses.ts";
import type { QuestionSpec, ToolFile } from "../../workshop/file/model/tool-file.ts";
import { readToolFile } from "../../workshop/file/read-tool-file.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import { pluralize } from "../output/amounts.ts";
import type { Output } from "../output/output.ts";
import { loadSound, type NamedApi } from "./loaded.ts";
import { quotedEvidence } from "./quoted-evidence.ts";

const MAX_FILE_BYTES = 17 * 1024 * 1024;

/** nexus api questions shop --answer 2=yes */
export const apiQuestions = defineCommand({
  usage: "nexus api questions <api> [--answer N=TEXT]…",
  description: `
Lists what a tool file leaves open, each question with the place that it is about and what the documents say there. On a
terminal it asks them one by one: an empty answer takes the usual choice or skips, s skips, q ends. An answer that is one of
the choices, or its number, changes the file as the question says; other words are kept as a comment at its place. Either way the
question is removed, and it is said what happened. Where there are choices, a number, a yes or a no that is none of them is
refused. Of several answers, all are applied or none. Comments, order and layout of the file stay. Questions are not part of the
approval; the changes are.`,
  options: {
    answer: {
      type: "string",
      multiple: true,
      value: "N=TEXT",
      help: "answer question N, as it is numbered in the list, without a terminal; repeatable",
    },
  },
  examples: [
    ["nexus api questions shop", "ask the open questions one by one"],
    ["nexus api questions shop --json", `{"file","questions":[{"number","about","ask","evidence","choices"}]}`],
    ['nexus api questions shop --answer 1="yes, always" --answer 3=euro', "answer two of them in a script"],
  ],

  async run({ words: [given = ""], options, out, signal, surroundings }) {
    const loaded = await loadSound(given, out, surroundings.home);
    const open = new OpenQuestions(loaded);
    const answers = (options.answer ?? []).map((each) => parsedAnswer(each, open.questions.length));
    if (answers.length > 0) {
      for (const { number, text } of answers) open.answer(number, text);
      await open.save();
    } else if (out.isInteractive && !out.json) {
      await askAll(open, out, signal);
    }
    if (out.json) {
      const { answered, outcomes } = open;
      out.value({ file: loaded.path, answered, outcomes, questions: open.asJson() });
    }
    if (!out.json && answers.length === 0 && !out.isInteractive)
      for (const number of open.left()) open.show(number, out);
    if (!out.json) out.advice(open.summary());
  },
});

/** The questions of a file, numbered from 1; the numbers stay when some are answered. */
class OpenQuestions {
  readonly questions: readonly QuestionSpec[];
  readonly answered: number[] = [];
  /** What became of each answer. */
  readonly outcomes: { number: number; outcome: Outcome }[] = [];
  readonly #loaded: NamedApi;
  #text: string;
  /** As it is in the file. */
  #saved: string;
  #content: string;

  constructor(loaded: NamedApi) {
    this.#loaded = loaded;
    this.#content = contentOf(loaded.file);
    this.#text = loaded.text;
    this.#saved = loaded.text;
    this.questions = loaded.file?.questions ?? [];
  }

  left(): number[] {
    return this.questions.map((_, index) => index + 1).filter((number) => !this.answered.includes(number));
  }

  show(number: number, out: Output): void {
    const question = this.questions[number - 1];
    if (!question) return;
    const { about, ask, evidence, choices = [] } = question;
    out.line(visible(`${number}. ${about}: ${ask}`));
    for (const quote of quotedEvidence(evidence, this.#loaded.documents)) out.line(`   ${quote}`);
    for (const [index, choice] of choices.entries()) {
      out.line(visible(`   ${index + 1}) ${choice.answer}${choice.default === true ? " (usual)" : ""}`));
    }
  }

  /** Changes the text in memory; throws if the answer cannot be applied, or the file would have errors. */
  answer(number: number, text: string): void {
    const question = this.questions[number - 1];
    if (!question) return;
    if (this.answered.includes(number)) {
      throw wrongUsage(`Question ${number} has two answers`, "Nothing was changed. Answer each question once.");
    }
    const { choices = [], about } = question;
    const refused = refusedAnswer(question, text);
    if (refused !== undefined) {
      const list = choices.map((choice, index) => `${index + 1}) ${choice.answer}`).join(", ");
      const address = about === "upstream.base" ? ", or answer with another address: https://…" : "";
      throw wrongUsage(
        visible(`The answer to question ${number} cannot be applied: ${refused}`),
        visible(`Choose one of: ${list}${address}. For anything else, edit ${about} in ${this.#loaded.shown} by hand.`),
      );
    }
    const missing = missingPlace(this.#text, question, text);
    if (missing !== undefined) {
      throw wrongUsage(
        `The answer to question ${number} would change ${missing}, which is not in the file`,
        `Nothing was changed. Correct the paths of the question in ${this.#loaded.shown}, or remove it.`,
      );
    }
    const index = this.left().indexOf(number);
    const changed = withAnswer(this.#text, index, { question, answer: text });
    const { file, problems } = readToolFile(changed, this.#loaded.path);
    if (!file) {
      const first = problems.find(({ severity }) => severity === "error");
      throw new NexusError(
        "CONFIG_INVALID",
        `The answer to question ${number} would make the file invalid: ${first?.message}`,
        {
          phase: "config",
          hint: `Nothing was changed. Edit ${question.about} in ${this.#loaded.shown} by hand, and remove the question.`,
          mayHaveReached: false,
        },
      );
    }
    const isOpen = openAddresses(file).some(({ path }) => path === "upstream.base");
    if (question.about === "upstream.base" && isOpen) {
      const open = surePlaceholderIn(text);
      const why = open === undefined ? "is not an address" : `still has a part to fill in, ${visible(open)}`;
      throw wrongUsage(
        `The answer to question ${number} ${why}: ${visible(text)}`,
        `The API has no address yet. Answer with it: --answer ${number}=https://…`,
      );
    }
    this.#text = changed;
    this.answered.push(number);
    const content = contentOf(file);
    const isNote = valuesOf(question, text).length === 0;
    const outcome = content !== this.#content ? "changed" : isNote ? "noted" : "same";
    this.outcomes.push({ number, outcome });
    this.#content = content;
  }

  /** Throws if somebody else changed the file since it was read: their changes would be lost. */
  async save(): Promise<void> {
    const { path, shown } = this.#loaded;
    const now = findRegularText(path, MAX_FILE_BYTES);
    if (now !== undefined && now !== this.#saved) {
      throw new NexusError("CONFIG_INVALID", `${shown} was changed while its questions were answered`, {
        phase: "config",
        hint: "The last answer was not written. Run the command again: it reads the file as it is now.",
        mayHaveReached: false,
      });
    }
    await writeAtomic(path, this.#text, 0o644);
    this.#saved = this.#text;
  }

  asJson(): object[] {
    return this.left().map((number) => {
      const { about, ask, evidence, choices = [] } = this.questions[number - 1] ?? { about: "", ask: "", evidence: [] };
      const quotes = quotedEvidence(evidence, this.#loaded.documents);
      return {
        number,
        about,
        ask,
        evidence: evidence.map((place, index) => ({ place, quote: quotes[index]?.slice(place.length + 2) })),
        choices,
      };
    });
  }

  summary(): string {
    const { again } = this.#loaded;
    const left = this.left().length;
    if (this.answered.length === 0)
      return left === 0 ? "There are no open questions." : `${pluralize(left, "open question")}.`;
    const rest = left === 0 ? "None is left." : `${left} left.`;
    const answered = `${pluralize(this.answered.length, "question")} answered. ${rest}`;
    const numbersOf = (wanted: Outcome) =>
      this.outcomes.flatMap(({ number, outcome }) => (outcome === wanted ? [number] : [])).join(", ");
    const [noted, same] = [numbersOf("noted"), numbersOf("same")];
    const comments = noted === "" ? "" : ` The file has the answer to ${noted} as a comment; nothing else changed.`;
    const kept =
      same === "" ? "" : ` The file already says what ${same} was answered with; only the question was removed.`;
    return `${answered}${comments}${kept} Check the file: nexus api check ${again}`;
  }
}

/** `noted`: kept as a comment. `same`: the file said so already. */
type Outcome = "changed" | "noted" | "same";

/** All that a file says, except for its questions. */
function contentOf(file: ToolFile | undefined): string {
  return JSON.stringify({ ...file, questions: undefined });
}

async function askAll(open: OpenQuestions, out: Output, signal: AbortSignal): Promise<void> {
  const { askFor } = await import("../output/terminal-questions.ts");
  const left = open.left();
  let shown: number | undefined;
  for (let number = left.shift(); number !== undefined; number = left.shift()) {
    const question = open.questions[number - 1];
    if (!question) continue;
    if (number !== shown) open.show(number, out);
    shown = number;
    const usual = findChoice(question, "");
    const text = usual ? "Answer (s skips, q ends)" : "Answer (empty skips, q ends)";
    const typed = (await askFor(out, { text, fallback: usual?.answer, signal })).trim();
    if (/^q(?:uit)?$/i.test(typed)) return;
    if (typed === "" || /^s(?:kip)?$/i.test(typed)) continue;
    try {
      open.answer(number, typed);
    } catch (error) {
      if (!(error instanceof NexusError)) throw error;
      // The question stays open, and the same person can answer it again.
      out.line(visible(`   ${error.message}. ${error.details.hint ?? ""}`.trimEnd()));
      left.unshift(number);
      continue;
    }
    // Each answer is kept, also if the next question is not answered.
    await open.save();
  }
}

function parsedAnswer(given: string, count: number): { number: number; text: string } {
  const [, digits = "", text = ""] = /^(\d{1,6})=([^]*)$/.exec(given) ?? [];
  const number = Number(digits);
  if (digits === "" || text.trim() === "") {
    throw wrongUsage(
      `--answer ${given} is not a number and an answer`,
      'Write the number of the question: --answer 2="yes".',
    );
  }
  if (number < 1 || number > count) {
    throw wrongUsage(
      `There is no question ${number}`,
      count === 0 ? "The file has no questions." : `They are numbered from 1 to ${count}.`,
    );
  }
  return { number, text };
}
