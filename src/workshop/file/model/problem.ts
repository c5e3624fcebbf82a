import { memberAt, type Place, type SourceNode } from "../../../source/source-node.ts";

/** A problem of a tool file. */
export interface Problem extends Place {
  /** Where in the file: `types.Room.rules[0].that`. */
  path: string;
  message: string;
  hint?: string;
  /** A file with errors is not used; warnings are for the reviewer. */
  severity: "error" | "warning";
}

/** The rest of a file with so many errors is not read: each may be compared with all names of the file. */
const MOST_ERRORS = 1_000;

/** Ends the reading of a file. Its problems are those that were found. */
export class TooManyErrors extends Error {
  override readonly name = "TooManyErrors";
}

export type Path = readonly (string | number)[];

/** The problems of one file with their places. */
export class Problems {
  readonly #root: SourceNode;
  readonly #found: Problem[] = [];
  readonly #known = new Set<string>();
  #errors = 0;

  constructor(root: SourceNode) {
    this.#root = root;
  }

  error(path: Path, message: string, hint?: string): void {
    this.#add({ ...this.#placeOf(path), path: written(path), message, ...(hint ? { hint } : {}), severity: "error" });
  }

  warning(path: Path, message: string, hint?: string): void {
    this.#add({ ...this.#placeOf(path), path: written(path), message, ...(hint ? { hint } : {}), severity: "warning" });
  }

  /** About the key instead of its value. */
  keyError(path: Path, message: string, hint?: string): void {
    const [key] = path.slice(-1);
    const parent = this.#nearest(path.slice(0, -1));
    const member = parent.node.kind === "object" && parent.node.members.find((candidate) => candidate.key === key);
    const place = member ? member.place : parent.place;
    this.#add({ ...place, path: written(path), message, ...(hint ? { hint } : {}), severity: "error" });
  }

  /** Whether a place is written in the file. What is inside of a short form counts as written. */
  hasPlace(path: Path): boolean {
    let node = this.#root;
    for (const step of path) {
      if (node.kind === "scalar") return true;
      const next = memberAt(node, step);
      if (!next) return false;
      ({ node } = next);
    }
    return true;
  }

  get hasErrors(): boolean {
    return this.#errors > 0;
  }

  /** In the order of the file. */
  all(): Problem[] {
    return this.#found.toSorted((a, b) => a.line - b.line || a.column - b.column);
  }

  #add(problem: Problem): void {
    const key = `${problem.path}\n${problem.message}`;
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.#found.push(problem);
    if (problem.severity === "error" && ++this.#errors > MOST_ERRORS) this.#end();
  }

  #end(): never {
    const last = this.#found.pop();
    const message = `the rest was not checked: there are more than ${MOST_ERRORS} errors`;
    this.#found.push({ line: last?.line ?? 1, column: last?.column ?? 1, path: "", message, severity: "error" });
    throw new TooManyErrors(message);
  }

  #placeOf(path: Path): Place {
    const { node, place } = this.#nearest(path);
    const { line, column } = node.kind === "scalar" ? node.place : place;
    return { line, column };
  }

  /** The node at a path or its nearest existing parent; `place` is that of its key. */
  #nearest(path: Path): { node: SourceNode; place: Place } {
    let node = this.#root;
    let place: Place = node.place;
    for (const step of path) {
      const next = memberAt(node, step);
      if (!next) break;
      ({ node, place } = next);
    }
    return { node, place };
  }
}

function written(path: Path): string {
  return path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : `${index === 0 ? "" : "."}${step}`))
    .join("");
}
