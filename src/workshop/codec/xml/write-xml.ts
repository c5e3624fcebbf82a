import { NexusError } from "../../../errors/nexus-error.ts";
import { XML_NAMESPACE, XSI_NAMESPACE, type XmlElement } from "../record/xml-tree.ts";

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
  const text = `<?xml version="1.0" encoding="utf-8"?>\n${element(root, { names, standard: root.namespace }, declarations)}`;
  return text;
}

/** The character in this text that XML cannot contain, in words; undefined if there is none. */
export function unwritable(text: string): string | undefined {
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
