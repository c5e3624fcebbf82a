import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { visible, visibleLines } from "../../text/visible.ts";
import { isRecord } from "../../json/is-record.ts";
import type { CallToolResult, Content, ResourceContents } from "../../protocol/mcp.ts";
import { repeatsStructure } from "../../protocol/repeated-structure.ts";
import { sizeText } from "../../text/byte-size.ts";
import type { Output } from "../output/output.ts";

export type Printing = Pick<Output, "line" | "note" | "style" | "columns">;

/** Prints the content of results: text as text; other content is named, and saved if it cannot be shown. */
export class ContentPrinter {
  readonly #out: Printing;
  readonly #files: SavedFiles;

  constructor(out: Printing, files: SavedFiles) {
    this.#out = out;
    this.#files = files;
  }

  async toolResult({ content, structuredContent }: CallToolResult): Promise<void> {
    const blocks = Array.isArray(content) ? content : [];
    for (const block of blocks) await this.block(block);
    if (structuredContent === undefined) {
      if (blocks.length === 0) this.#out.note("The tool returned no content.");
      return;
    }
    if (repeatsStructure(blocks, structuredContent)) return;
    if (blocks.length > 0) this.#out.line(this.#label("structured", []));
    this.#out.line(visibleLines(JSON.stringify(structuredContent, undefined, 2)));
  }

  async block(block: Content): Promise<void> {
    if (!isRecord(block)) return this.#unknown({ type: typeof block, value: block });
    const { type, text, data, mimeType, resource } = block;
    if (type === "text" && typeof text === "string") return this.#text(text);
    if ((type === "image" || type === "audio") && typeof data === "string") {
      return this.#binary(type, data, mimeType);
    }
    if (type === "resource" && isRecord(resource)) return this.resource(resource);
    if (type === "resource_link" && typeof block.uri === "string") return this.#link(block);
    this.#unknown(block);
  }

  async resource(resource: ResourceContents): Promise<void> {
    const { uri, mimeType, text, blob } = resource;
    if (typeof text === "string") {
      this.#out.line(this.#label("resource", [uri, mimeType]));
      this.#text(text);
    } else if (typeof blob === "string") await this.#binary(`resource ${uri}`, blob, mimeType);
    else this.#unknown({ ...resource, type: "resource" });
  }

  /** On a terminal, JSON is indented for people. Everything else is printed unchanged. */
  #text(text: string): void {
    const shown = this.#out.columns === undefined ? text : indentedJson(text);
    this.#out.line(visibleLines(shown.replace(/\r?\n$/, "")));
  }

  async #binary(what: string, base64: string, mimeType: string | undefined): Promise<void> {
    const data = Buffer.from(base64, "base64");
    if (!isBase64(base64))
      this.#out.note(`warning: the data of ${visible(what)} is not valid base64; the readable part was saved`);
    const path = await this.#files.save(data, typeof mimeType === "string" ? mimeType : undefined);
    this.#out.line(`${this.#label(what, [mimeType, sizeText(data.length)])} saved as ${path}`);
  }

  #link({ uri, name, title, description, mimeType, size }: Content): void {
    const facts = [mimeType, typeof size === "number" ? sizeText(size) : undefined];
    const called = [title, name].find((each) => typeof each === "string" && each !== "") as string | undefined;
    this.#out.line(`${this.#label("link", facts)} ${visible(uri ?? "")}${called ? ` – ${visible(called)}` : ""}`);
    if (typeof description === "string") this.#out.line(`  ${visible(description)}`);
  }

  #unknown({ type, ...rest }: Content): void {
    this.#out.line(`${this.#label(`unknown kind ${JSON.stringify(type)}`, [])} ${visible(JSON.stringify(rest))}`);
  }

  #label(what: string, facts: readonly (string | undefined)[]): string {
    const known = facts.filter((fact) => typeof fact === "string");
    return this.#out.style("dim", `[${visible([what, known.join(", ")].filter((part) => part !== "").join(" "))}]`);
  }
}

function indentedJson(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

/** Node silently ignores characters that are not Base64. */
export function isBase64(text: string): boolean {
  const letters = text.replaceAll(/\s/g, "");
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(letters) && letters.replace(/=+$/, "").length % 4 !== 1;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/jpeg": "jpg",
  "image/svg+xml": "svg",
  "image/tiff": "tif",
  "image/x-icon": "ico",
  "audio/mpeg": "mp3",
  "audio/x-wav": "wav",
  "audio/wave": "wav",
  "audio/mp4": "m4a",
  "text/plain": "txt",
  "text/markdown": "md",
  "text/javascript": "js",
  "application/gzip": "gz",
  "application/octet-stream": "bin",
  "application/xhtml+xml": "html",
};

/** Saves content that cannot be shown as text; existing files are never overwritten. */
export class SavedFiles {
  readonly #folder: string;
  readonly #name: string;
  #count = 0;

  /** `name`: a tool or resource, from which file names are derived. */
  constructor(folder: string | undefined, name: string) {
    this.#folder = folder ?? "";
    this.#name = name;
  }

  /** Returns the path of the new file. */
  async save(data: Uint8Array, mimeType: string | undefined): Promise<string> {
    if (this.#folder !== "") await mkdir(this.#folder, { recursive: true });
    const extension = extensionFor(mimeType);
    for (;;) {
      const path = join(this.#folder, `${fileStem(this.#name)}-${++this.#count}.${extension}`);
      try {
        await writeFile(path, data, { flag: "wx" });
        return path;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") continue;
        throw new NexusError("PERMISSION_DENIED", `${path} cannot be written: ${messageOf(error)}`, {
          cause: error,
          hint: "Choose a folder: --save FOLDER.",
        });
      }
    }
  }
}

/** A file name that is valid on every system. */
export function fileStem(name: string): string {
  const plain = name
    .replaceAll(/[^A-Za-z0-9_.-]+/g, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "")
    .slice(0, 80);
  return plain === "" ? "result" : plain;
}

export function extensionFor(mimeType = ""): string {
  const plain = mimeType.split(";")[0]?.trim().toLowerCase() ?? "";
  const known = Object.hasOwn(EXTENSIONS, plain) ? EXTENSIONS[plain] : undefined;
  if (known !== undefined) return known;
  const subtype = plain.split("/")[1]?.replace(/^x-/, "").split("+").at(-1) ?? "";
  return /^[a-z0-9]{1,8}$/.test(subtype) ? subtype : "bin";
}
