import { basename, resolve } from "node:path";
import type { CancelSignal } from "../../../async/cancellation.ts";
import { messageOf, NexusError } from "../../../errors/nexus-error.ts";
import { readRegularFile, type FileRead } from "../../../files/regular-file.ts";
import { AddressGuard } from "../../../net/address-guard.ts";
import { guardedRequest } from "../../../net/guarded-request.ts";
import { Network } from "../../../net/network.ts";
import { utf8Text } from "../../../text/utf8-text.ts";
import { visible } from "../../../text/visible.ts";
import { readApart, ReadingProblem } from "../apart/read-apart.ts";
import { bundleFiles, filesAround, type FileSource } from "../bundle-files.ts";
import { isPdf, packedFormat } from "../packed-format.ts";
import {
  MAX_DOCUMENT_LENGTH,
  parseDocument,
  unreadable,
  withoutCredentials,
  type LoadedDocument,
} from "../parse-document.ts";
import { bundleWsdl } from "../wsdl/bundle-wsdl.ts";
import { partsAtAddress, partsInFolder } from "../wsdl/wsdl-parts.ts";

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
