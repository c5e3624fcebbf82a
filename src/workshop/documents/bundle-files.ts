import { dirname, join, sep } from "node:path";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { pathInside, realPath } from "../../files/paths.ts";
import { readRegularFile } from "../../files/regular-file.ts";
import { pointerParts } from "../../schema/pointer.ts";
import { percentDecoded } from "../../text/percent-decoded.ts";
import { utf8Text } from "../../text/utf8-text.ts";
import { MAX_DOCUMENT_LENGTH, parseDocument, parseText, type LoadedDocument } from "./parse-document.ts";

/** The member of a bundled document that has the other files, by their paths from the folder of the document. */
export const BUNDLED_FILES = "x-nexus-files";

const MAX_FILES = 500;
const MAX_UNREAD = 20;
/** Azure names a file with sample requests and answers in each operation; nothing is read from them. */
const EXAMPLE_FILES = "x-ms-examples";

/** The file that a pointer of a bundled document is in; undefined for the document itself. */
export function bundledFile(pointer: string): string | undefined {
  if (!pointer.startsWith(`/${BUNDLED_FILES}/`)) return undefined;
  return pointerParts(pointer)[1];
}

/** Reads the files that a document refers to, by their paths from its folder. */
export interface FileSource {
  /** Throws if the file may not be read or is not there; people read the message. */
  read(file: string): Promise<string>;
}

/**
 * The document together with the files that it refers to, as one document, so that its hash and its evidence cover all
 * of them. What cannot be read stays unresolved.
 */
export async function bundleFiles(document: LoadedDocument, source: FileSource): Promise<LoadedDocument> {
  const { value, name } = document;
  if (!isRecord(value) || !document.format.startsWith("openapi")) return document;
  const files: Record<string, unknown> = {};
  const remarks: string[] = [];
  const tried = new Set<string>();
  let length = document.text.length;
  const waiting = filesNamedIn(value, "");
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (tried.has(file)) continue;
    tried.add(file);
    if (tried.size > MAX_FILES) {
      remarks.push(`It refers to more than ${MAX_FILES} files; the others were not read`);
      break;
    }
    try {
      const text = await source.read(file);
      length += text.length;
      if (length > MAX_DOCUMENT_LENGTH) {
        remarks.push(`Its files have more than ${MAX_DOCUMENT_LENGTH} characters; ${file} and others were not read`);
        break;
      }
      const part = parseText(text.replaceAll("\r\n", "\n"), file).value;
      files[file] = part;
      waiting.push(...filesNamedIn(part, file));
    } catch (error) {
      if (error instanceof NexusError && error.code === "CANCELLED") throw error;
      if (remarks.length < MAX_UNREAD) remarks.push(`The file ${file} was not read: ${messageOf(error)}`);
    }
  }
  if (Object.keys(files).length === 0) return { ...document, remarks: [...document.remarks, ...remarks] };
  const bundle = JSON.stringify({ ...value, [BUNDLED_FILES]: files }, null, 2);
  const bundled = parseDocument(`${bundle}\n`, name);
  return { ...bundled, remarks: [...new Set([...document.remarks, ...bundled.remarks, ...remarks])] };
}

/** The files in the folder of a document, or in a folder around it that a person named. */
export function filesAround(path: string, root: string | undefined): FileSource {
  const folder = realPath(dirname(path));
  const within = root === undefined ? folder : realPath(root);
  return {
    read: async (file) => {
      const path = join(folder, file);
      const text = textInside(within, path);
      if (text !== undefined) return text;
      const isInside = pathInside(path, within) !== undefined && pathInside(realPath(path), within) !== undefined;
      if (isInside) throw new Error("it is not there, or not text");
      throw new Error(
        root === undefined
          ? "it is not in the folder of the description. Name a folder that has both with --root"
          : "it is not in the folder of --root",
      );
    },
  };
}

/** Paths from the folder, with slashes. */
function filesNamedIn(root: unknown, from: string): string[] {
  const found = new Set<string>();
  const waiting: unknown[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== "object" || value === null) continue;
    const ref: unknown = isRecord(value) ? value["$ref"] : undefined;
    if (typeof ref === "string" && ref !== "" && !/^(?:#|[a-z][\w+.-]*:|\/)/i.test(ref)) {
      const file = percentDecoded(ref.split("#", 1)[0] ?? "");
      // A name without an extension is usually that of a schema.
      if (file.includes(".") || file.includes("/")) found.add(join(dirname(from), file).replaceAll(sep, "/"));
    }
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === "object" && member !== null && name !== EXAMPLE_FILES) waiting.push(member);
    }
  }
  return [...found];
}

/** The text of a file whose path and real place are in the folder. */
export function textInside(folder: string, path: string): string | undefined {
  if (pathInside(path, folder) === undefined || pathInside(realPath(path), folder) === undefined) return undefined;
  try {
    const found = readRegularFile(path, MAX_DOCUMENT_LENGTH);
    return found.kind === "read" ? utf8Text(found.bytes) : undefined;
  } catch {
    return undefined;
  }
}
