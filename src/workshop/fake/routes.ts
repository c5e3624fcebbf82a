import { filledPlaces } from "../file/model/filled-template.ts";
import { requestTools } from "../file/model/request-tools.ts";
import { fieldsInName } from "../file/model/secret-names.ts";
import type { ToolFile, RequestToolSpec } from "../file/model/tool-file.ts";

/** The tool of an address, and the fields in its path. */
export interface FakeRoute {
  tool: string;
  spec: RequestToolSpec;
  /** Texts by field, decoded. */
  path: Record<string, string>;
}

interface Template {
  tool: string;
  spec: RequestToolSpec;
  /** The path with its `{field}`s. */
  path: string;
  fields: string[];
}

/** Finds the tool of a method and a path. */
export class Routes {
  readonly #templates: readonly Template[];

  constructor(file: ToolFile) {
    const base = new URL(file.upstream.base).pathname;
    this.#templates = requestTools(file).map(([tool, spec]) => {
      const { path } = spec.request;
      return { tool, spec, path: base + path, fields: fieldsInName(path).map((field) => field.trim()) };
    });
  }

  /** Undefined if no tool has the path; the allowed methods if it has only others. */
  find(method: string, pathname: string): FakeRoute | { methods: string[] } | undefined {
    const others: string[] = [];
    for (const { tool, spec, path, fields } of this.#templates) {
      const values = valuesIn(path, pathname);
      if (!values) continue;
      if (spec.request.method !== method) others.push(spec.request.method);
      else return { tool, spec, path: Object.fromEntries(fields.map((field, index) => [field, values[index] ?? ""])) };
    }
    return others.length === 0 ? undefined : { methods: others };
  }
}

function valuesIn(path: string, pathname: string): string[] | undefined {
  const values = filledPlaces(path, pathname);
  if (!values || values.some((value) => value.includes("/"))) return undefined;
  try {
    return values.map(decodeURIComponent);
  } catch {
    return undefined; // an invalid percent encoding
  }
}
