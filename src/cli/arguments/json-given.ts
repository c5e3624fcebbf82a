import { text } from "node:stream/consumers";
import { messageOf } from "../../errors/nexus-error.ts";
import { wrongUsage } from "../command/command-line.ts";
import { requireExactNumbers } from "./exact-number.ts";
import { loadNamedFile } from "./key-value.ts";
import { isDeeperThan } from "../../json/nesting.ts";

const FORMS = `Use '{"key":"value"}', @file, or - for stdin.`;
/** Code that checks and writes the value recurses over it. */
const MAX_DEPTH = 500;
/** Some editors on Windows begin a file with it; JSON does not allow it. */
const BYTE_ORDER_MARK = /^\uFEFF/;

/** JSON from the command line: literal, `@file`, or `-` for stdin. `what` names the argument in errors. */
export async function jsonGiven(given: string, what: string): Promise<unknown> {
  const { source, written } = await load(given, what);
  const json = written.replace(BYTE_ORDER_MARK, "");
  if (json.trim() === "") throw wrongUsage(`${source} is empty`, FORMS);
  if (isDeeperThan(json, MAX_DEPTH)) {
    throw wrongUsage(`${source} is nested deeper than ${MAX_DEPTH} levels`, "Servers do not accept such a value.");
  }
  const value = parsed(json, source);
  requireExactNumbers(json, source);
  return value;
}

function parsed(json: string, source: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    throw wrongUsage(`${source} is not valid JSON: ${messageOf(error)}`, FORMS);
  }
}

async function load(given: string, what: string): Promise<{ source: string; written: string }> {
  if (given === "-") return { source: "The input on stdin", written: await text(process.stdin) };
  if (!given.startsWith("@")) return { source: `${what} ${given}`.trim(), written: given };
  const file = given.slice(1);
  try {
    return { source: file, written: await loadNamedFile(file) };
  } catch (error) {
    throw wrongUsage(`${file} cannot be read: ${messageOf(error)}`, "Check the path after the @.");
  }
}
