import { messageOf } from "../../../errors/nexus-error.ts";
import { visible } from "../../../text/visible.ts";
import { MAX_DOCUMENT_LENGTH, withoutCredentials, type LoadedDocument } from "../parse-document.ts";
import { checkSize, readXmlNodes, XSD, type XmlNode } from "./xml-nodes.ts";

/** The namespace of the elements around the files of a bundle. */
export const BUNDLE = "urn:nexus:wsdl-bundle";

const WSDL = "http://schemas.xmlsoap.org/wsdl/";
const MAX_FILES = 300;
/** Namespaces whose schemas are known. */
const KNOWN = new Set([XSD, "http://www.w3.org/XML/1998/namespace", "http://schemas.xmlsoap.org/soap/encoding/", WSDL]);

/** Reads the files that a description imports. */
export interface PartSource {
  /** The whole name of a part that is named in another one; undefined if it may not be read. */
  nameOf(location: string, from: string): string | undefined;
  read(name: string): Promise<string>;
}

interface Part {
  name: string;
  text: string;
  /** Target namespaces of the schemas that include it. */
  targets: Set<string>;
}

interface Reference {
  location: string;
  from: string;
  /** For an included schema: the target namespace around it. */
  target: string | undefined;
  namespace: string;
}

/**
 * The description together with the schemas and descriptions that it imports, as one document, so that its hash and its
 * lines cover all of them. Lines of the description itself stay as they are, unless it is written without line ends.
 */
export async function bundleWsdl(document: LoadedDocument, name: string, source: PartSource): Promise<LoadedDocument> {
  checkSize(document.text, document.name);
  const main = laidOut(document.text);
  const parts = new Map<string, Part>([[name, { name, text: main, targets: new Set() }]]);
  const remarks: string[] = [];
  const waiting = referencesIn(readXmlNodes(main, document.name), name, undefined);
  let length = main.length;
  let visits = 0;
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { location, from, target = "", namespace } = next;
    if (KNOWN.has(namespace)) continue;
    if (++visits > MAX_FILES * 4 || parts.size > MAX_FILES) {
      remarks.push(`It imports more than ${MAX_FILES} files; the others were not read`);
      break;
    }
    const whole = source.nameOf(location, from);
    if (whole === undefined) {
      remarks.push(
        `The import of ${visible(location.slice(0, 200))} was not read: only files beside the description and addresses of its own host are`,
      );
      continue;
    }
    const known = parts.get(whole);
    if (known && (known.targets.has(target) || next.target === undefined)) continue;
    try {
      const text = known?.text ?? laidOut(withLineFeeds(await readPart(source, whole)));
      const root = readXmlNodes(text, whole);
      if (known) known.targets.add(target);
      else {
        length += text.length;
        if (length > MAX_DOCUMENT_LENGTH) {
          remarks.push(
            `Its files have more than ${MAX_DOCUMENT_LENGTH} characters; ${visible(whole.slice(0, 200))} and others were not read`,
          );
          break;
        }
        parts.set(whole, { name: whole, text, targets: new Set(next.target === undefined ? [] : [target]) });
      }
      waiting.push(...referencesIn(root, whole, target));
    } catch (error) {
      remarks.push(
        `The import of ${visible(whole.slice(0, 200))} cannot be read: ${visible(messageOf(error).slice(0, 200))}`,
      );
    }
  }
  const all = [...document.remarks, ...new Set(remarks)];
  const text = parts.size === 1 ? main : bundled([...parts.values()]);
  return withoutCredentials({ ...document, text, remarks: all });
}

async function readPart(source: PartSource, name: string): Promise<string> {
  const text = await source.read(name);
  checkSize(text, name);
  return text;
}

function referencesIn(root: XmlNode, from: string, around: string | undefined): Reference[] {
  if (root.namespace === XSD) return schemaReferences(root, from, around);
  const found: Reference[] = [];
  for (const child of root.children) {
    if (child.namespace !== WSDL) continue;
    const location = child.attributes.get("location");
    if (child.name === "import" && location !== undefined) {
      found.push({ location, from, target: undefined, namespace: "" });
    }
    if (child.name === "types")
      found.push(...child.children.flatMap((schema) => schemaReferences(schema, from, undefined)));
  }
  return found;
}

function schemaReferences(schema: XmlNode, from: string, around: string | undefined): Reference[] {
  const own = schema.attributes.get("targetNamespace") ?? around ?? "";
  return schema.children.flatMap((child): Reference[] => {
    const location = child.attributes.get("schemaLocation");
    if (child.namespace !== XSD || location === undefined || location === "") return [];
    const namespace = child.attributes.get("namespace") ?? "";
    if (child.name === "import") return [{ location, from, target: undefined, namespace }];
    return child.name === "include" || child.name === "redefine"
      ? [{ location, from, target: own, namespace: "" }]
      : [];
  });
}

function bundled(parts: readonly Part[]): string {
  const files = parts.map(({ name, text, targets }, index) => {
    const given = targets.size === 0 ? "" : ` targets="${escaped([...targets].join(" "))}"`;
    // The first file begins on the first line, so that its lines keep their numbers.
    const start = `<n:file name="${escaped(name.replace(/^.*[/\\]/, ""))}"${given}>${index === 0 ? "" : "\n"}`;
    return `${start}${text.replace(/^\s*<\?xml[^]*?\?>/, "").trimEnd()}\n</n:file>\n`;
  });
  return `<n:bundle xmlns:n="${BUNDLE}">${files.join("")}</n:bundle>\n`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function withLineFeeds(text: string): string {
  return text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
}

/** A line with more characters is not one that a person can look at. */
const LONG_LINE = 600;

/** A description without line ends gets one before each element, so that a line says where something is. */
function laidOut(text: string): string {
  const isLong = text.split("\n").some((line) => line.length > LONG_LINE && line.includes("><"));
  return isLong ? text.replaceAll(/>[ \t]*<(?=[^/!?])/g, ">\n<") : text;
}
