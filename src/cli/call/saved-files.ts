import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";

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
  readonly #stem: string;
  #count = 0;

  /** `name`: a tool or resource, from which file names are derived. */
  constructor(folder: string | undefined, name: string) {
    this.#folder = folder ?? "";
    this.#stem = fileStem(name);
  }

  /** Returns the path of the new file. */
  async save(data: Uint8Array, mimeType: string | undefined): Promise<string> {
    if (this.#folder !== "") await mkdir(this.#folder, { recursive: true });
    const extension = extensionFor(mimeType);
    for (;;) {
      const path = join(this.#folder, `${this.#stem}-${++this.#count}.${extension}`);
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
