import { StepBudget } from "../../pattern/step-budget.ts";

/** Where an answer is not as the file says. */
export interface Deviation {
  /** A field, `rooms[0].adults`; or, for what the file does not know, the record and the way from its element: `rooms[0]/extra/@id`. */
  path: string;
  problem: string;
  /** What stood there. */
  received?: string;
}

const MOST = 200;

/** What happens to members of an answer that its type does not name: they are in the result, left out, or reported as deviations. */
export type Unknown = "keep" | "ignore" | "report";

/** Collects what is found in one document. A document that is altogether different is not told item by item. */
export class Deviations {
  readonly unknown: Unknown;
  /** For all patterns that the document is checked against. */
  readonly patternBudget = new StepBudget();
  readonly #found: Deviation[] = [];
  #more = 0;

  constructor(unknown: Unknown = "report") {
    this.unknown = unknown;
  }

  add(path: string, problem: string, received?: string): void {
    if (this.#found.length >= MOST) {
      this.#more++;
      return;
    }
    this.#found.push({ path, problem, ...(received === undefined ? {} : { received }) });
  }

  all(): Deviation[] {
    return this.#more === 0 ? this.#found : [...this.#found, { path: "", problem: `${this.#more} more deviations` }];
  }
}
