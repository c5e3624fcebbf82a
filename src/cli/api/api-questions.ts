import { NexusError } from "../../errors/nexus-error.ts";
import { writeAtomic } from "../../files/atomic-write.ts";
import { visible } from "../../text/visible.ts";
import { findChoice, withAnswer } from "../../workshop/file/answer-question.ts";
import type { QuestionSpec, ToolFile } from "../../workshop/file/model/tool-file.ts";
import { readToolFile } from "../../workshop/file/read-tool-file.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import { pluralize } from "../output/amounts.ts";
import type { Output } from "../output/output.ts";
import { loadSound, type NamedApi } from "./loaded.ts";
import { quotedEvidence } from "./quoted-evidence.ts";

/** nexus api questions shop --answer 2=yes */
export const apiQuestions = defineCommand({
  usage: "nexus api questions <api> [--answer N=TEXT]…",
  description: `
Lists what a tool file leaves open, each question with the place that it is about and what the documents say there. On a
terminal it asks them one by one: an empty answer takes the usual choice or skips, s skips, q ends. An answer that is one of
the choices changes the file as the question says; any other answer is kept as a comment at its place. Either way the question
is removed. Comments, order and layout of the file stay. Questions are not part of the approval; the changes are.`,
  words: { min: 1, max: 1 },
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
    if (out.json) out.value({ file: loaded.path, answered: open.answered, questions: open.asJson() });
    else if (answers.length === 0 && !out.isInteractive) for (const number of open.left()) open.show(number, out);
    if (!out.json) out.line(open.summary());
  },
});

/** The questions of a file, numbered from 1; the numbers stay when some are answered. */
class OpenQuestions {
  readonly questions: readonly QuestionSpec[];
  readonly answered: number[] = [];
  /** Those whose answers changed nothing but a comment. */
  readonly #noted: number[] = [];
  readonly #loaded: NamedApi;
  #text: string;
  #content: string;

  constructor(loaded: NamedApi) {
    this.#loaded = loaded;
    this.#content = contentOf(loaded.file);
    this.#text = loaded.text;
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

  /** Changes the text in memory; throws if the file would have errors. */
  answer(number: number, text: string): void {
    const question = this.questions[number - 1];
    if (!question || this.answered.includes(number)) return;
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
    const { base } = file.upstream;
    const isUnknown = URL.canParse(base) && new URL(base).hostname.endsWith(".invalid");
    if (question.about === "upstream.base" && isUnknown) {
      throw wrongUsage(
        `The answer to question ${number} is not an address: ${visible(text)}`,
        `The API has no address yet. Answer with it: --answer ${number}=https://…`,
      );
    }
    this.#text = changed;
    this.answered.push(number);
    const content = contentOf(file);
    if (content === this.#content) this.#noted.push(number);
    this.#content = content;
  }

  async save(): Promise<void> {
    await writeAtomic(this.#loaded.path, this.#text, 0o644);
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
    const numbers = this.#noted.join(", ");
    const noted = numbers === "" ? "" : ` The file has the answer to ${numbers} as a comment; nothing else changed.`;
    return `${answered}${noted} Check the file: nexus api check ${again}`;
  }
}

/** All that a file says, except for its questions. */
function contentOf(file: ToolFile | undefined): string {
  return JSON.stringify({ ...file, questions: undefined });
}

async function askAll(open: OpenQuestions, out: Output, signal: AbortSignal): Promise<void> {
  const { askFor } = await import("../output/terminal-questions.ts");
  for (const number of open.left()) {
    const question = open.questions[number - 1];
    if (!question) continue;
    open.show(number, out);
    const usual = findChoice(question, "");
    const text = usual ? "Answer (s skips, q ends)" : "Answer (empty skips, q ends)";
    const typed = (await askFor(out, { text, fallback: usual?.answer, signal })).trim();
    if (/^q(?:uit)?$/i.test(typed)) return;
    if (typed === "" || /^s(?:kip)?$/i.test(typed)) continue;
    open.answer(number, typed);
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
