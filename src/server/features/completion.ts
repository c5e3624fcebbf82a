import type { Completer } from "./features.ts";

/** Completes by the beginning, ignoring case. */
export function oneOf(...values: string[]): Completer {
  return (typed) => values.filter((value) => value.toLowerCase().startsWith(typed.toLowerCase()));
}
