import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { messageOf } from "../../errors/nexus-error.ts";
import { wrongUsage } from "../command-line.ts";

/** JSON as commands take it: itself, `@file`, or `-` for stdin. */
export async function jsonGiven(given: string): Promise<unknown> {
  const { source, written } = await load(given);
  try {
    return JSON.parse(written) as unknown;
  } catch (error) {
    throw wrongUsage(`${source} is no JSON: ${messageOf(error)}`, `Write '{"key":"value"}', @file, or - for stdin.`);
  }
}

async function load(given: string): Promise<{ source: string; written: string }> {
  if (given === "-") return { source: "What came on stdin", written: await text(process.stdin) };
  if (!given.startsWith("@")) return { source: given, written: given };
  const file = given.slice(1);
  try {
    return { source: file, written: await readFile(file, "utf8") };
  } catch (error) {
    throw wrongUsage(`${file} cannot be read: ${messageOf(error)}`, "Check the path after the @.");
  }
}
