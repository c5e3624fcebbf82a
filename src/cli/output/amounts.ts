/** `1 tool`, `12 tools`. */
export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A number of bytes: `640 B`, `1.2 kB`. */
export function sizeText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let [amount, unit] = [bytes, 0];
  while (amount >= 1_000 && unit < units.length - 1) [amount, unit] = [amount / 1_000, unit + 1];
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[unit]}`;
}
