/** A path of the document, made ready to be sent. */
export interface PathTemplate {
  /** With a slash first, without a query and a fragment. */
  path: string;
  /** The names in braces, each once. */
  names: string[];
  /** Constants that the document wrote into the path: `/files?alt=media`. */
  query: [string, string][];
  /** Parameters of the query that the document wrote into the path, by their names in braces: `/items?id={itemId}`. */
  inQuery: ReadonlyMap<string, string>;
  /**
   * The names after a #, which is never sent: the parameters by which some descriptions tell operations of one path apart,
   * or a part of the path that is cut.
   */
  fragment?: string[];
  /** What was repaired. */
  remarks: string[];
}

/** Reads the template of a path; undefined if its braces cannot be understood. */
export function readPathTemplate(written: string): PathTemplate | undefined {
  const remarks: string[] = [];
  const trimmed = written.trim();
  const [beforeFragment, fragment] = splitAtFragment(trimmed);
  if (fragment !== undefined) remarks.push("What follows # in the path is never sent; it is left out");
  const mark = questionMark(beforeFragment);
  const bare = mark === -1 ? beforeFragment : beforeFragment.slice(0, mark);
  const pairs = mark === -1 ? [] : [...new URLSearchParams(beforeFragment.slice(mark + 1))];
  const inQuery = new Map(pairs.flatMap(([name, value]) => (name === "" ? [] : nameInBraces(name, value))));
  const query = pairs.filter(([, value]) => !WHOLE_PLACEHOLDER.test(value));
  if (query.length > 0) remarks.push("The query in the path became constant parameters");
  if (!bare.startsWith("/") && bare !== "") remarks.push("The path does not begin with a slash; one was added");
  // {path+} and {+path} of other template languages mean the same here.
  const path = (bare.startsWith("/") ? bare : `/${bare}`).replaceAll(
    /\{([^{}]*)\}/g,
    (_, name: string) => `{${plainName(name)}}`,
  );
  const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name);
  if (names.some((name) => name.trim() === "") || /[{}]/.test(path.replaceAll(/\{[^{}]*\}/g, ""))) return undefined;
  const named = fragment === undefined ? undefined : namesIn(fragment);
  return { path, names: [...new Set(names)], query, inQuery, ...(named ? { fragment: named } : {}), remarks };
}

/** What is before and after the first #. */
function splitAtFragment(text: string): [string, string?] {
  const at = text.indexOf("#");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** `Action` and `Version` of `Action=List&Version=1`. */
function namesIn(fragment: string): string[] {
  return fragment.split("&").map((pair) => (pair.split("=", 1)[0] ?? "").trim());
}

const WHOLE_PLACEHOLDER = /^\{([^{}]+)\}$/;

function nameInBraces(name: string, value: string): [string, string][] {
  const inner = WHOLE_PLACEHOLDER.exec(value)?.[1];
  return inner === undefined ? [] : [[inner, name]];
}

/** The name of a parameter without the signs of other template languages: `path` of `path*` and `+path`. */
export function plainName(name: string): string {
  return name.replace(/^[+*]/, "").replace(/[+*]$/, "");
}

/** The first question mark that is not inside braces. */
function questionMark(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "}") depth--;
    else if (text[at] === "?" && depth <= 0) return at;
  }
  return -1;
}
