import { SaxesParser, type SaxesOptions, type SaxesTagNS } from "saxes";
import { NexusError, messageOf } from "../../../errors/nexus-error.ts";
import type { ToolFile } from "../../file/model/tool-file.ts";
import type { Codec } from "../record/codec.ts";
import { decodeXml } from "./decode-xml.ts";
import { Deviations } from "../record/deviations.ts";
import { Planner, type Notation, type Side } from "../record/planner.ts";
import { parseWirePath } from "../record/wire-path.ts";
import { isSameName, XSI_NAMESPACE, XML_NAMESPACE, type XmlElement, type XmlAttribute } from "../record/xml-tree.ts";
import type { RecordPath } from "../record/record-path.ts";
import type { LeafPlan, NodePlan, RecordPlan } from "../record/record-plan.ts";
import { RecordSource, type Fields } from "../record/record-source.ts";
import { Mismatch, type Scalar } from "../record/scalar.ts";
import { utf8Text } from "../../../text/utf8-text.ts";

/** The start of a document, which has the declaration of its encoding. */
const HEAD_BYTES = 200;
/** Only for complete documents, so they keep no state. */
const DECODERS = {
  "utf-16le": new TextDecoder("utf-16le", { fatal: true }),
  "utf-16be": new TextDecoder("utf-16be", { fatal: true }),
};
const UNICODE = new Set(["utf-8", "utf8"]);

const XML: Notation = { steps: parseWirePath, hasNamespaces: true };

export function xmlCodec(file: ToolFile, type: string, side?: Side): Codec {
  const plan = new Planner(file, XML, side).document(type);
  const prefixes = new Map(Object.entries(file.namespaces).map(([prefix, namespace]) => [namespace, prefix]));
  const { name, namespace } = plan.root;
  const reader = new XmlReader(prefixes);
  return {
    encode: (value) => {
      if (name === "") {
        throw new NexusError("CONFIG_INVALID", `The type ${type} does not say which element it is`, {
          hint: `Add "xml: { element: … }" to it.`,
        });
      }
      return writeXml(encodeXml(plan, value), prefixes);
    },
    decode: (body) => {
      const root = reader.read(body);
      if (name !== "" && (root.name !== name || root.namespace !== namespace)) {
        throw unreadable(`it is a ${described(root)}, expected ${described({ name, namespace })}`);
      }
      const found = new Deviations();
      const value = decodeXml(plan, root, found);
      return { value, deviations: found.all() };
    },
  };
}

function described({ name, namespace }: Pick<XmlElement, "name" | "namespace">): string {
  return namespace === "" ? `<${name}> without a namespace` : `<${name}> in the namespace ${namespace}`;
}

/** A record as an element. Absent and null fields are left out, and so are elements without content. */
function encodeXml(plan: RecordPlan, value: Fields, place?: RecordPath): XmlElement {
  const { root } = plan;
  const { name, namespace, fixed } = root;
  return (
    build(root, new RecordSource(plan, value, place)) ?? {
      name,
      namespace,
      attributes: [...fixed],
      children: [],
      text: "",
    }
  );
}

const NIL: XmlAttribute = { name: "nil", namespace: XSI_NAMESPACE, value: "true" };

/** Undefined if there is nothing to write. */
function build(plan: NodePlan, source: RecordSource): XmlElement | undefined {
  if (plan.nil && source.isNull(plan.nil)) {
    const { name, namespace, fixed } = plan;
    return { name, namespace, attributes: [...fixed, NIL], children: [], text: "" };
  }
  if (plan.nested) {
    const inner = source.nestedOf(plan.nested);
    return inner && encodeXml(plan.nested.plan(), inner.record, inner.place);
  }
  const attributes: XmlAttribute[] = [];
  const children: XmlElement[] = [];
  let isThere = plan.opens.some((scope) => source.has(scope));
  for (const fixed of plan.fixed) {
    if (!plan.attributes.some((each) => isSameName(each, fixed))) attributes.push(fixed);
  }
  for (const { name, namespace, leaves } of plan.attributes) {
    const found = firstOf(leaves, source);
    if (!found) continue;
    attributes.push({ name, namespace, value: found.text });
    isThere ||= found.counts;
  }
  if (firstOf(plan.presence, source)) isThere = true;
  const text = firstOf(plan.text, source);
  if (text?.counts) isThere = true;
  for (const child of plan.children) {
    if (buildChild(child, children, source)) isThere = true;
  }
  return isThere
    ? { name: plan.name, namespace: plan.namespace, attributes, children, text: text?.text ?? "" }
    : undefined;
}

/** Returns whether the surrounding element is needed because of it. */
function buildChild(plan: NodePlan, children: XmlElement[], source: RecordSource): boolean {
  if (!plan.list) {
    const built = build(plan, source);
    if (built) children.push(built);
    return built !== undefined;
  }
  const items = source.itemsOf(plan.list);
  if (!items) return false;
  const inner = plan.list.plan();
  for (const { record, place } of items) children.push(encodeXml(inner, record, place));
  return items.length > 0 || plan.list.keepEmpty;
}

/** The value of one place: of several fields, the first with a value. */
function firstOf(leaves: readonly LeafPlan[], source: RecordSource): { text: string; counts: boolean } | undefined {
  for (const leaf of leaves) {
    const { constant } = leaf;
    // An optional constant alone does not need an element; it is written together with others.
    if (constant && source.has(leaf.scope)) return { text: constant.text, counts: !leaf.optional };
    const text = constant ? undefined : source.valueOf(leaf, writeXmlText);
    if (text !== undefined) return { text, counts: true };
  }
  return undefined;
}

function writeXmlText(this: Scalar, value: unknown): string | Mismatch {
  const text = this.write(value);
  const problem = text instanceof Mismatch ? undefined : unwritable(text);
  return problem === undefined ? text : new Mismatch(problem);
}

/** Control characters, lone surrogates and two noncharacters: XML cannot contain them, escaped or not. */
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|\p{Cs}/u;
const NEEDS_ESCAPE_IN_TEXT = /[&<>\r]/;
const NEEDS_ESCAPE_IN_ATTRIBUTE = /[&<>"\t\n\r]/;
const ESCAPES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/**
 * Writes a document. The root's namespace is the default; others get the prefixes of `prefixes`, declared at the root.
 */
export function writeXml(root: XmlElement, prefixes: ReadonlyMap<string, string> = new Map()): string {
  const used = new Set<string>();
  findUsed(root, root.namespace, used);
  findTypeNames(root, prefixes, used);
  const names = new Map(prefixes);
  for (const namespace of used) if (!names.has(namespace)) names.set(namespace, freePrefix(names));
  let declarations = root.namespace === "" ? "" : ` xmlns="${inAttribute(root.namespace)}"`;
  for (const namespace of used) declarations += ` xmlns:${names.get(namespace)}="${inAttribute(namespace)}"`;
  return `<?xml version="1.0" encoding="utf-8"?>\n${element(root, { names, standard: root.namespace }, declarations)}`;
}

/** The character in this text that XML cannot contain, in words; undefined if there is none. */
function unwritable(text: string): string | undefined {
  const found = FORBIDDEN.exec(text)?.[0];
  if (found === undefined) return undefined;
  const code = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return `contains the character U+${code}, which XML cannot hold`;
}

interface Writing {
  names: ReadonlyMap<string, string>;
  /** The namespace of elements without a prefix. */
  standard: string;
}

function element(tree: XmlElement, writing: Writing, declarations: string): string {
  // An element without a namespace cannot use a prefix: it resets the default for itself and its content.
  const resets = tree.namespace === "" && writing.standard !== "";
  const inner = resets ? { ...writing, standard: "" } : writing;
  const returns = tree.namespace !== "" && tree.namespace !== writing.standard;
  const name = returns ? `${writing.names.get(tree.namespace)}:${tree.name}` : tree.name;
  let start = `<${name}${declarations}${resets ? ' xmlns=""' : ""}`;
  for (const { name, namespace, value } of tree.attributes) {
    start += ` ${attributeName(name, namespace, writing)}="${inAttribute(checked(value, name))}"`;
  }
  if (tree.children.length === 0 && tree.text === "") return `${start}/>`;
  let content = tree.text === "" ? "" : inText(checked(tree.text, tree.name));
  for (const child of tree.children) content += element(child, inner, "");
  return `${start}>${content}</${name}>`;
}

function attributeName(name: string, namespace: string, { names }: Writing): string {
  if (namespace === "") return name;
  return `${namespace === XML_NAMESPACE ? "xml" : names.get(namespace)}:${name}`;
}

/** Namespaces that need a prefix. */
function findUsed(tree: XmlElement, standard: string, used: Set<string>): void {
  const inner = tree.namespace === "" ? "" : standard;
  if (tree.namespace !== "" && tree.namespace !== standard) used.add(tree.namespace);
  for (const { namespace } of tree.attributes) if (namespace !== "" && namespace !== XML_NAMESPACE) used.add(namespace);
  for (const child of tree.children) findUsed(child, inner, used);
}

/** The namespaces of the names in `xsi:type`, whose prefixes have to be those of the file. */
function findTypeNames(tree: XmlElement, prefixes: ReadonlyMap<string, string>, used: Set<string>): void {
  for (const { name, namespace, value } of tree.attributes) {
    if (name !== "type" || namespace !== XSI_NAMESPACE) continue;
    const prefix = /^([^:]+):/.exec(value)?.[1];
    for (const [uri, each] of prefixes) if (each === prefix) used.add(uri);
  }
  for (const child of tree.children) findTypeNames(child, prefixes, used);
}

function freePrefix(names: ReadonlyMap<string, string>): string {
  const taken = new Set(names.values());
  for (let number = 1; ; number++) if (!taken.has(`n${number}`)) return `n${number}`;
}

function checked(text: string, name: string): string {
  const problem = unwritable(text);
  if (problem !== undefined) throw new NexusError("ARGUMENTS_INVALID", `${name} ${problem}`, { mayHaveReached: false });
  return text;
}

function inText(text: string): string {
  return NEEDS_ESCAPE_IN_TEXT.test(text) ? text.replace(/[&<>\r]/g, (found) => ESCAPES[found] ?? found) : text;
}

function inAttribute(text: string): string {
  if (!NEEDS_ESCAPE_IN_ATTRIBUTE.test(text)) return text;
  return text.replace(/[&<>"\t\n\r]/g, (found) => ESCAPES[found] ?? found);
}

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

/**
 * The text of a document in UTF-8, US-ASCII or ISO-8859-1; UTF-16 only with a byte order mark. Other encodings are
 * refused by name.
 */
function textOfXml(bytes: Uint8Array): string {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return declaredAs(decode(bytes, "utf-8"), UNICODE);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return declaredAs(decode(bytes, "utf-16le"), new Set(["utf-16"]));
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return declaredAs(decode(bytes, "utf-16be"), new Set(["utf-16"]));

  const encoding = encodingIn(latin1(bytes.subarray(0, HEAD_BYTES))) ?? "utf-8";
  if (UNICODE.has(encoding)) return decode(bytes, "utf-8");
  if (encoding === "us-ascii" || encoding === "ascii") {
    if (bytes.some((byte) => byte > 0x7f)) throw unreadable("it is declared as US-ASCII and holds other characters");
    return latin1(bytes);
  }
  // Not TextDecoder, which uses Windows-1252 instead.
  if (encoding === "iso-8859-1" || encoding === "latin1") return latin1(bytes);
  throw unreadable(`its encoding "${encoding}" is not supported; UTF-8, US-ASCII and ISO-8859-1 are`);
}

function decode(bytes: Uint8Array, encoding: keyof typeof DECODERS | "utf-8"): string {
  if (encoding === "utf-8") {
    const text = utf8Text(bytes);
    if (text === undefined) throw unreadable("its bytes are not UTF-8");
    return text;
  }
  try {
    return DECODERS[encoding].decode(bytes);
  } catch {
    throw unreadable("its bytes are not UTF-16");
  }
}

function latin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
}

function declaredAs(text: string, allowed: ReadonlySet<string>): string {
  const encoding = encodingIn(text.slice(0, HEAD_BYTES));
  if (encoding !== undefined && !allowed.has(encoding)) {
    throw unreadable(`its first bytes and its declared encoding "${encoding}" contradict each other`);
  }
  return text;
}

function encodingIn(head: string): string | undefined {
  return /^<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']/.exec(head)?.[1]?.toLowerCase();
}

function unreadable(problem: string, cause?: unknown): NexusError {
  return new NexusError("PROTOCOL_VIOLATION", `The XML cannot be read: ${problem}`, { cause, mayHaveReached: true });
}
