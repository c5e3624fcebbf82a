import { parseLimits, type LimitChange, type ShownLimits } from "../../store/keep/request-limits.ts";
import { sizeText } from "../../text/byte-size.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Options } from "../command/command.ts";

/** For commands about limits of a key or a tenant. */
export const LIMIT_OPTIONS = {
  rate: {
    type: "string",
    value: "10/s",
    help: "requests per second (s), minute (m) or hour (h), from the first one on",
  },
  "per-day": { type: "string", value: "10000", help: "requests in 24 hours, from the first one on" },
  concurrent: { type: "string", value: "8", help: "calls that run at the same time, in each process of the gateway" },
  "max-request": { type: "string", value: "64kB", help: "bytes of one request" },
} as const satisfies Options;

/** What the options of a command line ask for. `none` removes a limit. */
export function limitsIn(options: { readonly [Name in keyof typeof LIMIT_OPTIONS]?: string | undefined }): LimitChange {
  const { rate, "per-day": perDay, concurrent, "max-request": maxRequest } = options;
  return parseLimits({ rate, perDay, concurrent, maxRequest }, (member) => `--${OPTION_OF[member] ?? member}`);
}

const OPTION_OF: Record<string, string> = { perDay: "per-day", maxRequest: "max-request" };

/** Throws where a command that changes limits names none. */
export function requireLimits(change: LimitChange): LimitChange {
  if (Object.keys(change).length > 0) return change;
  const names = Object.keys(LIMIT_OPTIONS).map((name) => `--${name}`);
  throw wrongUsage("No limit is named", `Use ${names.join(", ")}. The value "none" removes a limit.`);
}

/** Limits for people: `10/s, 10000 per day, 8 at once, requests up to 64.0 kB`. */
export function limitsText({ rate, perDay, concurrent, maxRequest }: ShownLimits): string {
  return [
    ...(rate === undefined ? [] : [rate]),
    ...(perDay === undefined ? [] : [`${perDay} per day`]),
    ...(concurrent === undefined ? [] : [`${concurrent} at once`]),
    ...(maxRequest === undefined ? [] : [`requests up to ${sizeText(maxRequest)}`]),
  ].join(", ");
}
