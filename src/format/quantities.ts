import { parseDuration } from "../text/duration.ts";
import { custom, type Form } from "./form.ts";
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
