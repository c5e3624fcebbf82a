import { StepBudget } from "../../pattern/step-budget.ts";

/** A part of an answer that does not match the file. */
export interface Deviation {
  /** A field, `rooms[0].adults`; for an unknown part, the record and the path from its element: `rooms[0]/extra/@id`. */
  path: string;
  problem: string;
  /** The received text. */
  received?: string;
}

const MOST = 200;

/** What happens to unknown members of an answer: kept in the result, left out, or reported as deviations. */
export type Unknown = "keep" | "ignore" | "report";

/** Collects the deviations of one document. For a completely different document, the number is limited. */
export class Deviations {
  readonly unknown: Unknown;
  /** For all patterns of the document. */
  readonly patternBudget = new StepBudget();
  readonly #found: Deviation[] = [];
  #more = 0;

  constructor(unknown: Unknown = "report") {
    this.unknown = unknown;
  }

  /** Further ones are only counted, so their words need not be made. */
  get isFull(): boolean {
    return this.#found.length >= MOST;
  }

  add(path: string, problem: string, received?: string): void {
    if (this.isFull) {
      this.#more++;
      return;
    }
    this.#found.push({ path, problem, ...(received === undefined ? {} : { received }) });
  }

  all(): Deviation[] {
    return this.#more === 0 ? this.#found : [...this.#found, { path: "", problem: `${this.#more} more deviations` }];
  }
}
