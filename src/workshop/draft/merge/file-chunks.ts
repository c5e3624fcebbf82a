/** A piece of a tool file: a top-level member, or an entry of a section such as `tools`. */
export interface FileChunk {
  /** `["upstream"]` or `["tools", "find_pets"]`; `["tools", ""]` is the line that begins the section. */
  path: readonly [section: string, entry?: string];
  /** With the comments and blank lines before it. */
  text: string;
}

/** Sections whose entries are chunks of their own. */
const DIVIDED: ReadonlySet<string> = new Set(["types", "tools", "secrets", "settings", "documents"]);

const KEY = /^( *)(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s#"'[\]{},&*!|>%@`-][^:#]*?|-[^\s:][^:]*?))\s*:(?=\s|$)/;

/**
 * Divides the text of a tool file by its layout, without reading it as YAML, so that files of any size are compared by
 * their parts. Sections in braces stay whole. The chunks joined are the text.
 */
export function chunksOf(text: string): FileChunk[] {
  const chunks: FileChunk[] = [];
  let section = "";
  let indent: number | undefined;
  let waiting = "";
  for (const line of text.split(/(?<=\n)/)) {
    const found = keyOf(line);
    const isSection = found?.indent === 0;
    const isEntry =
      found !== undefined && found.indent > 0 && DIVIDED.has(section) && found.indent === (indent ?? found.indent);
    if (isSection || (isEntry && section !== "")) {
      if (isSection) {
        section = found.key;
        indent = undefined;
      } else {
        indent = found.indent;
      }
      const isDivided = isSection && DIVIDED.has(section) && /:\s*(?:#.*)?$/.test(line.trimEnd());
      // A section in braces has no entries of its own.
      if (isSection && DIVIDED.has(section) && !isDivided) indent = -1;
      const path: FileChunk["path"] = isSection ? (isDivided ? [section, ""] : [section]) : [section, found.key];
      chunks.push({ path, text: waiting + line });
      waiting = "";
    } else if (isBetween(line, DIVIDED.has(section) ? (indent ?? 0) : 0)) {
      // A comment or a blank line belongs to what follows it at the same depth.
      waiting += line;
    } else {
      const last = chunks.at(-1);
      if (last) last.text += waiting + line;
      else chunks.push({ path: [""], text: waiting + line });
      waiting = "";
    }
  }
  const last = chunks.at(-1);
  if (last) last.text += waiting;
  else if (waiting !== "") chunks.push({ path: [""], text: waiting });
  return chunks;
}

/** The spaces before its first key. */
export function indentOf(text: string): number {
  for (const line of text.split("\n")) {
    const found = keyOf(line);
    if (found) return found.indent;
  }
  return 0;
}

/** The types that texts name, and that those name. */
export function mentionedTypes(texts: readonly string[], types: ReadonlyMap<string, FileChunk>): Set<string> {
  const found = new Set<string>();
  const open = [...texts];
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    for (const [word] of text.matchAll(/[A-Za-z]\w*/g)) {
      const type = types.get(word);
      if (!type || found.has(word)) continue;
      found.add(word);
      open.push(type.text);
    }
  }
  return found;
}

function keyOf(line: string): { indent: number; key: string } | undefined {
  const [, spaces, double, single, plain] = KEY.exec(line) ?? [];
  if (spaces === undefined) return undefined;
  const key = double === undefined ? (single?.replaceAll("''", "'") ?? plain ?? "") : unescaped(double);
  return { indent: spaces.length, key };
}

function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

function isBetween(line: string, indent: number): boolean {
  const at = line.search(/\S/);
  return at === -1 || (line[at] === "#" && at <= indent);
}
