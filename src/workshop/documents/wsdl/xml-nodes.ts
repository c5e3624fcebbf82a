import { SaxesParser } from "saxes";
import { messageOf } from "../../../errors/nexus-error.ts";
import { visible } from "../../../text/visible.ts";
import { unreadable } from "../parse-document.ts";

/** An element of a description, with its lines and the prefixes that its attributes may use. */
export interface XmlNode {
  name: string;
  namespace: string;
  /** By local name; those of another namespace as `{namespace}name`. */
  attributes: ReadonlyMap<string, string>;
  children: XmlNode[];
  /** Its own text, without its children's. */
  text: string;
  /** The lines of the start tag and of the whole element, from 1. */
  from: number;
  tagEnd: number;
  to: number;
  /** In the order of the document: tells elements apart that are on one line. */
  id: number;
  prefixes: Prefixes;
}

/** The namespaces that are declared at an element, and those around it. */
interface Prefixes {
  own: ReadonlyMap<string, string>;
  outer: Prefixes | undefined;
}

/** A name and its namespace. */
export interface QName {
  namespace: string;
  name: string;
}

export const XSD = "http://www.w3.org/2001/XMLSchema";
/** Drafts of XML Schema, in which old descriptions are written: what those use of it means the same. */
const XSD_DRAFT = /^http:\/\/www\.w3\.org\/(?:1999|2000\/10)\/XMLSchema$/;
/** What prefixes mean that a description uses and does not declare. Other readers do not look at the declarations. */
const USUAL_PREFIXES: Readonly<Record<string, string>> = {
  xs: XSD,
  xsd: XSD,
  s: XSD,
  wsdl: "http://schemas.xmlsoap.org/wsdl/",
  soap: "http://schemas.xmlsoap.org/wsdl/soap/",
  soap12: "http://schemas.xmlsoap.org/wsdl/soap12/",
  http: "http://schemas.xmlsoap.org/wsdl/http/",
  mime: "http://schemas.xmlsoap.org/wsdl/mime/",
  soapenc: "http://schemas.xmlsoap.org/soap/encoding/",
  xmime: "http://www.w3.org/2005/05/xmlmime",
  wsp: "http://schemas.xmlsoap.org/ws/2004/09/policy",
  wsu: "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd",
  wsaw: "http://www.w3.org/2006/05/addressing/wsdl",
};

const MAX_DEPTH = 100;
const MAX_ELEMENTS = 150_000;
const MAX_ATTRIBUTES = 200;
const MAX_TEXT = 100_000;
const NONE = new Map<string, string>();
/** Text of all elements together. */
const MAX_WHOLE_TEXT = 8_000_000;

/**
 * The elements of a description. Nothing is fetched and nothing expands: a document type is refused, and only the five
 * predefined entities exist.
 */
export function readXmlNodes(text: string, name: string): XmlNode {
  const builder = new NodeBuilder(name);
  const parser = new SaxesParser({
    xmlns: true,
    position: true,
    defaultXMLVersion: "1.0",
    forceXMLVersion: true,
    additionalNamespaces: USUAL_PREFIXES,
  });
  let from = 1;
  parser.on("doctype", () => {
    throw notReadable(name, "it has a document type (DTD), which is refused");
  });
  parser.on("opentagstart", () => {
    from = parser.line;
    builder.attributes = 0;
  });
  parser.on("attribute", () => builder.countAttribute());
  parser.on("opentag", ({ local, uri, attributes, ns }) => {
    const written = Object.values(attributes);
    const own = written.length === 0 ? NONE : new Map<string, string>();
    for (const each of written) {
      const name = each.uri === "" || each.uri === uri ? each.local : `{${each.uri}}${each.local}`;
      // Blanks around names do not count (XML Schema, NCName).
      own.set(name, name === "name" ? each.value.trim() : each.value);
    }
    const namespace = currentNamespace(uri);
    builder.open({ name: local, namespace, attributes: own, declared: ns, from, tagEnd: parser.line });
  });
  parser.on("closetag", () => builder.close(parser.line));
  parser.on("text", (piece) => builder.add(piece));
  parser.on("cdata", (piece) => builder.add(piece));
  try {
    parser.write(text).close();
  } catch (error) {
    if (error instanceof Error && error.name === "NexusError") throw error;
    throw notReadable(name, visible(messageOf(error).slice(0, 200)), error);
  }
  return builder.root();
}

/** Refuses a document that has far too many elements before it takes the memory for them. */
export function checkSize(text: string, name: string): void {
  let tags = 0;
  for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at + 1)) tags++;
  // Each element has up to two tags; comments and CDATA sections have one each.
  if (tags > MAX_ELEMENTS * 3) throw notReadable(name, `it has more than ${MAX_ELEMENTS} elements`);
}

function notReadable(name: string, problem: string, cause?: unknown): Error {
  return unreadable(`The document ${name} cannot be read as XML: ${problem}`, "Correct it, or export it again.", {
    cause,
  });
}

interface Opened extends Pick<XmlNode, "name" | "namespace" | "attributes" | "from" | "tagEnd"> {
  declared: Record<string, string>;
}

class NodeBuilder {
  attributes = 0;
  readonly #document: string;
  readonly #open: XmlNode[] = [];
  #root: XmlNode | undefined;
  #elements = 0;
  #textLeft = MAX_WHOLE_TEXT;

  constructor(document: string) {
    this.#document = document;
  }

  countAttribute(): void {
    if (++this.attributes > MAX_ATTRIBUTES)
      throw this.#tooLarge(`an element has more than ${MAX_ATTRIBUTES} attributes`);
  }

  open({ declared, ...tag }: Opened): void {
    if (++this.#elements > MAX_ELEMENTS) throw this.#tooLarge(`it has more than ${MAX_ELEMENTS} elements`);
    if (this.#open.length >= MAX_DEPTH) throw this.#tooLarge(`it is nested deeper than ${MAX_DEPTH}`);
    const parent = this.#open.at(-1);
    const own = Object.entries(declared);
    const outer = parent?.prefixes;
    const prefixes = own.length === 0 && outer ? outer : { own: new Map(own), outer };
    const node: XmlNode = { ...tag, children: [], text: "", to: tag.tagEnd, id: this.#elements, prefixes };
    if (parent) parent.children.push(node);
    else this.#root = node;
    this.#open.push(node);
  }

  close(line: number): void {
    const node = this.#open.pop();
    if (node) node.to = line;
  }

  add(piece: string): void {
    const node = this.#open.at(-1);
    if (!node || (node.text === "" && piece.trim() === "")) return;
    this.#textLeft -= piece.length;
    if (this.#textLeft < 0) throw this.#tooLarge(`its texts have more than ${MAX_WHOLE_TEXT} characters`);
    if (node.text.length < MAX_TEXT) node.text += piece;
  }

  root(): XmlNode {
    if (!this.#root) throw notReadable(this.#document, "it has no element");
    return this.#root;
  }

  #tooLarge(problem: string): Error {
    return notReadable(this.#document, problem);
  }
}

/** The children with this name and namespace. */
export function childrenOf({ children }: XmlNode, namespace: string, ...names: readonly string[]): XmlNode[] {
  return children.filter((child) => child.namespace === namespace && names.includes(child.name));
}

/** The name in an attribute such as `type="tns:Guest"`; undefined if it is absent or its prefix is not declared. */
export function qnameIn(node: XmlNode, attribute: string): QName | undefined {
  const written = node.attributes.get(attribute)?.trim();
  return written === undefined || written === "" ? undefined : qnameOf(node, written);
}

export function qnameOf({ prefixes }: XmlNode, written: string): QName | undefined {
  const [, prefix = "", name = ""] = /^(?:([^:]*):)?(.*)$/s.exec(written) ?? [];
  for (let scope: Prefixes | undefined = prefixes; scope; scope = scope.outer) {
    const namespace = scope.own.get(prefix);
    if (namespace !== undefined) return { namespace: currentNamespace(namespace), name };
  }
  if (prefix === "") return { namespace: "", name };
  return Object.hasOwn(USUAL_PREFIXES, prefix) ? { namespace: USUAL_PREFIXES[prefix] ?? "", name } : undefined;
}

function currentNamespace(namespace: string): string {
  return XSD_DRAFT.test(namespace) ? XSD : namespace;
}

export function keyOf({ namespace, name }: QName): string {
  return `{${namespace}}${name}`;
}
