import { filledPlaces } from "../file/model/filled-template.ts";
import { requestTools } from "../file/model/request-tools.ts";
import { standInFor } from "../file/model/stand-in.ts";
import type { ToolFile, RequestToolSpec } from "../file/model/tool-file.ts";

/** The tool of an address, and the texts in the places of its path. */
export interface FakeRoute {
  tool: string;
  spec: RequestToolSpec;
  /** Still encoded. */
  places: string[];
}

interface Template {
  tool: string;
  spec: RequestToolSpec;
  /** The path with its `{field}`s. */
  path: string;
  /** How many places it has: a path without any is tried before one that could be filled with it. */
  open: number;
}

/** Finds the tools of a method and a path. Several have the same if their bodies tell them apart. */
export class Routes {
  readonly #templates: readonly Template[];

  constructor(file: ToolFile) {
    const base = new URL(file.upstream.base).pathname;
    this.#templates = requestTools(file)
      .map(([tool, spec]) => {
        const { path, base: own } = spec.request;
        const open = path.split("{").length - 1;
        return { tool, spec, path: (own === undefined ? base : standInFor(base, own)) + asSent(path), open };
      })
      .sort((a, b) => a.open - b.open);
  }

  /** Undefined if no tool has the path; the allowed methods if it has only others. */
  find(method: string, pathname: string): FakeRoute[] | { methods: string[] } | undefined {
    const others: string[] = [];
    for (const { spec, path } of this.#templates) {
      const places = placesIn(path, pathname);
      if (!places) continue;
      if (spec.request.method === method) return this.#sameAs(method, path, places);
      others.push(spec.request.method);
    }
    return others.length === 0 ? undefined : { methods: others };
  }

  #sameAs(method: string, path: string, places: string[]): FakeRoute[] {
    return this.#templates
      .filter((each) => each.path === path && each.spec.request.method === method)
      .map(({ tool, spec }) => ({ tool, spec, places }));
  }
}

/** Letters of other scripts arrive encoded. */
function asSent(path: string): string {
  return path.replaceAll(/[^\u0021-\u007e\p{Cs}]+/gu, (text) => encodeURIComponent(text));
}

function placesIn(path: string, pathname: string): string[] | undefined {
  const places = filledPlaces(path, pathname);
  if (!places || places.some((place) => place.includes("/"))) return undefined;
  try {
    for (const place of places) decodeURIComponent(place);
    return places;
  } catch {
    return undefined; // an invalid percent encoding
  }
}
