import { createReadStream } from "node:fs";
import { messageOf } from "../../errors/nexus-error.ts";
import { wrongUsage } from "../command/command-line.ts";

interface KeyValue {
  key: string;
  value: string;
}

/** Parses the `key=value` of an option. */
export function keyValue(text: string, option: string): KeyValue {
  const at = text.indexOf("=");
  if (at < 1)
    throw wrongUsage(
      `${option} "${text}" is not a key=value pair`,
      `Write ${option} ${at === 0 ? "key" : text}=value.`,
    );
  return { key: text.slice(0, at), value: text.slice(at + 1) };
}

/** Words of a command line that are arguments, as with `--arg`. */
export function requirePairs(words: readonly string[], command: string): readonly string[] {
  const other = words.find((word) => !/^[^\s=-][^\s=]*=/.test(word));
  if (other === undefined) return words;
  throw wrongUsage(`"${other}" is not an argument of "${command}"`, "Write arguments as key=value.");
}

/** The same; `key=@file` is the text of a file, and `key=@@text` a text that begins with @. */
export async function keyValueFromFile(text: string, option: string): Promise<KeyValue> {
  const { key, value } = keyValue(text, option);
  if (!value.startsWith("@")) return { key, value };
  if (value.startsWith("@@")) return { key, value: value.slice(1) };
  try {
    return { key, value: (await loadNamedFile(value.slice(1))).replace(/^\uFEFF/, "") };
  } catch (error) {
    const literal = `For a text that starts with @, write ${option} ${key}=@${value}.`;
    throw wrongUsage(`${option} ${text}: the file cannot be read (${messageOf(error)})`, literal);
  }
}

const MAX_BYTES = 64 * 1024 * 1024;

/** The text of a file on the command line. It may be a pipe of the shell; one without an end is refused. */
export async function loadNamedFile(path: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`larger than the limit of ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
