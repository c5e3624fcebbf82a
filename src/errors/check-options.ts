import { nearestName } from "../text/nearest-name.ts";
import { NexusError } from "./nexus-error.ts";

/** The name of every option of a function: a new one does not compile until it is here. */
export type OptionNames<T> = Readonly<Record<keyof T, unknown>>;

/**
 * Throws if there is an option that a function does not know. It would be ignored, and its caller would think that it holds.
 * `meant`: what others call an option.
 */
export function checkOptions<T extends object>(
  where: string,
  options: T,
  names: OptionNames<T>,
  meant: Readonly<Record<string, keyof T & string>> = {},
): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw wrongOption(`The options of ${where} are not an object`, `Pass them by name: { ${exampleOf(names)}: … }.`);
  }
  for (const name in options) {
    if (Object.hasOwn(names, name) || !Object.hasOwn(options, name)) continue;
    const near = Object.hasOwn(meant, name) ? meant[name] : nearestName(name, Object.keys(names));
    throw wrongOption(
      `"${name}" is not an option of ${where}`,
      near === undefined ? `Its options are: ${Object.keys(names).join(", ")}.` : `Did you mean "${near}"?`,
    );
  }
}

/** The error for options that cannot be used. */
export function wrongOption(message: string, hint: string): NexusError {
  return new NexusError("CONFIG_INVALID", message, { phase: "config", hint, mayHaveReached: false });
}

function exampleOf(names: object): string {
  return Object.keys(names)[0] ?? "name";
}
