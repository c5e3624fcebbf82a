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

/** Finds the tools of a method and a path. */
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

  /**
   * Several tools may have the same address, and differ in the rest of the request. No routes if the path has only other
   * methods; undefined if no tool has the path.
   */
  find(method: string, pathname: string): readonly FakeRoute[] | undefined {
    const found: FakeRoute[] = [];
    let open = Infinity;
    let isKnown = false;
    for (const template of this.#templates) {
      // The templates with the fewest places come first.
      if (template.open > open) break;
      const places = placesIn(template.path, pathname);
      if (!places) continue;
      isKnown = true;
      const { tool, spec } = template;
      if (spec.request.method !== method) continue;
      found.push({ tool, spec, places });
      open = template.open;
    }
    return isKnown ? found : undefined;
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
