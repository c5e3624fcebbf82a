import { SaxesParser, type SaxesOptions, type SaxesTagNS } from "saxes";
import { messageOf, NexusError } from "../../../errors/nexus-error.ts";
import { readPlainXml } from "./read-plain-xml.ts";
import { textOfXml, unreadable } from "./xml-bytes.ts";
import type { XmlElement } from "../record/xml-tree.ts";

const MAX_DEPTH = 100;
const MAX_ELEMENTS = 200_000;
const MAX_ATTRIBUTES = 200;
const MAX_TEXT = 4_000_000;
const MAX_LENGTH = 32_000_000;

/**
 * Reads a document: its elements with their names resolved. There are no entities but the five that XML knows, so
 * nothing is fetched and nothing grows; a document type is refused, whatever it says.
 */
export function readXml(body: Uint8Array | string): XmlElement {
  const text = typeof body === "string" ? body.replace(/^\uFEFF/, "") : textOfXml(body);
  if (text.length > MAX_LENGTH) throw unreadable("it is too large");
  return readPlainXml(text) ?? readStrictly(text);
}

/** Takes whatever XML has, and says what is wrong with the rest. */
export function readStrictly(text: string): XmlElement {
  try {
    return parse(text, false);
  } catch (error) {
    if (error instanceof NexusError) throw error;
    throw unreadable(placed(text, error), error);
  }
}

/** Counting lines is left out of the first reading, as hardly any document needs it. */
function placed(text: string, error: unknown): string {
  try {
    parse(text, true);
  } catch (again) {
    const [, line, column, problem] = /^(\d+):(\d+): (.*)$/s.exec(messageOf(again)) ?? [];
    if (problem !== undefined) return `line ${line}, column ${column}: ${problem.replace(/\.$/, "")}`;
  }
  return messageOf(error);
}

function parse(text: string, position: boolean): XmlElement {
  const parser = new SaxesParser<SaxesOptions & { xmlns: true }>({
    xmlns: true,
    position,
    defaultXMLVersion: "1.0",
    forceXMLVersion: true,
  });
  const builder = new TreeBuilder();
  parser.on("doctype", () => {
    throw unreadable("it has a document type (DTD), which is refused");
  });
  parser.on("attribute", () => builder.countAttribute());
  parser.on("opentag", (tag) => builder.open(tag));
  parser.on("closetag", () => builder.close());
  parser.on("text", (piece) => builder.add(piece));
  parser.on("cdata", (piece) => builder.add(piece));
  // Without a handler for errors the parser throws at the first.
  parser.write(text).close();
  return builder.root();
}

class TreeBuilder {
  readonly #open: XmlElement[] = [];
  #current: XmlElement | undefined;
  #root: XmlElement | undefined;
  #elements = 0;
  #attributes = 0;

  /** While they come: the parser would collect any number of them before it tells of the element. */
  countAttribute(): void {
    if (++this.#attributes > MAX_ATTRIBUTES) {
      throw unreadable(`an element has more than ${MAX_ATTRIBUTES} attributes`);
    }
  }

  open({ local, uri, attributes }: SaxesTagNS): void {
    if (++this.#elements > MAX_ELEMENTS) throw unreadable(`it has more than ${MAX_ELEMENTS} elements`);
    if (this.#open.length >= MAX_DEPTH) throw unreadable(`it is nested deeper than ${MAX_DEPTH}`);
    this.#attributes = 0;
    const element: XmlElement = { name: local, namespace: uri, attributes: [], children: [], text: "" };
    for (const name in attributes) {
      const attribute = attributes[name];
      if (attribute === undefined) continue;
      element.attributes.push({ name: attribute.local, namespace: attribute.uri, value: attribute.value });
      if (attribute.value.length > MAX_TEXT) throw unreadable(`an attribute is longer than ${MAX_TEXT} characters`);
    }
    if (this.#current) this.#current.children.push(element);
    else this.#root = element;
    this.#open.push(element);
    this.#current = element;
  }

  close(): void {
    this.#open.pop();
    this.#current = this.#open.at(-1);
  }

  add(piece: string): void {
    const element = this.#current;
    // Blanks around the root.
    if (!element) return;
    element.text += piece;
    if (element.text.length > MAX_TEXT) throw unreadable(`a text is longer than ${MAX_TEXT} characters`);
  }

  root(): XmlElement {
    if (!this.#root) throw unreadable("it holds no element");
    return this.#root;
  }
}
