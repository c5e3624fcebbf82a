import { parsePattern, type Edge } from "./parse-pattern.ts";
import { compilePattern, type Program, type PatternStep } from "./pattern-program.ts";
import type { StepBudget } from "./step-budget.ts";

/** A compiled pattern of a tool file. */
interface LinearPattern {
  /** Whether it matches anywhere in the text; throws StepsExceeded if the budget is too small. */
  test(text: string, budget: StepBudget): boolean;
}

/**
 * Compiles a pattern whose tests take linear time. JavaScript's own engine backtracks, which can take forever for some
 * patterns and texts, and cannot be stopped. Throws UnusablePattern.
 */
export function linearPattern(source: string): LinearPattern {
  const scanner = new Scanner(compilePattern(parsePattern(source)));
  return { test: (text, budget) => scanner.finds(text, budget) };
}

const MAX_TURN = 2 ** 30;

/**
 * Runs a program over a text once, with all its states in parallel: a position visits each step at most once. Its
 * arrays are reused for each test.
 */
class Scanner {
  readonly #steps: readonly PatternStep[];
  readonly #start: number;
  readonly #isBackward: boolean;
  /** Whether it begins with `^`, so that it is tried only at the start. */
  readonly #isAnchored: boolean;
  /** The scanners of lookarounds, by the index of their step. */
  readonly #looks = new Map<number, Scanner>();
  /** Steps to visit at this position, and visited steps that wait for a character. */
  readonly #pending: Int32Array;
  readonly #readers: Int32Array;
  #reading = 0;
  /** The turn of the last visit of each step; a turn is one position of one test. */
  readonly #visited: Int32Array;
  #turn = 0;
  /** For a lookaround: the positions where it matches in this text. Computed on first use. */
  #places: Uint8Array | undefined;

  constructor({ steps, start, isBackward }: Program) {
    this.#steps = steps;
    this.#start = start;
    this.#isBackward = isBackward;
    const begin = steps[start];
    this.#isAnchored = !isBackward && begin?.kind === "edge" && begin.edge === "start";
    for (const [index, step] of steps.entries()) {
      if (step.kind === "look") this.#looks.set(index, new Scanner(step.program));
    }
    this.#pending = new Int32Array(3 * steps.length + 1);
    this.#readers = new Int32Array(steps.length);
    this.#visited = new Int32Array(steps.length);
  }

  /** Whether the program matches anywhere in the text. */
  finds(text: string, budget: StepBudget): boolean {
    this.#prepare();
    return this.#scan(text, budget, undefined);
  }

  #prepare(): void {
    this.#places = undefined;
    if (this.#turn > MAX_TURN) {
      this.#visited.fill(0);
      this.#turn = 0;
    }
    for (const look of this.#looks.values()) look.#prepare();
  }

  #matchesAt(position: number, text: string, budget: StepBudget): boolean {
    if (!this.#places) {
      const places = new Uint8Array(text.length + 1);
      this.#scan(text, budget, places);
      this.#places = places;
    }
    return this.#places[position] === 1;
  }

  /** Stops at the first match; with `places`, marks all positions that match. */
  #scan(text: string, budget: StepBudget, places: Uint8Array | undefined): boolean {
    const [first, end] = this.#isBackward ? [text.length, 0] : [0, text.length];
    let position = first;
    let waiting = 0;
    for (;;) {
      // A match may begin anywhere.
      if (position === first || !this.#isAnchored) this.#pending[waiting++] = this.#start;
      if (waiting === 0) return false;
      const accepts = this.#visit(waiting, position, text, budget);
      if (accepts && !places) return true;
      if (accepts && places) places[position] = 1;
      if (position === end) return false;
      const character = this.#isBackward ? codePointBefore(text, position) : (text.codePointAt(position) ?? 0);
      const size = character > 0xffff ? 2 : 1;
      position += this.#isBackward ? -size : size;
      waiting = this.#read(character);
    }
  }

  /** Visits all steps that can be reached without reading a character; returns whether one accepts. */
  #visit(count: number, position: number, text: string, budget: StepBudget): boolean {
    const pending = this.#pending;
    const visited = this.#visited;
    const turn = ++this.#turn;
    let accepts = false;
    let left = count;
    let visits = 0;
    this.#reading = 0;
    while (left > 0) {
      const index = pending[--left] ?? 0;
      const step = this.#steps[index];
      if (!step || visited[index] === turn) continue;
      visited[index] = turn;
      visits++;
      switch (step.kind) {
        case "set":
          this.#readers[this.#reading++] = index;
          break;
        case "split":
          pending[left++] = step.other;
          pending[left++] = step.next;
          break;
        case "edge":
          if (isEdge(step.edge, position, text)) pending[left++] = step.next;
          break;
        case "look": {
          const look = this.#looks.get(index);
          if (look && look.#matchesAt(position, text, budget) !== step.isNegative) pending[left++] = step.next;
          break;
        }
        case "accept":
          accepts = true;
          break;
      }
    }
    budget.spend(visits);
    return accepts;
  }

  /** Makes the successors of a character pending; returns their number. */
  #read(character: number): number {
    let count = 0;
    for (let index = 0; index < this.#reading; index++) {
      const step = this.#steps[this.#readers[index] ?? 0];
      if (step?.kind === "set" && step.set.has(character)) this.#pending[count++] = step.next;
    }
    return count;
  }
}

function isEdge(edge: Edge, position: number, text: string): boolean {
  switch (edge) {
    case "start":
      return position === 0;
    case "end":
      return position === text.length;
    case "boundary":
      return isBoundary(position, text);
    case "noBoundary":
      return !isBoundary(position, text);
  }
}

function isBoundary(position: number, text: string): boolean {
  return isWordAt(position - 1, text) !== isWordAt(position, text);
}

function isWordAt(position: number, text: string): boolean {
  return /\w/.test(text.charAt(position));
}

function codePointBefore(text: string, position: number): number {
  const pair = position > 1 ? (text.codePointAt(position - 2) ?? 0) : 0;
  return pair > 0xffff ? pair : text.charCodeAt(position - 1);
}
