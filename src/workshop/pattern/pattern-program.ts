import type { CharacterSet } from "./character-set.ts";
import { UnusablePattern, type Edge, type PatternNode } from "./parse-pattern.ts";

/** One step of a program; numbers are indexes of other steps. */
export type PatternStep =
  | { kind: "set"; set: CharacterSet; next: number }
  | { kind: "split"; next: number; other: number }
  | { kind: "edge"; edge: Edge; next: number }
  | { kind: "look"; program: Program; isNegative: boolean; next: number }
  | { kind: "accept" };

/** A pattern as a nondeterministic automaton. */
export interface Program {
  steps: PatternStep[];
  start: number;
  /** Reads the text from its end, for lookaheads. */
  isBackward: boolean;
}

/** Counted repetitions are expanded; a text with a higher limit should use `maxLength`. */
const MAX_STEPS = 10_000;

export function compilePattern(node: PatternNode): Program {
  return new Compiler({ left: MAX_STEPS }, false).compile(node);
}

class Compiler {
  readonly #room: { left: number };
  readonly #isBackward: boolean;
  readonly #steps: PatternStep[] = [];

  constructor(room: { left: number }, isBackward: boolean) {
    this.#room = room;
    this.#isBackward = isBackward;
  }

  compile(node: PatternNode): Program {
    const start = this.#before(this.#add({ kind: "accept" }), node);
    return { steps: this.#steps, start, isBackward: this.#isBackward };
  }

  /** Adds the steps of a node that lead to the step `next`; returns the first of them. */
  #before(next: number, node: PatternNode): number {
    switch (node.kind) {
      case "set":
        return this.#add({ kind: "set", set: node.set, next });
      case "edge":
        return this.#add({ kind: "edge", edge: node.edge, next });
      case "look": {
        // A lookahead begins to match where its reverse ends.
        const program = new Compiler(this.#room, node.isAhead).compile(node.part);
        return this.#add({ kind: "look", program, isNegative: node.isNegative, next });
      }
      case "sequence": {
        const parts = this.#isBackward ? node.parts : node.parts.toReversed();
        return parts.reduce((after, part) => this.#before(after, part), next);
      }
      case "choice":
        return node.options
          .map((option) => this.#before(next, option))
          .reduce((other, first) => this.#add({ kind: "split", next: first, other }));
      case "repeat":
        return this.#repeat(next, node);
    }
  }

  #repeat(end: number, { part, min, max }: Extract<PatternNode, { kind: "repeat" }>): number {
    let next = end;
    if (max === Infinity) {
      const loop = { kind: "split" as const, next: end, other: end };
      loop.next = this.#before(this.#add(loop), part);
      // Entering the loop is a step of its own, to distinguish it from another iteration.
      next = this.#add({ ...loop });
    } else {
      for (let count = min; count < max; count++) {
        next = this.#add({ kind: "split", next: this.#before(next, part), other: end });
      }
    }
    for (let count = 0; count < min; count++) {
      const first = this.#before(next, part);
      // An empty body, repeated.
      if (first === next) break;
      next = first;
    }
    return next;
  }

  #add(step: PatternStep): number {
    if (--this.#room.left < 0) {
      throw new UnusablePattern(`is too large: written out, its repetitions have more than ${MAX_STEPS} steps`);
    }
    return this.#steps.push(step) - 1;
  }
}
