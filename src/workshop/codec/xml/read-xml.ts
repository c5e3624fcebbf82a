import { SaxesParser, type SaxesOptions, type SaxesTagNS } from "saxes";
import { messageOf, NexusError } from "../../../errors/nexus-error.ts";
import { textOfXml, unreadable } from "./xml-bytes.ts";
import { XSI_NAMESPACE, type XmlAttribute, type XmlElement } from "../record/xml-tree.ts";

const MAX_DEPTH = 100;
const MAX_ELEMENTS = 200_000;
const MAX_ATTRIBUTES = 200;
const MAX_TEXT = 4_000_000;
const MAX_LENGTH = 32_000_000;
/** Most elements have neither attributes nor children; arrays for them would be half of the garbage. */
const NONE: readonly never[] = Object.freeze([]);

/** The namespace of a prefix. */
type Resolve = (prefix: string) => string | undefined;
type Parser = SaxesParser<SaxesOptions & { xmlns: true }>;

/**
 * Reads documents one after the other into elements with resolved names. Only the five predefined entities exist, so
 * nothing is fetched and nothing expands; a document type is always refused.
 */
export class XmlReader {
  readonly #builder: TreeBuilder;
  /** Reused: creating a parser costs a tenth of reading a small document. */
  #parser: Parser;

  /** `prefixes`: those that the names in `xsi:type` get, by their namespaces, whatever those of the document are. */
  constructor(prefixes: ReadonlyMap<string, string> = new Map()) {
    this.#builder = new TreeBuilder(prefixes);
    this.#parser = createParser(this.#builder, { position: false });
  }

  read(body: Uint8Array | string): XmlElement {
    const text = typeof body === "string" ? body.replace(/^\uFEFF/, "") : textOfXml(body);
    if (text.length > MAX_LENGTH) throw unreadable("it is too large");
    try {
      return parse(this.#parser, this.#builder, text);
    } catch (error) {
      // After an error the parser is in the middle of the document.
      this.#parser = createParser(this.#builder, { position: false });
      if (error instanceof NexusError) throw error;
      throw unreadable(locate(text, error), error);
    }
  }
}

/** Reads a second time with line numbers, which hardly any document needs. */
function locate(text: string, error: unknown): string {
  const builder = new TreeBuilder(new Map());
  try {
    parse(createParser(builder, { position: true }), builder, text);
  } catch (again) {
    const [, line, column, problem] = /^(\d+):(\d+): (.*)$/s.exec(messageOf(again)) ?? [];
    if (problem !== undefined) return `line ${line}, column ${column}: ${problem.replace(/\.$/, "")}`;
  }
  return messageOf(error);
}

function parse(parser: Parser, builder: TreeBuilder, text: string): XmlElement {
  builder.begin();
  parser.write(text).close();
  return builder.root();
}

/** Without an error handler the parser throws at the first error. */
function createParser(builder: TreeBuilder, { position }: { position: boolean }): Parser {
  const parser: Parser = new SaxesParser({
    xmlns: true,
    position,
    defaultXMLVersion: "1.0",
    forceXMLVersion: true,
  });
  parser.on("doctype", () => {
    throw unreadable("it has a document type (DTD), which is refused");
  });
  parser.on("attribute", () => builder.countAttribute());
  const resolve = (prefix: string) => parser.resolve(prefix);
  parser.on("opentag", (tag) => builder.open(tag, resolve));
  parser.on("closetag", () => builder.close());
  parser.on("text", (piece) => builder.add(piece));
  parser.on("cdata", (piece) => builder.add(piece));
  return parser;
}

class TreeBuilder {
  #open: XmlElement[] = [];
  #current: XmlElement | undefined;
  #root: XmlElement | undefined;
  #elements = 0;
  #attributes = 0;
  readonly #prefixes: ReadonlyMap<string, string>;

  constructor(prefixes: ReadonlyMap<string, string>) {
    this.#prefixes = prefixes;
  }

  begin(): void {
    this.#open = [];
    this.#current = this.#root = undefined;
    this.#elements = this.#attributes = 0;
  }

  /** Counted as they come: the parser would collect any number before it reports the element. */
  countAttribute(): void {
    if (++this.#attributes > MAX_ATTRIBUTES) {
      throw unreadable(`an element has more than ${MAX_ATTRIBUTES} attributes`);
    }
  }

  open({ local, uri, attributes }: SaxesTagNS, resolve: Resolve): void {
    if (++this.#elements > MAX_ELEMENTS) throw unreadable(`it has more than ${MAX_ELEMENTS} elements`);
    if (this.#open.length >= MAX_DEPTH) throw unreadable(`it is nested deeper than ${MAX_DEPTH}`);
    const own = this.#attributes === 0 ? NONE : this.#withTypeName(attributesOf(attributes), resolve);
    this.#attributes = 0;
    const element: XmlElement = { name: local, namespace: uri, attributes: own, children: NONE, text: "" };
    const parent = this.#current;
    if (!parent) this.#root = element;
    else if (parent.children === NONE) parent.children = [element];
    else (parent.children as XmlElement[]).push(element);
    this.#open.push(element);
    this.#current = element;
  }

  /** The value of `xsi:type` is a name, whose prefix means nothing outside of its document. */
  #withTypeName(attributes: XmlAttribute[], resolve: Resolve): XmlAttribute[] {
    const type = attributes.find(({ name, namespace }) => name === "type" && namespace === XSI_NAMESPACE);
    const [, prefix = "", name = ""] = type ? (/^\s*(?:([^:\s]*):)?([^:\s]+)\s*$/.exec(type.value) ?? []) : [];
    const known = name === "" ? undefined : this.#prefixes.get(resolve(prefix) ?? "");
    if (type && known !== undefined) type.value = `${known}:${name}`;
    return attributes;
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

function attributesOf(attributes: SaxesTagNS["attributes"]): XmlAttribute[] {
  const read: XmlAttribute[] = [];
  for (const written in attributes) {
    const attribute = attributes[written];
    if (!attribute) continue;
    const { local: name, uri: namespace, value } = attribute;
    if (value.length > MAX_TEXT) throw unreadable(`an attribute is longer than ${MAX_TEXT} characters`);
    read.push({ name, namespace, value });
  }
  return read;
}
