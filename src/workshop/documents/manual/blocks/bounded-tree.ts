import { defaultTreeAdapter, parse, type DefaultTreeAdapterTypes, type TreeAdapter } from "parse5";

export type Element = DefaultTreeAdapterTypes.Element;
export type HtmlNode = DefaultTreeAdapterTypes.ChildNode;

/** Browsers stop nesting at 512 elements. Deeper pages also cost time that grows with the square of the depth. */
const MAX_DEPTH = 500;
/** More than the largest manuals that are one page. */
const MAX_NODES = 200_000;

/** The body and the title of an HTML text, with source locations. A page beyond the limits throws RangeError. */
export function parseHtml(text: string): { body: Element | undefined; title: string | undefined } {
  const document = parse(text, { sourceCodeLocationInfo: true, treeAdapter: boundedAdapter() });
  const root = document.childNodes.find(isElement);
  const [head, body] = ["head", "body"].map((name) =>
    root?.childNodes.filter(isElement).find(({ tagName }) => tagName === name),
  );
  const title = head?.childNodes.filter(isElement).find(({ tagName }) => tagName === "title");
  return { body, title: title && rawText(title).replaceAll(/\s+/g, " ").trim() };
}

/** The parser counts what is on its stack and what it makes. */
function boundedAdapter(): TreeAdapter<DefaultTreeAdapterTypes.DefaultTreeAdapterMap> {
  let depth = 0;
  let nodes = 0;
  return {
    ...defaultTreeAdapter,
    createElement: (tagName, namespace, attributes) => {
      if (++nodes > MAX_NODES) throw new RangeError(`has more than ${MAX_NODES} HTML elements`);
      return defaultTreeAdapter.createElement(tagName, namespace, attributes);
    },
    onItemPush: () => {
      if (++depth > MAX_DEPTH) throw new RangeError(`nests HTML elements more than ${MAX_DEPTH} deep`);
    },
    onItemPop: () => {
      depth--;
    },
  };
}

export function isElement(node: unknown): node is Element {
  return typeof node === "object" && node !== null && "tagName" in node;
}

export function isText(node: HtmlNode): node is DefaultTreeAdapterTypes.TextNode {
  return node.nodeName === "#text";
}

export function attribute({ attrs }: Element, name: string): string | undefined {
  return attrs.find((attr) => attr.name === name)?.value;
}

export function classes(element: Element): string[] {
  return (attribute(element, "class") ?? "").split(/\s+/).filter((name) => name !== "");
}

/** All text inside, as it is. */
export function rawText(node: HtmlNode): string {
  if (isText(node)) return node.value;
  if (!isElement(node)) return "";
  if (node.tagName === "br") return "\n";
  return node.childNodes.map(rawText).join("");
}

/** Whether there is such an element inside, in any depth. `skip`: elements that are not looked into. */
export function contains(element: Element, tags: ReadonlySet<string>, skip?: ReadonlySet<string>): boolean {
  return element.childNodes.some(
    (child) =>
      isElement(child) && (tags.has(child.tagName) || (!skip?.has(child.tagName) && contains(child, tags, skip))),
  );
}
