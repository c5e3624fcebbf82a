import type { NexusError } from "../../errors/nexus-error.ts";
import type { Options } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";

/** The option of commands that may get a large answer. */
export const SIZE_LIMIT = {
  "max-size": { type: "string", value: "50M", help: "maximum size of an answer; default: 10M" },
} as const satisfies Options;

const UNITS: Readonly<Record<string, number>> = { "": 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };
/** The limit of Node's strings. */
const MOST = 512 * 1024 ** 2;

/** Bytes of "50M", "800K" or a number. */
export function sizeLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)\s*([KMG]?)i?B?$/i.exec(text.trim()) ?? [];
  const bytes = Math.floor(Number(amount) * (UNITS[unit.toUpperCase()] ?? 1));
  if (amount !== undefined && bytes > 0 && bytes <= MOST) return bytes;
  throw wrongUsage(`--max-size "${text}" is not a valid size`, "Use --max-size 50M; the maximum is 512M.");
}

/** Replaces the library's hint by the option of the command, if it has one. */
export function withSizeAdvice(error: NexusError, options: Options): NexusError {
  if (error.code !== "MESSAGE_TOO_LARGE") return error;
  const more = Object.hasOwn(options, "max-size") ? ", or raise the limit: --max-size 50M" : "";
  return error.amended({ hint: `Request less data at a time${more}.` });
}
