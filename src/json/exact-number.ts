const WHOLE = /^[+-]?\d+(?:\.0*)?$/;

/** Whether a number keeps its value in JSON, where both ends use doubles. */
export function isExact(text: string): boolean {
  const value = Number(text);
  return Number.isFinite(value) && (!WHOLE.test(text) || Number.isSafeInteger(value));
}
