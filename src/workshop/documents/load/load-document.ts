import { basename, resolve, dirname, join, sep } from "node:path";
import type { CancelSignal } from "../../../async/cancellation.ts";
import { messageOf, NexusError } from "../../../errors/nexus-error.ts";
import { readRegularFile, type FileRead } from "../../../files/regular-file.ts";
import { AddressGuard } from "../../../net/address-guard.ts";
import { guardedRequest } from "../../../net/guarded-request.ts";
import { Network } from "../../../net/network.ts";
import { utf8Text } from "../../../text/utf8-text.ts";
import { visible } from "../../../text/visible.ts";
import { readApart, ReadingProblem } from "../apart/read-apart.ts";
import {
  MAX_DOCUMENT_LENGTH,
  parseDocument,
  unreadable,
  withoutCredentials,
  parseText,
  type LoadedDocument,
} from "../parse-document.ts";
import { bundleWsdl, type PartSource } from "../wsdl/bundle-wsdl.ts";
import type { Looks } from "../document-format.ts";
import { realPath, pathInside } from "../../../files/paths.ts";
import { percentDecoded } from "../../../text/percent-decoded.ts";
import { isRecord } from "../../../json/is-record.ts";
import { BUNDLED_FILES } from "../openapi/api-document.ts";

const MAX_FILES = 500;
const MAX_UNREAD = 20;
/** Azure names a file with sample requests and answers in each operation; nothing is read from them. */
const EXAMPLE_FILES = "x-ms-examples";

const AS_TEXT = "Save it as PDF, HTML or Markdown, and import that.";
/** Formats by their first bytes, in hexadecimal digits. Nothing is unpacked: small archives may have a lot inside. */
const PACKED: readonly [string, Looks][] = [
  ["504b0304", archive("a ZIP archive")],
  ["504b0506", archive("a ZIP archive")],
  ["504b0708", archive("a ZIP archive")],
  ["1f8b", archive("a gzip archive")],
  ["425a68", archive("a bzip2 archive")],
  ["fd377a585a00", archive("an xz archive")],
  ["377abcaf271c", archive("a 7z archive")],
  ["28b52ffd", archive("a zstd archive")],
  ["526172211a07", archive("a RAR archive")],
  ["d0cf11e0", { like: "a document of an old office program", fix: AS_TEXT }],
  ...["89504e47", "ffd8ff", "47494638", "49492a00", "4d4d002a"].map((start): [string, Looks] => [
    start,
    { like: "a picture", fix: "Run text recognition (OCR) on it, correct the text, and import that." },
  ]),
];

export interface LoadDocumentOptions {
  /** The name for evidence; default: made of the name of the file. */
  name?: string | undefined;
  /** Hosts that may be reached although their address is internal. */
  allow?: readonly string[] | undefined;
  /** Additional trusted certificate authorities (PEM). */
  ca?: readonly string[] | undefined;
  /** A folder around the document: files in it may be read if the document refers to them. Default: its own folder. */
  root?: string | undefined;
  timeoutMs?: number | undefined;
  signal?: CancelSignal | undefined;
}

const TIMEOUT_MS = 30_000;
const ACCEPT =
  "application/json, application/yaml, application/vnd.oai.openapi, text/yaml, text/plain;q=0.9, */*;q=0.8";

/** Loads an API description from a file, together with the files that it refers to, or from an address (http or https). */
export async function loadDocument(source: string, options: LoadDocumentOptions = {}): Promise<LoadedDocument> {
  const isAddress = /^https?:\/\//i.test(source);
  const { bytes, from } = isAddress ? await download(source, options) : readFile(source);
  const name = options.name ?? nameFrom(from);
  if (isPdf(bytes)) return { ...(await readPdf(bytes, name, options.signal)), source: from };
  const packed = packedFormat(bytes);
  if (packed) throw unreadable(`${from} is ${packed.like}`, packed.fix);
  const text = utf8Text(bytes);
  if (text === undefined) {
    throw unreadable(`${from} is not UTF-8 text`, "Save it as UTF-8, or import an OpenAPI or Postman file instead.");
  }
  const document = parsed(text, name, { from, source });
  if (document.format === "wsdl-1.1") {
    const parts = isAddress ? partsAtAddress(source, (url) => download(url, options)) : partsInFolder(from);
    return { ...(await bundleWsdl(document, isAddress ? source : basename(from), parts)), source: from };
  }
  const files = isAddress ? filesAtAddress(source, options) : filesAround(from, options.root);
  return { ...(await bundleFiles(document, files)), source: from };
}

/** Files at the host of a description, so that it cannot make requests to others. */
function filesAtAddress(source: string, options: LoadDocumentOptions): FileSource {
  return {
    read: async (file) => {
      const url = new URL(file.split("/").map(encodeURIComponent).join("/"), source);
      const { bytes } = await download(url.href, options);
      const text = utf8Text(bytes);
      if (text === undefined) throw unreadable("it is not UTF-8 text", "Save it as UTF-8.");
      return text;
    },
  };
}

/** A PDF as text, with form feeds between its pages. */
async function readPdf(bytes: Uint8Array, name: string, signal?: CancelSignal): Promise<LoadedDocument> {
  const here = async () => (await import("../pdf/pdf-text.ts")).pdfText(bytes);
  try {
    const { text, remarks } = await readApart({ kind: "pdf", bytes }, here, { signal });
    return withoutCredentials({ name, text, value: undefined, format: "pdf", remarks });
  } catch (error) {
    if (!(error instanceof ReadingProblem)) throw error;
    const smaller = "Save only the chapters that describe the API as a PDF, and import that.";
    throw unreadable(`The PDF ${name} ${visible(error.message)}`, error.fix ?? smaller, { cause: error });
  }
}

/** A person knows a document by what was given, not by its name in evidence. */
function parsed(text: string, name: string, { from, source }: { from: string; source: string }): LoadedDocument {
  try {
    return parseDocument(text, name, from);
  } catch (error) {
    if (!(error instanceof NexusError)) throw error;
    const { code, message, details } = error;
    throw new NexusError(code, message.replace(`The document ${name} `, `The document ${visible(source)} `), details);
  }
}

/** `openapi` of `https://api.example/openapi.v3.json`. */
function nameFrom(source: string): string {
  const file = basename(source.replace(/[/\\]+$/, "")).replace(
    /\.(?:json|ya?ml|txt|md|markdown|x?html?|pdf|wsdl|xml|graphqls?|gql|har|sh)$/i,
    "",
  );
  const name = file
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 40);
  return /^[a-z]/.test(name) ? name : `document${name === "" ? "" : `-${name}`}`;
}

function readFile(path: string): { bytes: Uint8Array; from: string } {
  const from = resolve(path);
  let found: FileRead;
  try {
    found = readRegularFile(from, MAX_DOCUMENT_LENGTH);
  } catch (error) {
    throw unreadable(`The document ${path} cannot be read: ${messageOf(error)}`, "Check its permissions.", {
      cause: error,
    });
  }
  switch (found.kind) {
    case "read":
      return { bytes: found.bytes, from };
    case "missing":
      throw unreadable(`The document ${path} does not exist`, "Give the path of a file, or an address (https://…).");
    case "not-a-file":
      throw unreadable(`${path} is a folder, a pipe or a device`, "Give the path of the description itself.");
    case "too-large":
      throw unreadable(
        `The document ${path} is larger than the limit of ${MAX_DOCUMENT_LENGTH} bytes`,
        "Split it into several descriptions, for example one for each tag, and import those.",
      );
  }
}

const SAVE_IT = "If you trust it, save the document to a file, and use the file.";

/** Redirects are refused: the person decides whether the other address is the right one. */
async function download(url: string, options: LoadDocumentOptions): Promise<{ bytes: Uint8Array; from: string }> {
  const { allow = [], ca, timeoutMs = TIMEOUT_MS, signal } = options;
  const { origin, pathname } = parsedUrl(url);
  const from = origin + pathname;
  await using network = new Network({ guard: new AddressGuard({ allow, advice: SAVE_IT }), ca });
  const { status, body } = await guardedRequest(network, {
    method: "GET",
    url: url.replace(/#.*$/s, ""),
    allow: [`${origin}/`],
    headers: { accept: ACCEPT, "user-agent": "nexus-mcp" },
    timeoutMs,
    maxBytes: MAX_DOCUMENT_LENGTH,
    signal,
  });
  if (status !== 200) {
    throw new NexusError("HTTP_STATUS", `${from} answered with the status ${status}`, {
      status,
      hint: "Open the address in a browser. If it needs a login, save the document to a file and import that.",
      mayHaveReached: true,
    });
  }
  return { bytes: body, from };
}

function parsedUrl(url: string): URL {
  if (URL.canParse(url)) return new URL(url);
  throw unreadable("The address of the document is not a URL", "Write it like https://api.example/openapi.json");
}

/** Whether bytes are a PDF: its mark may be after a byte order mark and blanks. */
function isPdf(bytes: Uint8Array): boolean {
  return /^(?:\u00ef\u00bb\u00bf)?\s*%PDF-\d/.test(beginning(bytes, 1_024));
}

/** What bytes are that are no text; undefined if nothing is recognised. */
function packedFormat(bytes: Uint8Array): Looks | undefined {
  const start = beginning(bytes, 4_096);
  const digits = Buffer.from(start.slice(0, 8), "latin1").toString("hex");
  const found = PACKED.find(([mark]) => digits.startsWith(mark))?.[1];
  const isOffice = /\[Content_Types\]\.xml|mimetypeapplication\/vnd\.oasis|word\/document\.xml/.test(start);
  if (found && isOffice) return { like: "a document of an office program", fix: AS_TEXT };
  return found ?? (start.slice(257, 262) === "ustar" ? archive("a tar archive") : undefined);
}

function archive(like: string): Looks {
  return { like, fix: "Unpack it, and import the description or the manual inside." };
}

/** One character for each byte. */
function beginning(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, length)).toString("latin1");
}

/** Files in the folder of a description. */
function partsInFolder(path: string): PartSource {
  const folder = realPath(dirname(path));
  return {
    nameOf: (location, from) => {
      if (/^[a-z][a-z0-9+.-]+:/i.test(location)) return undefined;
      const file = join(dirname(from), percentDecoded(location.split("#", 1)[0] ?? "")).replaceAll(sep, "/");
      return pathInside(join(folder, file), folder) === undefined ? undefined : file;
    },
    read: async (file) => {
      const text = textInside(folder, join(folder, file));
      if (text === undefined)
        throw unreadable(`${file} is not beside the description`, "Put it there and import again.");
      return text;
    },
  };
}

/** Addresses at the host of a description, so that it cannot make requests to others. */
function partsAtAddress(
  source: string,
  download: (url: string) => Promise<{ bytes: Uint8Array; from: string }>,
): PartSource {
  return {
    nameOf: (location, from) => {
      if (!URL.canParse(location, from)) return undefined;
      const url = new URL(location, from);
      return url.origin === new URL(source).origin ? url.href : undefined;
    },
    read: async (url) => {
      const { bytes, from } = await download(url);
      const text = utf8Text(bytes);
      if (text === undefined) throw unreadable(`${from} is not UTF-8 text`, "Save it as UTF-8.");
      return text;
    },
  };
}

/** Reads the files that a document refers to, by their paths from its folder. */
interface FileSource {
  /** Throws if the file may not be read or is not there; people read the message. */
  read(file: string): Promise<string>;
}

/**
 * The document together with the files that it refers to, as one document, so that its hash and its evidence cover all
 * of them. What cannot be read stays unresolved.
 */
async function bundleFiles(document: LoadedDocument, source: FileSource): Promise<LoadedDocument> {
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
function filesAround(path: string, root: string | undefined): FileSource {
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
function textInside(folder: string, path: string): string | undefined {
  if (pathInside(path, folder) === undefined || pathInside(realPath(path), folder) === undefined) return undefined;
  try {
    const found = readRegularFile(path, MAX_DOCUMENT_LENGTH);
    return found.kind === "read" ? utf8Text(found.bytes) : undefined;
  } catch {
    return undefined;
  }
}
