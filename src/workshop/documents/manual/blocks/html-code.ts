import type { CodeBlock } from "./manual.ts";
import { attribute, classes, isElement, isText, rawText, type Element, type HtmlNode } from "./bounded-tree.ts";
import { isGutter } from "./left-out.ts";

const LANGUAGE_CLASS = /^(?:language|lang|highlight-source|highlight|brush:?)-?:?([a-z][\w+#.-]*)$/i;
const NOT_LANGUAGES = new Set(["text", "none", "default", "plaintext", "plain", "wrapper", "wrap", "copy", "block"]);

/** The text of a pre element, with its language. Undefined if it is empty. `source` is the text of the page. */
export function codeBlock(pre: Element, source: string): CodeBlock | undefined {
  const all = codeText(pre);
  const leading = /^(?:[ \t]*\n)*/.exec(all)?.[0] ?? "";
  const text = all.slice(leading.length).trimEnd();
  if (text === "") return undefined;
  const at = pre.sourceCodeLocation;
  const textFrom = firstLine(pre, source) + leading.split("\n").length - 1;
  const place = { from: at?.startLine ?? textFrom, to: at?.endLine ?? textFrom };
  const language = languageOf(pre);
  return { kind: "code", ...(language === undefined ? {} : { language }), text, textFrom, place };
}

function codeText(node: HtmlNode): string {
  if (isElement(node) && (isGutter(node) || node.tagName === "button")) return "";
  if (!isElement(node) || node.tagName === "br") return rawText(node);
  return node.childNodes.map(codeText).join("");
}

/** The line of the first character. The line break after the tag is not part of the text. */
function firstLine(pre: Element, source: string): number {
  const node = firstText(pre);
  const at = node?.sourceCodeLocation;
  if (!node || !at) return pre.sourceCodeLocation?.startLine ?? 1;
  const isBreakLeftOut = source[at.startOffset] === "\n" && isText(node) && !node.value.startsWith("\n");
  return at.startLine + (isBreakLeftOut ? 1 : 0);
}

function firstText(node: HtmlNode): HtmlNode | undefined {
  if (isText(node)) return node.value === "" ? undefined : node;
  if (!isElement(node)) return undefined;
  for (const child of node.childNodes) {
    const found = firstText(child);
    if (found) return found;
  }
  return undefined;
}

/** Named by the element, by the code inside, or by up to three elements around it. */
function languageOf(pre: Element): string | undefined {
  const code = pre.childNodes.filter(isElement).find(({ tagName }) => tagName === "code");
  const around: Element[] = [];
  for (let parent = pre.parentNode; around.length < 3 && isElement(parent); parent = parent.parentNode) {
    around.push(parent);
  }
  for (const element of [...(code ? [code] : []), pre, ...around]) {
    const named = attribute(element, "data-lang") ?? attribute(element, "data-language");
    const found = [...(named === undefined ? [] : [`language-${named}`]), ...classes(element)]
      .map((name) => LANGUAGE_CLASS.exec(name)?.[1]?.toLowerCase())
      .find((name) => name !== undefined && !NOT_LANGUAGES.has(name));
    if (found !== undefined) return found;
  }
  return undefined;
}
