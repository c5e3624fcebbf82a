import { keyValue } from "./key-value.ts";

interface Given {
  text: string;
  key: string;
  value: string;
  /** The question that took it. */
  takenBy?: string;
}

/** Answers that were given beforehand with `--answer`. Each answers one question: none is used for another without being asked. */
export class GivenAnswers {
  #given: Given[];

  constructor(texts: readonly string[]) {
    this.#given = texts.map((text) => ({ text, ...keyValue(text, "--answer") }));
  }

  /** The first that is meant for this name of this question; `question.name=…` before `name=…`. */
  take(question: string, name: string): string | undefined {
    return this.#take(question, name, 1)[0];
  }

  takeAll(question: string, name: string): string[] {
    return this.#take(question, name, Infinity);
  }

  /** As they were given: those that nobody has taken yet. */
  unused(): string[] {
    return this.#given.filter(({ takenBy }) => takenBy === undefined).map(({ text }) => text);
  }

  /** Those that are still good if these questions are asked again. */
  goodFor(questions: readonly string[]): string[] {
    return this.#given
      .filter(({ takenBy }) => takenBy === undefined || questions.includes(takenBy))
      .map(({ text }) => text);
  }

  /** An answer that does not fit is not kept. */
  drop(question: string, name: string): void {
    this.#given = this.#given.filter(
      ({ key, takenBy }) => takenBy !== question || (key !== name && key !== `${question}.${name}`),
    );
  }

  /** A question is new, whatever one of the same name took in an earlier round. */
  begin(question: string): void {
    this.#given = this.#given.filter(({ takenBy }) => takenBy !== question);
  }

  #take(question: string, name: string, most: number): string[] {
    const free = this.#given.filter(({ takenBy }) => takenBy === undefined);
    const exact = free.filter(({ key }) => key === `${question}.${name}`);
    const plain = free.filter(({ key }) => key === name);
    const taken = (exact.length > 0 ? exact : plain).slice(0, most);
    for (const given of taken) given.takenBy = question;
    return taken.map(({ value }) => value);
  }
}
