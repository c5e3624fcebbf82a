/**
 * The path of a request: `/pets/{pet-id}?v=1` with the places of its parameters, without the first slash, and the
 * parameters that the document writes into it. `undeclared` gives the place of a name that no parameter has.
 */
export function requestPath(
  path: string,
  places: ReadonlyMap<string, string>,
  undeclared: (name: string) => string,
): { path: string; query: Record<string, string> } {
  const [before, after] = splitOnce(path, "?");
  const own = new Map(places);
  const placed = before.replaceAll(/\{([^{}]*)\}|[^{}]+|[{}]/g, (text, name: string | undefined) => {
    if (name === undefined) return fixedText(text);
    const place = own.get(name) ?? undeclared(name);
    own.set(name, place);
    return place;
  });
  // A colon in the first step would look like the scheme of an address.
  const relative = placed.replace(/^\/+/, "").replace(/^[^/{}:]*:/, (first) => first.replace(":", "%3A"));
  const query = Object.fromEntries(
    [...new URLSearchParams(after)].filter(([name, value]) => name !== "" && !value.includes("{")),
  );
  return { path: relative, query };
}

function splitOnce(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** Characters that cannot stand in an address are encoded; what is encoded stays. */
function fixedText(text: string): string {
  return (
    text
      .replaceAll(/[\s\\{}^`|"<>#]/g, (sign) => encodeURIComponent(sign))
      // An encoded dot is a dot, also in a step that goes up.
      .replaceAll(/%2e/gi, ".")
      .replaceAll(/\/\.{1,2}(?=\/|$)/g, "")
      .replaceAll(/%2f|%5c/gi, "-")
  );
}
