import { percentDecoded } from "../../text/percent-decoded.ts";

/**
 * The variables of a URI that matches the template; only plain `{name}` expressions are supported. Clients choose the
 * URI, and a regular expression with several variables would try every way to divide a long one. A variable holds no
 * slash, so the segments match one by one, and each is read once.
 */
export function matchTemplate(uriTemplate: string, uri: string): Record<string, string> | undefined {
  const wanted = uriTemplate.split("/");
  const given = uri.split("/");
  if (wanted.length !== given.length) return undefined;
  const variables: [name: string, value: string][] = [];
  for (const [index, segment] of wanted.entries()) {
    const found = matchSegment(segment, given[index] ?? "");
    if (!found) return undefined;
    variables.push(...found);
  }
  return Object.fromEntries(variables.map(([name, value]) => [name, percentDecoded(value)]));
}

/** Fixed text is looked for from the end: where it occurs more than once, the first variables are the longest. */
function matchSegment(segment: string, text: string): [name: string, value: string][] | undefined {
  // Fixed text and names alternate, and fixed text is first and last.
  const parts = segment.split(/\{(\w+)\}/);
  const [first = ""] = parts;
  const last = parts.at(-1) ?? "";
  if (parts.length === 1) return text === first ? [] : undefined;
  if (!text.startsWith(first) || !text.endsWith(last)) return undefined;
  const found: [name: string, value: string][] = [];
  let end = text.length - last.length;
  for (let at = parts.length - 2; at > 0; at -= 2) {
    const before = parts[at - 1] ?? "";
    const from = at === 1 ? 0 : text.lastIndexOf(before, end - 1 - before.length);
    const value = text.slice(from + before.length, end);
    if (from < 0 || value === "") return undefined;
    found.unshift([parts[at] ?? "", value]);
    end = from;
  }
  return found;
}
