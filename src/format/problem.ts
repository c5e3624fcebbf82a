import { memberAt, type Place, type SourceNode } from "../source/source-node.ts";

/** A problem of a file. */
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
  readonly #found: { problem: Problem; path: Path }[] = [];
  readonly #known = new Set<string>();
  #errors = 0;

  constructor(root: SourceNode) {
    this.#root = root;
  }

  error(path: Path, message: string, hint?: string): void {
    this.#add(path, { ...this.#placeOf(path), message, hint, severity: "error" });
  }

  warning(path: Path, message: string, hint?: string): void {
    this.#add(path, { ...this.#placeOf(path), message, hint, severity: "warning" });
  }

  /** About the key instead of its value. */
  keyError(path: Path, message: string, hint?: string): void {
    const [key] = path.slice(-1);
    const parent = this.#nearest(path.slice(0, -1));
    const member = parent.node.kind === "object" && parent.node.members.find((candidate) => candidate.key === key);
    const place = member ? member.place : parent.place;
    this.#add(path, { ...place, message, hint, severity: "error" });
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
    return this.#found.map(({ problem }) => problem).toSorted((a, b) => a.line - b.line || a.column - b.column);
  }

  /** The errors with the paths of what they are about, in the order in which they were found. */
  errors(): { path: Path; message: string; hint?: string }[] {
    return this.#found.flatMap(({ problem: { message, hint, severity }, path }) =>
      severity === "error" ? [{ path, message, ...(hint ? { hint } : {}) }] : [],
    );
  }

  #add(
    path: Path,
    { line, column, message, hint, severity }: Omit<Problem, "path" | "hint"> & { hint: string | undefined },
  ): void {
    const problem: Problem = { line, column, path: pathText(path), message, ...(hint ? { hint } : {}), severity };
    const key = `${problem.path}\n${message}`;
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.#found.push({ problem, path });
    if (severity === "error" && ++this.#errors > MOST_ERRORS) this.#end();
  }

  #end(): never {
    const { line, column } = this.#found.pop()?.problem ?? { line: 1, column: 1 };
    const message = `the rest was not checked: there are more than ${MOST_ERRORS} errors`;
    this.#found.push({ problem: { line, column, path: "", message, severity: "error" }, path: [] });
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

/** A problem as a sentence. Messages that say what a value must be, is or has do not name it. */
export function problemSentence(path: string, message: string): string {
  if (path === "") return message;
  return /^(must|is|has|and|cannot) /.test(message) ? `"${path}" ${message}` : `${path}: ${message}`;
}

/** `types.Room.rules[0].that` */
export function pathText(path: Path): string {
  return path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : `${index === 0 ? "" : "."}${step}`))
    .join("");
}
