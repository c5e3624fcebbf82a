import { readRegularFile, type FileRead } from "../../files/regular-file.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { CONFIG_WORDS } from "./entry-keys.ts";
import { parseJson } from "../../source/json-source.ts";
import type { KnownWords } from "../../source/masked-line.ts";
import { isTooDeep, MAX_SOURCE_DEPTH, MAX_SOURCE_VALUES, type SourceNode } from "../../source/source-node.ts";

export type Format = "json" | "yaml" | "toml";

type Parser = (text: string, file: string, words: KnownWords) => SourceNode;

/** Loaded on first use: together they would be most of the cost of a start. */
const PARSERS: Record<Format, () => Promise<Parser>> = {
  json: async () => parseJson,
  yaml: async () => (await import("../../source/yaml-source.ts")).parseYaml,
  toml: async () => (await import("../../source/toml-source.ts")).parseToml,
};

const SMALLER = "Remove everything that is not a server entry, or split it into several files.";

const TOO_MUCH =
  "The configuration file is nested too deeply, or has too many values: " +
  `the limits are ${MAX_SOURCE_DEPTH} levels and ${MAX_SOURCE_VALUES} values`;

/** Files of a project are read before they are trusted, and by every command. */
const MAX_BYTES = 1024 * 1024;
/** Some programs keep their history in the file with their servers. Only explicit commands read or edit it. */
export const MAX_CLIENT_BYTES = 32 * 1024 * 1024;

export function formatOf(file: string): Format {
  if (/\.ya?ml$/i.test(file)) return "yaml";
  return /\.toml$/i.test(file) ? "toml" : "json";
}

interface TextOptions {
  /** A description of the file for errors. */
  called?: string;
  /** Refuses text that is neither UTF-8 nor UTF-16; otherwise undecodable bytes are replaced. */
  isStrict?: boolean;
  maxBytes?: number;
}

/**
 * The text of a configuration file; undefined if there is none. Read synchronously, which is faster for a few small
 * files.
 */
export async function loadText(
  file: string,
  { called = "The configuration file", isStrict = false, maxBytes = MAX_BYTES }: TextOptions = {},
): Promise<string | undefined> {
  try {
    const found = readRegularFile(file, maxBytes);
    switch (found.kind) {
      case "read":
        return decode(found.bytes, isStrict);
      case "missing":
        return undefined;
      case "not-a-file":
        throw unreadable(file, `${called} is a folder, a pipe or a device`, {
          hint: "Replace it with a regular file.",
        });
      case "too-large":
        throw unreadable(file, `${called} is larger than the limit of ${maxBytes} bytes`, {
          hint: maxBytes > MAX_BYTES ? "Change it in an editor." : SMALLER,
        });
    }
  } catch (error) {
    if (error instanceof NexusError) throw error;
    if ((error as NodeJS.ErrnoException).code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
      throw unreadable(file, `${called} is not UTF-8. Save it as UTF-8 in an editor first`, {
        cause: error,
      });
    }
    throw unreadable(file, `${called} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** Parses a text in the format that the name of its file shows. */
export async function parseSource(text: string, file: string): Promise<SourceNode> {
  const parse = await PARSERS[formatOf(file)]();
  try {
    const root = parse(text, file, CONFIG_WORDS);
    if (isTooDeep(root)) throw new RangeError("nested too deeply");
    return root;
  } catch (error) {
    if (error instanceof NexusError) throw error;
    // A parser error because of its limits affects only this file.
    if (error instanceof RangeError) throw unreadable(file, TOO_MUCH, { hint: SMALLER, cause: error });
    throw unreadable(file, `The configuration file cannot be parsed: ${messageOf(error)}`, { cause: error });
  }
}

/** Encodes a text like an existing file, with its byte order mark; UTF-8 if there is no file. */
export function encodedLike(file: string, text: string): Buffer {
  const found: FileRead = readRegularFile(file, MAX_CLIENT_BYTES);
  const bytes = found.kind === "read" ? found.bytes : Buffer.alloc(0);
  if (isUtf16(bytes)) return Buffer.from(`\uFEFF${text}`, "utf16le");
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return Buffer.from(hasMark ? `\uFEFF${text}` : text, "utf8");
}

/** Windows PowerShell writes UTF-16, and many editors write a byte order mark. */
function decode(bytes: Buffer, fatal: boolean): string {
  return new TextDecoder(isUtf16(bytes) ? "utf-16le" : "utf-8", { fatal }).decode(bytes);
}

function isUtf16(bytes: Buffer): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xfe;
}

function unreadable(
  file: string,
  message: string,
  { hint, cause }: { hint?: string; cause?: unknown } = {},
): NexusError {
  const permission = ["EACCES", "EPERM"].includes((cause as NodeJS.ErrnoException | undefined)?.code ?? "");
  return new NexusError(permission ? "PERMISSION_DENIED" : "CONFIG_INVALID", message, {
    phase: "config",
    source: { file },
    hint,
    cause,
    mayHaveReached: false,
  });
}
