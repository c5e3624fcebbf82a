import { parseDuration } from "../../../text/duration.ts";
import { isLoopback } from "../../../text/loopback.ts";
import type { Part } from "../../../format/part.ts";
import type { UpstreamSpec } from "../model/tool-file.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 600_000;

export function readUpstream(part: Part): UpstreamSpec {
  part.members(["base", "allow", "timeout"], ["base"]);
  const base = readAddress(part.part("base"));
  if (base !== undefined && !base.endsWith("/")) {
    part.part("base").error("must end with a slash: paths of requests are added to it", `Write ${base}/`);
  }
  const written = part.part("allow").items().map(readAddress);
  const allow = written.filter((address) => address !== undefined);
  if (part.has("allow") && base !== undefined && !allow.some((address) => covers(address, base))) {
    part.part("allow").error("does not allow the base address itself", `Add ${base}`);
  }
  return {
    base: base ?? "",
    allow: part.has("allow") ? allow : base === undefined ? [] : [base],
    timeoutMs: readTimeout(part.part("timeout")) ?? DEFAULT_TIMEOUT_MS,
  };
}

/** "20s", "500ms", or milliseconds. */
export function readTimeout(part: Part): number | undefined {
  if (!part.isThere) return undefined;
  const value = part.value();
  const ms = parseDuration(value);
  if (ms !== undefined && ms > 0 && ms <= MAX_TIMEOUT_MS) return ms;
  part.error(`must be a time of at most ten minutes, like 20s, not ${JSON.stringify(value)}`);
  return undefined;
}

/** A URL without other parts, in the form used for comparison. */
export function readAddress(part: Part): string | undefined {
  const text = part.text();
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["https:", "http:"].includes(url.protocol)) {
    part.error(`"${text}" is not an http or https address`);
    return undefined;
  }
  if (url.username || url.password) part.error("must not hold credentials", "Name them in secrets.");
  if (url.search || url.hash) part.error("must end before ? and #", "Parameters belong to the requests.");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    part.warning("is not encrypted: secrets can be read on the way", "Use https.");
  }
  const path = text.replace(/^[a-z]+:\/\/[^/]*/i, "");
  if (/(^|\/)(\.|%2e){1,2}(\/|$)|\\|%2f|%5c/i.test(path))
    part.error("must not hold dots, backslashes or encoded slashes as steps");
  return url.href.replace(/[?#].*$/, "");
}

/** Same origin, and a path that begins with its complete segments. */
export function covers(address: string, base: string): boolean {
  return base === address || base.startsWith(address.endsWith("/") ? address : `${address}/`);
}
