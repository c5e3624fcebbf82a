import { dirname, join, sep } from "node:path";
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

/** The file that a pointer of a bundled document is in; undefined for the document itself. */
export function bundledFile(pointer: string): string | undefined {
  if (!pointer.startsWith(`/${BUNDLED_FILES}/`)) return undefined;
  return pointerParts(pointer)[1];
}

/**
 * The document together with the files that it refers to, as one document, so that its hash and its evidence cover all
 * of them. Only files in the folder of the document are read; what is not found stays unresolved.
 */
export function bundleFiles(document: LoadedDocument, path: string): LoadedDocument {
  const { value, name } = document;
  if (!isRecord(value) || !document.format.startsWith("openapi")) return document;
  const folder = realPath(dirname(path));
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
    const text = textInside(folder, file);
    if (text === undefined) continue;
    length += text.length;
    if (length > MAX_DOCUMENT_LENGTH) {
      remarks.push(`Its files have more than ${MAX_DOCUMENT_LENGTH} characters; ${file} and others were not read`);
      break;
    }
    try {
      const part = parseText(text.replaceAll("\r\n", "\n"), file).value;
      files[file] = part;
      waiting.push(...filesNamedIn(part, file));
    } catch (error) {
      remarks.push(`The file ${file} cannot be read: ${error instanceof Error ? error.message : "unknown error"}`);
    }
  }
  if (Object.keys(files).length === 0) return { ...document, remarks: [...document.remarks, ...remarks] };
  const bundle = JSON.stringify({ ...value, [BUNDLED_FILES]: files }, null, 2);
  const bundled = parseDocument(`${bundle}\n`, name);
  return { ...bundled, remarks: [...document.remarks, ...remarks] };
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
    for (const member of Object.values(value)) {
      if (typeof member === "object" && member !== null) waiting.push(member);
    }
  }
  return [...found];
}

/** The text of a file whose real place is in the folder. */
export function textInside(folder: string, file: string): string | undefined {
  const path = join(folder, file);
  if (pathInside(path, folder) === undefined || pathInside(realPath(path), folder) === undefined) return undefined;
  try {
    const found = readRegularFile(path, MAX_DOCUMENT_LENGTH);
    return found.kind === "read" ? utf8Text(found.bytes) : undefined;
  } catch {
    return undefined;
  }
}
