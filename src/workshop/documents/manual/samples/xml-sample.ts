import { SaxesParser } from "saxes";
import type { SampleNode } from "./sample-node.ts";

const MAX_DEPTH = 60;
const MAX_NODES = 20_000;
const SCHEMA_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance";

/** The document of a sample with the lines of its parts; undefined if it is not well formed. */
export function xmlSample(text: string, firstLine: number): SampleNode | undefined {
  const start = text.search(/<[A-Za-z_?!]/);
  if (start < 0) return undefined;
  const skipped = (text.slice(0, start).match(/\n/g) ?? []).length;
  const parser = new SaxesParser({ xmlns: true, position: true });
  const open: SampleNode[] = [];
  let root: SampleNode | undefined;
  let count = 0;
  let isBroken = false;
  let line = 1;
  parser.on("error", () => {
    isBroken = true;
  });
  parser.on("opentagstart", () => {
    line = parser.line;
  });
  parser.on("opentag", (tag) => {
    if (isBroken || ++count > MAX_NODES || open.length > MAX_DEPTH) {
      isBroken = true;
      return;
    }
    const node: SampleNode = {
      name: tag.local,
      attribute: false,
      line: line + skipped + firstLine - 1,
      ...(tag.uri === "" ? {} : { namespace: tag.uri }),
      children: [],
    };
    for (const { local, prefix, uri, value } of Object.values(tag.attributes)) {
      if (prefix === "xmlns" || local === "xmlns" || uri === SCHEMA_INSTANCE) continue;
      node.children.push({ name: local, attribute: true, line: node.line, value, children: [] });
    }
    if (root === undefined) root = node;
    open.at(-1)?.children.push(node);
    open.push(node);
  });
  const addText = (content: string) => {
    const at = open.at(-1);
    if (at && content.trim() !== "") at.value = `${typeof at.value === "string" ? at.value : ""}${content}`;
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => {
    open.pop();
  });
  try {
    parser.write(text.slice(start).trimEnd()).close();
  } catch {
    return undefined;
  }
  return isBroken || open.length > 0 ? undefined : root;
}
