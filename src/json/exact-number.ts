const WHOLE = /^[+-]?\d+(?:\.0*)?$/;

/** Whether a number arrives as it was written: JSON's are doubles at both ends. */
export function isExact(text: string): boolean {
  const value = Number(text);
  return Number.isFinite(value) && (!WHOLE.test(text) || Number.isSafeInteger(value));
}
