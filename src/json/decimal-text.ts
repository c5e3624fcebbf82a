const EXPONENT = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/;

/** A number in digits without an exponent: 1e21 has 22 digits. */
export function decimalText(value: number, decimals?: number): string {
  if (decimals === undefined) return Number.isSafeInteger(value) ? String(value) : expanded(String(value));
  const [whole = "0", fraction = ""] = rounded(expanded(String(value)), decimals).split(".");
  const text = decimals === 0 ? whole : `${whole}.${fraction.padEnd(decimals, "0")}`;
  return /[1-9]/.test(text) ? text : text.replace("-", "");
}

function expanded(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent] = EXPONENT.exec(text) ?? [];
  if (exponent === undefined) return text;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return point >= digits.length
    ? sign + digits.padEnd(point, "0")
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Rounds half away from zero, by the decimal digits: 1.005 becomes 1.01, although its nearest double is smaller. */
function rounded(text: string, decimals: number): string {
  const sign = text.startsWith("-") ? "-" : "";
  const [whole = "0", fraction = ""] = text.slice(sign.length).split(".");
  if (fraction.length <= decimals) return text;
  const kept = BigInt(whole + fraction.slice(0, decimals)) + (fraction.charAt(decimals) >= "5" ? 1n : 0n);
  const digits = kept.toString().padStart(decimals + 1, "0");
  const point = digits.length - decimals;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
