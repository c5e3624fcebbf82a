import { parseByteSize } from "../text/byte-size.ts";
import { parseDuration } from "../text/duration.ts";
import { custom, type Form, type SchemaKeywords } from "./form.ts";
import type { Part } from "./part.ts";

const UNITS = [
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** A time in milliseconds, written as `20s`, `500ms`, `2m` or a number of milliseconds. `words`: what it must be. */
export function duration({ most, words }: { most: number; words: string }): Form<number> {
  return custom({
    read(part: Part) {
      const value = part.value();
      const ms = parseDuration(value);
      if (ms !== undefined && ms > 0 && ms <= most) return ms;
      part.error(`must be ${words}, not ${JSON.stringify(value)}`);
      return undefined;
    },
    write(ms) {
      const [unit, size] = UNITS.find(([, length]) => ms % length === 0) ?? ["ms", 1];
      return `${ms / size}${unit}`;
    },
    fallback: 0,
    schema: {
      anyOf: [
        { type: "string", pattern: String.raw`^\d+(\.\d+)?\s*(ms|s|m|h)?$` },
        { type: "number", exclusiveMinimum: 0, maximum: most },
      ],
    },
  });
}

const KB = 1024;

/** A number of bytes, written as `16kB`, `1MB` or a number. */
export function bytes({ least, most }: { least: number; most: number }): Form<number> {
  return custom({
    read(part: Part) {
      const [, amount, unit = "B"] = /^(\d+)\s*(B|kB|MB)?$/i.exec(part.source() ?? "") ?? [];
      const size = Number(amount) * ({ b: 1, kb: KB, mb: KB * KB }[unit.toLowerCase()] ?? 1);
      if (size >= least && size <= most) return size;
      part.error(`must be a size from ${least} bytes to ${most / (KB * KB)}MB, like 16kB`);
      return undefined;
    },
    write: (size) => (size % (KB * KB) === 0 ? `${size / (KB * KB)}MB` : size % KB === 0 ? `${size / KB}kB` : size),
    fallback: least,
    schema: {
      anyOf: [
        { type: "string", pattern: String.raw`^\d+\s*([kKmM]?[bB])?$` },
        { type: "integer", minimum: least, maximum: most },
      ],
    },
  });
}

interface TimeOptions {
  /** Milliseconds. */
  least?: number;
  most?: number;
  not?: string;
  hint?: string;
}

/** A time as it is written: "30s" or a number of milliseconds. */
export function time({ least = 0, most = Infinity, ...words }: TimeOptions = {}): Form<string | number> {
  const { not = "is not a duration", hint = `Use "30s", "2m" or a number of milliseconds.` } = words;
  return written({
    fits: (value) => {
      const ms = parseDuration(value);
      return ms !== undefined && ms >= least && ms <= most;
    },
    not,
    hint,
    schema: [
      { type: "string", pattern: String.raw`^\d+(\.\d+)?\s*(ms|s|m|h|d)?$|\$\{` },
      { type: "number", minimum: 0 },
    ],
  });
}

/** The same, read as milliseconds. */
export function milliseconds(options: TimeOptions = {}): Form<number> {
  return time(options).to({ read: parseDuration, write: (ms) => ms, fallback: options.least ?? 0 });
}

/** A number of bytes from 1 as it is written: "512MB" or a number. Units are powers of 1000. */
export function size(hint = `Use "512MB", "2GB" or a number of bytes.`): Form<string | number> {
  return written({
    fits: (value) => (typeof value === "string" || Number.isInteger(value)) && (parseByteSize(value) ?? 0) >= 1,
    not: "is not a size",
    hint,
    schema: [
      { type: "string", pattern: String.raw`^(?=.*[1-9])\d+(\.\d+)?\s*([kKmMgGtT]?[bB])?$|\$\{` },
      { type: "integer", minimum: 1 },
    ],
  });
}

/** The same, read as a number. */
export function byteCount(hint?: string): Form<number> {
  return size(hint).to({ read: parseByteSize, write: (bytes) => bytes, fallback: 1 });
}

interface Written {
  fits: (value: unknown) => boolean;
  not: string;
  hint: string;
  schema: readonly SchemaKeywords[];
}

function written({ fits, not, hint, schema }: Written): Form<string | number> {
  return custom<string | number>({
    read(part) {
      const value = part.value();
      if ((typeof value === "string" || typeof value === "number") && fits(value)) return value;
      part.error(not, hint);
      return undefined;
    },
    fallback: 0,
    typeName: "string | number",
    schema: { anyOf: schema },
  });
}
