import { readFileSync, statSync, type Stats } from "node:fs";
import { messageOf, NexusError } from "../errors/nexus-error.ts";
import { parseJson } from "./json-source.ts";
import { isTooDeep, type SourceNode } from "./source-node.ts";

export type Format = "json" | "yaml" | "toml";

/** Loaded when a file needs one: together they are most of what a start would cost. */
const PARSERS: Record<Format, () => Promise<(text: string, file: string) => SourceNode>> = {
  json: async () => parseJson,
  yaml: async () => (await import("./yaml-source.ts")).parseYaml,
  toml: async () => (await import("./toml-source.ts")).parseToml,
};

const TOO_DEEP = "The configuration file is nested too deeply";
const MAX_BYTES = 32 * 1024 * 1024;

export function formatOf(file: string): Format {
  if (/\.ya?ml$/i.test(file)) return "yaml";
  return /\.toml$/i.test(file) ? "toml" : "json";
}

interface TextOptions {
  /** What the file is, for errors. */
  called?: string;
  /** Refuses what is neither UTF-8 nor UTF-16; else what cannot be decoded becomes a sign that says so. */
  isStrict?: boolean;
}

/**
 * The text of a configuration file; undefined where there is none. Read at once: a handful of small files is there
 * before a thread to read them in would be.
 */
export async function loadText(
  file: string,
  { called = "The configuration file", isStrict = false }: TextOptions = {},
): Promise<string | undefined> {
  const facts = factsOf(file);
  if (!facts) return undefined;
  try {
    // A pipe in a project's folder would be waited for without end.
    if (!facts.isFile()) throw unreadable(file, `${called} is no file`);
    if (facts.size > MAX_BYTES)
      throw unreadable(file, `${called} has ${facts.size} bytes; at most ${MAX_BYTES} are read`);
    return decode(readFileSync(file), isStrict);
  } catch (error) {
    if (error instanceof NexusError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
      throw unreadable(file, `${called} is not written in UTF-8: save it so in an editor, then change it`, error);
    }
    throw unreadable(file, `${called} cannot be read: ${messageOf(error)}`, error);
  }
}

/** Undefined also where a folder on the way may not be entered: what cannot be seen is not there. */
function factsOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Reads a text as the format its file's name tells. */
export async function parseSource(text: string, file: string): Promise<SourceNode> {
  const parse = await PARSERS[formatOf(file)]();
  try {
    const root = parse(text, file);
    if (isTooDeep(root)) throw unreadable(file, TOO_DEEP);
    return root;
  } catch (error) {
    if (error instanceof NexusError) throw error;
    // A parser at its limits costs this file, not the others.
    const what =
      error instanceof RangeError ? TOO_DEEP : `The configuration file cannot be understood: ${messageOf(error)}`;
    throw unreadable(file, what, error);
  }
}

/** A text in the encoding that a file has, with the byte order mark that it has; UTF-8 where there is no file. */
export function encodedLike(file: string, text: string): Buffer {
  const bytes = factsOf(file)?.isFile() ? readFileSync(file) : Buffer.alloc(0);
  if (isUtf16(bytes)) return Buffer.from(`\uFEFF${text}`, "utf16le");
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return Buffer.from(hasMark ? `\uFEFF${text}` : text, "utf8");
}

/** Windows PowerShell writes UTF-16, many editors a byte order mark. */
function decode(bytes: Buffer, fatal: boolean): string {
  return new TextDecoder(isUtf16(bytes) ? "utf-16le" : "utf-8", { fatal }).decode(bytes);
}

function isUtf16(bytes: Buffer): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xfe;
}

function unreadable(file: string, message: string, cause?: unknown): NexusError {
  const permission = ["EACCES", "EPERM"].includes((cause as NodeJS.ErrnoException | undefined)?.code ?? "");
  return new NexusError(permission ? "PERMISSION_DENIED" : "CONFIG_INVALID", message, {
    phase: "config",
    source: { file },
    cause,
    mayHaveReached: false,
  });
}
