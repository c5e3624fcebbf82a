import type { InstanceChange } from "../../../operations/apis/api-instance.ts";
import { parseDuration } from "../../../text/duration.ts";
import { keyValue } from "../../arguments/key-value.ts";
import { wrongUsage } from "../../command/command-line.ts";
import type { Options, OptionValues } from "../../command/command.ts";

/** What an instance has of its own. */
export const INSTANCE_OPTIONS = {
  server: { type: "string", value: "ID", help: "the server id of a new instance; default: <api>, or <api>-<instance>" },
  upstream: {
    type: "string",
    value: "URL",
    help: 'send its requests to this address instead of that in the file; "fake": to a fake; "file": as the file says',
  },
  address: {
    type: "string",
    multiple: true,
    value: "OLD=NEW",
    help: "with --upstream URL: where another address of the file is reached; repeatable; an empty NEW removes it",
  },
  setting: {
    type: "string",
    multiple: true,
    value: "name=value",
    help: "a setting of the tool file; repeatable; an empty value removes it",
  },
  "call-timeout": { type: "string", value: "DURATION", help: 'the most time for a call; "none" removes the limit' },
  "per-minute": { type: "string", value: "N", help: 'requests per minute in each gateway; "none" removes the limit' },
} as const satisfies Options;

export function instanceChange(options: OptionValues<typeof INSTANCE_OPTIONS>): InstanceChange {
  const { server, upstream, address = [], setting = [], "call-timeout": timeout, "per-minute": perMinute } = options;
  const settings = pairsOf(setting, "--setting");
  const addresses = pairsOf(address, "--address");
  const limits = {
    ...(timeout === undefined ? {} : { timeoutMs: timeout === "none" ? null : milliseconds(timeout) }),
    ...(perMinute === undefined ? {} : { perMinute: perMinute === "none" ? null : amount(perMinute) }),
  };
  return {
    ...(server === undefined ? {} : { server }),
    ...(upstream === undefined ? {} : { upstream: upstream === "file" ? null : upstream }),
    ...(addresses && { addresses }),
    ...(settings && { settings }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

/** Undefined if there are none. An empty value removes. */
function pairsOf(texts: readonly string[], option: string): Record<string, string | null> | undefined {
  if (texts.length === 0) return undefined;
  const pairs = texts.map((text) => keyValue(text, option));
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value === "" ? null : value]));
}

function milliseconds(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 1 && ms <= 3_600_000) return ms;
  throw wrongUsage(`--call-timeout "${text}" is not a duration of up to an hour`, "Use 30s, 2m or 500ms.");
}

function amount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw wrongUsage(`--per-minute "${text}" is not a number from 1 to 999999`, "Use --per-minute 60.");
}
