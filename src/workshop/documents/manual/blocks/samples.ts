import { indentOf, isBlank } from "../../text/text-lines.ts";

/** Code in a text: its lines, counted from 0, `to` not included. */
export interface CodeSample {
  language?: string;
  from: number;
  to: number;
  /** The first line after the block with its marks. */
  next: number;
}

const MAX_LINES = 5_000;
const HTTP_LINE =
  /^(?:(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+\S+\s+HTTP\/\d(?:\.\d)?|HTTP\/\d(?:\.\d)?\s+\d{3}\b.*)$/;
const REQUEST_LINE = /^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+(?:https?:\/\/|\/)\S*$/;
const HEADER_LINE = /^[A-Za-z][\w-]*:\s?\S/;

/** The code that begins at a line: fenced, in a directive, or recognised as JSON, XML, HTTP or a shell command. */
export function sampleAt(lines: readonly string[], at: number): CodeSample | undefined {
  return fenced(lines, at) ?? directive(lines, at) ?? recognised(lines, at) ?? indented(lines, at);
}

function fenced(lines: readonly string[], at: number): CodeSample | undefined {
  const [, fence, name = ""] = /^\s*(`{3,}|~{3,})\s*([\w+#.-]*)/.exec(lines[at] ?? "") ?? [];
  if (fence !== undefined) {
    const end = findLine(lines, at + 1, (line) => line.trim().startsWith(fence));
    const to = end ?? lines.length;
    return { ...(name === "" ? {} : { language: name.toLowerCase() }), from: at + 1, to, next: to + 1 };
  }
  // AsciiDoc: [source,json], then a block between lines of dashes or dots.
  const [source, language] = /^\[source(?:%\w+)?\s*,\s*"?([\w+#.-]+)[^\]]*\]\s*$/.exec(lines[at] ?? "") ?? [];
  const start = source === undefined ? at : at + 1;
  const mark = /^(-{4,}|\.{4,})$/.exec(lines[start] ?? "")?.[1];
  if (mark === undefined || (start === at && !isBlank(lines[at - 1]))) return undefined;
  const end = findLine(lines, start + 1, (line) => line === mark);
  if (end === undefined) return undefined;
  return {
    ...(language === undefined ? {} : { language: language.toLowerCase() }),
    from: start + 1,
    to: end,
    next: end + 1,
  };
}

/** reStructuredText: `.. code-block:: json`, and a block in deeper lines. */
function directive(lines: readonly string[], at: number): CodeSample | undefined {
  const line = lines[at] ?? "";
  const [found, name] = /^\s*\.\. (?:code-block|code|sourcecode|highlight)::\s*([\w+#.-]*)\s*$/.exec(line) ?? [];
  if (found === undefined) return undefined;
  return deeper(lines, at + 1, { indent: indentOf(line), language: name === "" ? undefined : name?.toLowerCase() });
}

/** The lines that are indented more; options of a directive are left out. */
export function deeper(
  lines: readonly string[],
  at: number,
  { indent, language }: { indent: number; language?: string | undefined },
): CodeSample | undefined {
  let from = at;
  while (from < lines.length && (isBlank(lines[from]) || /^\s+:[\w-]+:/.test(lines[from] ?? ""))) from++;
  let to = from;
  for (let line = from; line < lines.length; line++) {
    if (isBlank(lines[line])) continue;
    if (indentOf(lines[line] ?? "") <= indent) break;
    to = line + 1;
  }
  return to === from ? undefined : { ...(language === undefined ? {} : { language }), from, to, next: to };
}

function recognised(lines: readonly string[], at: number): CodeSample | undefined {
  const text = (lines[at] ?? "").trim();
  const found = (language: string, to: number | undefined) =>
    to === undefined ? undefined : { language, from: at, to, next: to };
  if (/^[{[]\s*(?:$|["{[\]}\d-])/.test(text)) return found("json", jsonEnd(lines, at));
  if (/^<(?:\?xml|[A-Za-z_][\w:.-]*(?:[\s/>]|$))/.test(text)) return found("xml", xmlEnd(lines, at));
  if (HTTP_LINE.test(text) || (REQUEST_LINE.test(text) && HEADER_LINE.test((lines[at + 1] ?? "").trim()))) {
    return found("http", httpEnd(lines, at));
  }
  return /^(?:\$\s*)?(?:curl|wget|http)\s+(?:-|https?:|["'])/.test(text)
    ? found("shell", shellEnd(lines, at))
    : undefined;
}

/** Where the brackets are closed; undefined if they are not. */
function jsonEnd(lines: readonly string[], at: number): number | undefined {
  let depth = 0;
  for (let line = at; line < Math.min(lines.length, at + MAX_LINES); line++) {
    const bare = (lines[line] ?? "").replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
    if (line > at && isBlank(bare) && isBlank(lines[line + 1]) && isBlank(lines[line + 2])) return undefined;
    for (const sign of bare) {
      if (sign === "{" || sign === "[") depth++;
      else if (sign === "}" || sign === "]") depth--;
    }
    if (depth <= 0) return line > at || /["\d]/.test(bare) || /^\s*[{[]\s*[}\]]\s*$/.test(bare) ? line + 1 : undefined;
  }
  return undefined;
}

/** Where the first element is closed; undefined if it is not. */
function xmlEnd(lines: readonly string[], at: number): number | undefined {
  let name: string | undefined;
  let depth = 0;
  for (let line = at; line < Math.min(lines.length, at + MAX_LINES); line++) {
    const text = lines[line] ?? "";
    name ??= /<([A-Za-z_][\w:.-]*)/.exec(text)?.[1];
    if (name === undefined) continue;
    const escaped = name.replaceAll(/[.]/g, "\\.");
    depth += text.match(new RegExp(`<${escaped}(?=[\\s/>]|$)`, "g"))?.length ?? 0;
    depth -= text.match(new RegExp(`</${escaped}\\s*>`, "g"))?.length ?? 0;
    if (depth > 0 && line < at + 40 && isSelfClosed(lines.slice(at, line + 1).join("\n"), name)) return line + 1;
    if (depth <= 0) return line + 1;
  }
  return undefined;
}

function isSelfClosed(text: string, name: string): boolean {
  const start = text.indexOf(`<${name}`);
  const end = text.indexOf(">", start);
  return end > 0 && text[end - 1] === "/";
}

/** Headers, and a body after a blank line. */
function httpEnd(lines: readonly string[], at: number): number {
  let to = at + 1;
  while (to < lines.length && !isBlank(lines[to])) to++;
  const body = (lines[to + 1] ?? "").trim();
  if (/^[{[]/.test(body)) return jsonEnd(lines, to + 1) ?? to;
  return body.startsWith("<") ? (xmlEnd(lines, to + 1) ?? to) : to;
}

/** Lines go on after a backslash and inside of quotes. */
function shellEnd(lines: readonly string[], at: number): number {
  let quotes = 0;
  for (let line = at; line < Math.min(lines.length, at + 500); line++) {
    const text = lines[line] ?? "";
    quotes += text.split("'").length - 1;
    if (quotes % 2 === 0 && !text.endsWith("\\")) return line + 1;
  }
  return at + 1;
}

/** Indented lines are code only if they look like it: many texts indent everything. */
function indented(lines: readonly string[], at: number): CodeSample | undefined {
  const indent = indentOf(lines[at] ?? "");
  if (indent < 4 || !isBlank(lines[at - 1])) return undefined;
  const block = deeper(lines, at, { indent: indent - 1 });
  if (!block) return undefined;
  const to = findLine(lines, at, (line) => isBlank(line)) ?? lines.length;
  const text = lines.slice(at, to);
  const codelike = text.filter((line) =>
    /[{};]\s*$|^\s*["<[{}\]]|^\s*(?:GET|POST|PUT|PATCH|DELETE)\s+\S|^\s*[\w-]+=\S/.test(line),
  );
  return codelike.length * 2 >= text.length ? { from: at, to, next: to } : undefined;
}

function findLine(lines: readonly string[], from: number, matches: (line: string) => boolean): number | undefined {
  for (let line = from; line < lines.length; line++) if (matches(lines[line] ?? "")) return line;
  return undefined;
}
