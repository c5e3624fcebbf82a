import { keyValue } from "../arguments/key-value.ts";

interface Given {
  text: string;
  key: string;
  value: string;
  /** The question that used it. */
  takenBy?: string;
}

/** Answers from `--answer`. Each answers one question and is not used for another one. */
export class GivenAnswers {
  readonly #all: readonly Given[];
  #given: Given[];
  /** Used and valid. */
  readonly #fit = new Set<string>();

  constructor(texts: readonly string[]) {
    this.#all = texts.map((text) => ({ text, ...keyValue(text, "--answer") }));
    this.#given = this.#all.map((given) => ({ ...given }));
  }

  /** A repeated call asks its questions again. */
  renew(): void {
    this.#given = this.#all.map((given) => ({ ...given }));
  }

  /** The valid ones, as given. */
  fit(): string[] {
    return [...this.#fit];
  }

  /** The first answer for this name of this question; `question.name=…` before `name=…`. */
  take(question: string, name: string): string | undefined {
    return this.#take(question, name, 1)[0];
  }

  takeAll(question: string, name: string): string[] {
    return this.#take(question, name, Infinity);
  }

  /** The unused ones, as given. */
  unused(): string[] {
    return this.#given.filter(({ takenBy }) => takenBy === undefined).map(({ text }) => text);
  }

  /** Those that can be used again if these questions are repeated. */
  goodFor(questions: readonly string[]): string[] {
    return this.#given
      .filter(({ takenBy }) => takenBy === undefined || questions.includes(takenBy))
      .map(({ text }) => text);
  }

  /** An invalid answer is not kept. */
  drop(question: string, name: string): void {
    const isWrong = ({ key, takenBy }: Given) =>
      takenBy === question && (key === name || key === `${question}.${name}`);
    for (const given of this.#given) if (isWrong(given)) this.#fit.delete(given.text);
    this.#given = this.#given.filter((given) => !isWrong(given));
  }

  /** A question is new, even if one of the same name was answered in an earlier round. */
  begin(question: string): void {
    this.#given = this.#given.filter(({ takenBy }) => takenBy !== question);
  }

  #take(question: string, name: string, most: number): string[] {
    const free = this.#given.filter(({ takenBy }) => takenBy === undefined);
    const exact = free.filter(({ key }) => key === `${question}.${name}`);
    const plain = free.filter(({ key }) => key === name);
    const taken = (exact.length > 0 ? exact : plain).slice(0, most);
    for (const given of taken) {
      given.takenBy = question;
      this.#fit.add(given.text);
    }
    return taken.map(({ value }) => value);
  }
}
