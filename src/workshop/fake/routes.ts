import type { ToolFile, ToolSpec } from "../file/tool-file.ts";

/** What an address means: a tool, and the fields that stand in the path. */
export interface Route {
  tool: string;
  spec: ToolSpec;
  /** Texts by field, decoded. */
  path: Record<string, string>;
}

interface Pattern {
  tool: string;
  spec: ToolSpec;
  expression: RegExp;
  fields: string[];
}

/** Finds the tool that a method and a path belong to. */
export class Routes {
  readonly #patterns: readonly Pattern[];

  constructor(file: ToolFile) {
    const base = new URL(file.upstream.base).pathname;
    this.#patterns = Object.entries(file.tools).map(([tool, spec]) => patternOf(tool, spec, base));
  }

  /** Nothing where no tool has the path; the methods that it has, where it has only others. */
  find(method: string, pathname: string): Route | { methods: string[] } | undefined {
    const others: string[] = [];
    for (const { tool, spec, expression, fields } of this.#patterns) {
      const values = valuesIn(expression, pathname);
      if (!values) continue;
      if (spec.request.method !== method) others.push(spec.request.method);
      else return { tool, spec, path: Object.fromEntries(fields.map((field, index) => [field, values[index] ?? ""])) };
    }
    return others.length === 0 ? undefined : { methods: others };
  }
}

function patternOf(tool: string, spec: ToolSpec, base: string): Pattern {
  const fields: string[] = [];
  const parts = spec.request.path.split(/\{([^{}]*)\}/);
  // Texts and fields take turns.
  const source = parts.map((part, index) => {
    if (index % 2 === 0) return escaped(part);
    fields.push(part.trim());
    return "([^/]+)";
  });
  return { tool, spec, expression: new RegExp(`^${escaped(base)}${source.join("")}$`), fields };
}

function valuesIn(expression: RegExp, pathname: string): string[] | undefined {
  try {
    return expression.exec(pathname)?.slice(1).map(decodeURIComponent);
  } catch {
    return undefined; // a percent sign that begins nothing
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
