import { isRecord } from "./is-record.ts";

/** A number in JSON that is not whole, or has an exponent, and whose digits a double does not keep. */
export class ExactDecimal {
  readonly text: string;
  /** JSON.stringify throws for a bigint: whoever does not know this class cannot write it as an object by mistake. */
  readonly isExact = 1n;

  constructor(text: string) {
    this.text = text;
  }
}

/** Whether it is an object of the document itself. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && !(value instanceof ExactDecimal);
}

/** A double keeps this many digits, whatever they are. */
const KEPT = 15;
/** No double has more digits, even if all of them are written. */
const MOST_LENGTH = 1_100;
/** The most digits that toPrecision() gives. */
const MOST_PRECISION = 100;
const PARTS = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;

/** Whether a number has the same digits after it was read as a double and written again. */
export function keepsDigits(text: string): boolean {
  // Most numbers are short, and this is asked for every number of an answer.
  if (text.length <= KEPT && !/e/i.test(text)) return true;
  const digits = digitsOf(text);
  return digits !== undefined && sameDigits(digits, digitsOf(String(Number(text))));
}

/**
 * Whether a plain number is good enough, because readers of JSON round in the same way: all digits before the point are
 * kept, or it is a double that was written with more digits than it needs (0.10000000000000001).
 */
export function isDoubleText(text: string): boolean {
  if (keepsDigits(text)) return true;
  const digits = digitsOf(text);
  const value = Number(text);
  if (!digits || !Number.isFinite(value) || value === 0) return false;
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return true;
  return (
    digits.digits.length <= MOST_PRECISION && sameDigits(digits, digitsOf(value.toPrecision(digits.digits.length)))
  );
}

/** A number as JSON writes it: `.5` and `007.` are not JSON. */
export function jsonNumber(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent] = PARTS.exec(text) ?? [];
  const start = `${sign === "-" ? "-" : ""}${whole.replace(/^0+(?=\d)/, "") || "0"}`;
  return `${start}${fraction === "" ? "" : `.${fraction}`}${exponent === undefined ? "" : `e${exponent}`}`;
}

interface Digits {
  sign: string;
  /** Without zeros at both ends. */
  digits: string;
  /** The power of ten of the last digit. */
  exponent: number;
}

function digitsOf(text: string): Digits | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    (text.length <= MOST_LENGTH ? PARTS.exec(text) : undefined) ?? [];
  const all = (whole + fraction).replace(/^0+/, "");
  if (whole + fraction === "") return undefined;
  const digits = all.replace(/0+$/, "");
  if (digits === "") return { sign: "", digits, exponent: 0 };
  return {
    sign: sign === "-" ? "-" : "",
    digits,
    exponent: Number(exponent) - fraction.length + all.length - digits.length,
  };
}

function sameDigits(a: Digits, b: Digits | undefined): boolean {
  return a.sign === b?.sign && a.digits === b.digits && a.exponent === b.exponent;
}
