const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** The bytes of "512MB", "1.5 GB" or a number of bytes; undefined for anything else. Units are powers of 1000. */
export function parseByteSize(value: unknown): number | undefined {
  const text = typeof value === "number" || typeof value === "string" ? String(value) : "";
  const [, amount, unit = "B"] = /^(\d+(?:\.\d+)?)\s*([kMGT]?B)?$/i.exec(text) ?? [];
  if (amount === undefined) return undefined;
  const power = UNITS.findIndex((known) => known.toLowerCase() === unit.toLowerCase());
  return Math.round(Number(amount) * 1_000 ** power);
}

/** A number of bytes: `640 B`, `1.2 kB`. */
export function sizeText(bytes: number): string {
  let [amount, unit] = [bytes, 0];
  while (amount >= 1_000 && unit < UNITS.length - 1) [amount, unit] = [amount / 1_000, unit + 1];
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`;
}
