import { NexusError } from "../../errors/nexus-error.ts";
import { parseByteSize } from "../../text/byte-size.ts";

/** What a key, or all keys of a tenant together, may use. What is absent is not limited. */
export interface RequestLimits {
  /** Requests in a window, which starts with the first one. */
  rate?: RequestRate | undefined;
  /** Requests in 24 hours, which start with the first one. */
  perDay?: number | undefined;
  /** Calls that run at the same time. */
  concurrent?: number | undefined;
  /** Bytes of one request. */
  maxBytes?: number | undefined;
}

interface RequestRate {
  max: number;
  windowMs: number;
}

/** Null removes a limit; what is absent stays as it is. */
export type LimitChange = { [Name in keyof RequestLimits]?: RequestLimits[Name] | null };

/** Limits as people and programs write them. Null, or the text `none`, removes one. */
interface WrittenLimits {
  /** `10/s`, `600/m`, `5000/h`. */
  rate?: unknown;
  perDay?: unknown;
  concurrent?: unknown;
  /** `64kB`, or a number of bytes. */
  maxRequest?: unknown;
}

/** Limits as they are shown. */
interface ShownLimits extends WrittenLimits {
  rate?: string;
  perDay?: number;
  concurrent?: number;
  maxRequest?: number;
}

const WINDOWS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Throws ARGUMENTS_INVALID. */
export function parseLimits(written: WrittenLimits): LimitChange {
  const change: LimitChange = {};
  const read = <T>(member: keyof WrittenLimits, parse: (value: unknown) => T | undefined, hint: string) => {
    const value = written[member];
    if (value === undefined || value === null || value === "none") return value === undefined ? undefined : null;
    const parsed = parse(value);
    if (parsed === undefined) throw invalid(`${member} ${JSON.stringify(value)} is not valid`, hint);
    return parsed;
  };
  const rate = read("rate", parseRate, "Use a number of requests for a second, minute or hour: 10/s, 600/m, 5000/h.");
  const perDay = read("perDay", parseCount, "Use a whole number of requests, at least 1: 10000.");
  const concurrent = read("concurrent", parseCount, "Use a whole number of calls, at least 1: 8.");
  const maxBytes = read("maxRequest", parseSize, "Use a number of bytes, or kB or MB: 64kB.");
  if (rate !== undefined) change.rate = rate;
  if (perDay !== undefined) change.perDay = perDay;
  if (concurrent !== undefined) change.concurrent = concurrent;
  if (maxBytes !== undefined) change.maxBytes = maxBytes;
  return change;
}

/** In the form that `parseLimits` takes. */
export function writtenLimits({ rate, perDay, concurrent, maxBytes }: RequestLimits): ShownLimits {
  return {
    ...(rate ? { rate: rateText(rate) } : {}),
    ...(perDay === undefined ? {} : { perDay }),
    ...(concurrent === undefined ? {} : { concurrent }),
    ...(maxBytes === undefined ? {} : { maxRequest: maxBytes }),
  };
}

export function changedLimits(before: RequestLimits, change: LimitChange): RequestLimits {
  const after = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(after);
}

function rateText({ max, windowMs }: RequestRate): string {
  const unit = Object.entries(WINDOWS).find(([, ms]) => ms === windowMs)?.[0];
  return `${max}/${unit ?? `${windowMs}ms`}`;
}

function parseRate(value: unknown): RequestRate | undefined {
  const [, amount, unit] = /^(\d+)\/([smh])$/.exec(String(value)) ?? [];
  const max = parseCount(amount);
  return max === undefined ? undefined : { max, windowMs: WINDOWS[unit as keyof typeof WINDOWS] };
}

function parseCount(value: unknown): number | undefined {
  const count = typeof value === "number" ? value : /^\d+$/.test(String(value)) ? Number(value) : NaN;
  return Number.isSafeInteger(count) && count > 0 ? count : undefined;
}

function parseSize(value: unknown): number | undefined {
  return parseCount(parseByteSize(value));
}

function invalid(message: string, hint: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { hint, mayHaveReached: false });
}
