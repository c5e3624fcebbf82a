import { XML_NAMESPACE, XMLNS_NAMESPACE, type XmlAttribute, type XmlElement } from "../record/xml-tree.ts";

const MAX_DEPTH = 100;
const MAX_ELEMENTS = 200_000;
const MAX_ATTRIBUTES = 200;
const MAX_LENGTH = 4_000_000;
/** In force at a time: each declaration copies them. */
const MAX_PREFIXES = 32;

const DECLARATION = /^<\?xml version="1\.0"(?: encoding="[A-Za-z][A-Za-z0-9._-]*")?(?: standalone="(?:yes|no)")? ?\?>/;
/** Characters that XML has not, and those that take two units, which are left to others to judge. */
// oxlint-disable-next-line no-control-regex
const ODD = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/;
const ENTITIES = new Map(Object.entries({ lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" }));

const LESS = 0x3c;
const GREATER = 0x3e;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const COLON = 0x3a;

/** 1: begins a name, 2: stands in one. Only ASCII. */
const NAME = Uint8Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code);
  return /[A-Za-z_]/.test(sign) ? 3 : /[\d.-]/.test(sign) ? 2 : 0;
});

/** Prefixes in force, by what they stand for; the empty one is the default. */
type Namespaces = Readonly<Record<string, string>>;

interface Open {
  element: XmlElement;
  /** As it is written, with its prefix. */
  written: string;
  namespaces: Namespaces;
}

/**
 * Reads what nearly all documents are made of: elements, attributes, text, references. It knows nothing else and judges
 * nothing: whatever is not plainly right gives undefined, and the strict reader, which takes about twice as long, says
 * what it is. What both read, they read the same.
 */
export function readPlainXml(given: string): XmlElement | undefined {
  // As XML has it: every kind of line end is one.
  const text = given.includes("\r") ? given.replaceAll(/\r\n?/g, "\n") : given;
  // A comment, a section or a document type; an instruction; the end of a section where none is.
  if (text.includes("<!") || text.includes("<?", 1) || text.includes("]]>") || ODD.test(text)) return undefined;
  return new PlainReader(text).read();
}

class PlainReader {
  readonly #text: string;
  #at = 0;
  #elements = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): XmlElement | undefined {
    this.#at = DECLARATION.exec(this.#text)?.[0].length ?? 0;
    this.#skipBlanks();
    const root = this.#open({ "": "", xml: XML_NAMESPACE });
    if (!root) return undefined;
    if (!this.#isClosed && !this.#readInside(root)) return undefined;
    this.#skipBlanks();
    return this.#at === this.#text.length ? root.element : undefined;
  }

  /** Whether the start tag that was read last was its end, too. */
  #isClosed = false;

  #readInside(root: Open): boolean {
    const text = this.#text;
    const open: Open[] = [root];
    let current = root;
    for (;;) {
      const tag = text.indexOf("<", this.#at);
      if (tag === -1) return false;
      if (tag > this.#at) {
        const piece = this.#resolved(text.slice(this.#at, tag));
        if (piece === undefined || piece.length > MAX_LENGTH) return false;
        const { element } = current;
        element.text = element.text === "" ? piece : element.text + piece;
        if (element.text.length > MAX_LENGTH) return false;
      }
      this.#at = tag;
      if (text.charCodeAt(tag + 1) === SLASH) {
        if (!this.#readEnd(current.written)) return false;
        open.pop();
        const outer = open.at(-1);
        if (!outer) return true;
        current = outer;
      } else {
        const inner = this.#open(current.namespaces);
        if (!inner || open.length >= MAX_DEPTH) return false;
        current.element.children.push(inner.element);
        if (this.#isClosed) continue;
        open.push(inner);
        current = inner;
      }
    }
  }

  /** A start tag. */
  #open(around: Namespaces): Open | undefined {
    const text = this.#text;
    if (text.charCodeAt(this.#at) !== LESS || ++this.#elements > MAX_ELEMENTS) return undefined;
    this.#at += 1;
    const written = this.#name();
    if (written === undefined) return undefined;
    const attributes: XmlAttribute[] = [];
    let namespaces = around;
    for (;;) {
      const before = this.#at;
      this.#skipBlanks();
      const sign = text.charCodeAt(this.#at);
      this.#isClosed = sign === SLASH;
      if (sign === GREATER || (sign === SLASH && text.charCodeAt(this.#at + 1) === GREATER)) break;
      if (before === this.#at) return undefined;
      const attribute = this.#attribute();
      if (!attribute || attributes.length >= MAX_ATTRIBUTES) return undefined;
      attributes.push(attribute);
      const declared = declaredBy(attribute);
      if (declared === undefined) continue;
      if (declared === "xml" || declared === "xmlns" || (declared !== "" && attribute.value === "")) return undefined;
      if (attribute.value === XML_NAMESPACE || attribute.value === XMLNS_NAMESPACE) return undefined;
      if (attribute.value !== attribute.value.trim()) return undefined;
      namespaces = { ...namespaces, [declared]: attribute.value };
      if (Object.keys(namespaces).length > MAX_PREFIXES) return undefined;
    }
    this.#at += this.#isClosed ? 2 : 1;
    return attributes.length === 0 || settle(attributes, namespaces)
      ? opened(written, attributes, namespaces)
      : undefined;
  }

  #readEnd(written: string): boolean {
    const start = this.#at + 2;
    if (!this.#text.startsWith(written, start)) return false;
    this.#at = start + written.length;
    this.#skipBlanks();
    return this.#text.charCodeAt(this.#at++) === GREATER;
  }

  /** Its name as it is written; what namespace that means is known at the end of the tag. */
  #attribute(): XmlAttribute | undefined {
    const text = this.#text;
    const name = this.#name();
    if (name === undefined) return undefined;
    this.#skipBlanks();
    if (text.charCodeAt(this.#at) !== EQUALS) return undefined;
    this.#at += 1;
    this.#skipBlanks();
    const quote = text[this.#at];
    if (quote !== '"' && quote !== "'") return undefined;
    const end = text.indexOf(quote, this.#at + 1);
    if (end === -1) return undefined;
    const raw = text.slice(this.#at + 1, end);
    this.#at = end + 1;
    // Blanks in attributes become others; `<` may not stand there.
    if (/[<\t\n]/.test(raw)) return undefined;
    const value = this.#resolved(raw);
    return value === undefined || value.length > MAX_LENGTH ? undefined : { name, namespace: "", value };
  }

  /** `name` or `prefix:name`. */
  #name(): string | undefined {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    if (!begins(text.charCodeAt(at))) return undefined;
    while (continues(text.charCodeAt(at))) at += 1;
    if (text.charCodeAt(at) === COLON) {
      at += 1;
      if (!begins(text.charCodeAt(at))) return undefined;
      while (continues(text.charCodeAt(at))) at += 1;
    }
    this.#at = at;
    return text.slice(start, at);
  }

  #skipBlanks(): void {
    const text = this.#text;
    for (let at = this.#at; ; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x20 || code === 0x0a || code === 0x09) continue;
      this.#at = at;
      return;
    }
  }

  /** With references replaced; undefined where one is not known. */
  #resolved(raw: string): string | undefined {
    if (!raw.includes("&")) return raw;
    let isKnown = true;
    const resolved = raw.replaceAll(/&(?:([a-z]+);)?/g, (_, name: string | undefined) => {
      const meant = ENTITIES.get(name ?? "");
      isKnown &&= meant !== undefined;
      return meant ?? "";
    });
    return isKnown ? resolved : undefined;
  }
}

function begins(code: number): boolean {
  return code < 128 && (NAME[code] ?? 0) === 3;
}

function continues(code: number): boolean {
  return code < 128 && (NAME[code] ?? 0) >= 2;
}

function opened(written: string, attributes: XmlAttribute[], namespaces: Namespaces): Open | undefined {
  const colon = written.indexOf(":");
  const prefix = colon === -1 ? "" : written.slice(0, colon);
  const namespace = prefix === "xmlns" ? undefined : known(namespaces, prefix);
  if (namespace === undefined) return undefined;
  const name = colon === -1 ? written : written.slice(colon + 1);
  return { element: { name, namespace, attributes, children: [], text: "" }, written, namespaces };
}

/** Gives attributes their namespaces; false where one has none, or where two have the same name. */
function settle(attributes: readonly XmlAttribute[], namespaces: Namespaces): boolean {
  for (const attribute of attributes) {
    const { name } = attribute;
    const colon = name.indexOf(":");
    if (name === "xmlns") {
      attribute.namespace = XMLNS_NAMESPACE;
    } else if (colon !== -1) {
      const prefix = name.slice(0, colon);
      const namespace = prefix === "xmlns" ? XMLNS_NAMESPACE : known(namespaces, prefix);
      if (namespace === undefined) return false;
      attribute.namespace = namespace;
      attribute.name = name.slice(colon + 1);
    }
  }
  if (attributes.length === 1) return true;
  return new Set(attributes.map(({ name, namespace }) => `${namespace} ${name}`)).size === attributes.length;
}

function declaredBy({ name }: XmlAttribute): string | undefined {
  if (!name.startsWith("xmlns")) return undefined;
  if (name.length === 5) return "";
  return name[5] === ":" ? name.slice(6) : undefined;
}

function known(namespaces: Namespaces, prefix: string): string | undefined {
  return Object.hasOwn(namespaces, prefix) ? namespaces[prefix] : undefined;
}
