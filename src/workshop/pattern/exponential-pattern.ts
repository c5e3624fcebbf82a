import type { CharacterSet } from "./character-set.ts";
import type { PatternNode } from "./parse-pattern.ts";
import { compilePattern, type Program } from "./pattern-program.ts";

/** Larger patterns are not analysed. */
const MAX_STATES = 80;
const MAX_PAIRS = 50_000;
/** A higher count is treated as unlimited. */
const MANY = 10;
const OUTSIDE_ASCII = ["é", "ß", "я", "日", "€", "\u00a0", "\u2028", "😀"].map((text) => text.codePointAt(0) ?? 0);
const PROBES = [...Array.from({ length: 128 }, (_, code) => code), ...OUTSIDE_ASCII];

/**
 * Whether a backtracking engine can take exponential time: if a loop can match the same text in two ways, as in (a+)+
 * and (a|a)*, each iteration doubles the ways. Lookarounds and edges are assumed to match always.
 */
export function isExponential(node: PatternNode): boolean {
  return readsTwice(compilePattern(simplified(node)));
}

function readsTwice(program: Program): boolean {
  const { steps } = program;
  if (steps.some((step) => step.kind === "look" && readsTwice(step.program))) return true;
  const states = steps.flatMap(({ kind }, index) => (kind === "set" ? [index] : []));
  if (states.length > MAX_STATES) return false;
  const loops = new Loops(program, states);
  return states.some((state) => loops.isReadTwice(state));
}

/** With small counts or none: only repetition matters. */
function simplified(node: PatternNode): PatternNode {
  switch (node.kind) {
    case "set":
    case "edge":
      return node;
    case "look":
      return { ...node, part: simplified(node.part) };
    case "sequence":
      return { ...node, parts: node.parts.map(simplified) };
    case "choice":
      return { ...node, options: node.options.map(simplified) };
    case "repeat": {
      const { min, max } = node;
      const part = simplified(node.part);
      if (min === max) return { kind: "repeat", part, min: Math.min(min, 2), max: Math.min(max, 2) };
      return { kind: "repeat", part, min: Math.min(min, 1), max: max > MANY ? Infinity : Math.min(max, 2) };
    }
  }
}

class Loops {
  readonly #sets: ReadonlyMap<number, CharacterSet>;
  /** The successors of each state, and the number of ways; 2 means several. */
  readonly #follow: ReadonlyMap<number, ReadonlyMap<number, number>>;
  readonly #shared = new Map<string, boolean>();
  #left = MAX_PAIRS;

  constructor(program: Program, states: readonly number[]) {
    const setOf = (state: number) => {
      const step = program.steps[state];
      return step?.kind === "set" ? [[state, step.set] as const] : [];
    };
    this.#sets = new Map(states.flatMap(setOf));
    this.#follow = new Map(states.map((state) => [state, followers(program, state)]));
  }

  /** Whether two different ways lead from a state back to itself with the same text. */
  isReadTwice(state: number): boolean {
    const seen = new Set<string>();
    const pending: [number, number, boolean][] = [[state, state, false]];
    for (let pair = pending.pop(); pair && this.#left > 0; pair = pending.pop()) {
      for (const next of this.#after(...pair)) {
        const [one, two, differs] = next;
        if (one === state && two === state && differs) return true;
        const key = next.join();
        if (!seen.has(key)) pending.push(next);
        seen.add(key);
      }
    }
    return false;
  }

  *#after(one: number, two: number, differed: boolean): Generator<[number, number, boolean]> {
    if (!this.#canReadTheSame(one, two)) return;
    for (const [first, ways] of this.#follow.get(one) ?? []) {
      for (const [second] of this.#follow.get(two) ?? []) {
        this.#left--;
        yield [first, second, differed || first !== second || (one === two && ways > 1)];
      }
    }
  }

  #canReadTheSame(one: number, two: number): boolean {
    const [a, b] = [this.#sets.get(one), this.#sets.get(two)];
    if (!a || !b || a === b) return a !== undefined && a === b;
    const key = `${Math.min(one, two)} ${Math.max(one, two)}`;
    const known = this.#shared.get(key) ?? PROBES.some((code) => a.has(code) && b.has(code));
    this.#shared.set(key, known);
    return known;
  }
}

function followers({ steps }: Program, state: number): Map<number, number> {
  const found = new Map<number, number>();
  const onTheWay = new Set<number>();
  let left = 10_000;
  const walk = (index: number): void => {
    const step = steps[index];
    if (!step || onTheWay.has(index) || left-- <= 0) return;
    if (step.kind === "set") found.set(index, Math.min(2, (found.get(index) ?? 0) + 1));
    if (step.kind === "set" || step.kind === "accept") return;
    onTheWay.add(index);
    walk(step.next);
    if (step.kind === "split") walk(step.other);
    onTheWay.delete(index);
  };
  const start = steps[state];
  if (start?.kind === "set") walk(start.next);
  return found;
}
