import { nearestName } from "../text/nearest-name.ts";
import { shorten } from "../text/shorten.ts";
import { type ErrorCode, NexusError } from "./nexus-error.ts";

/**
 * The name of every option of a function, with its kind where the value is checked: a new one does not compile until it is
 * here.
 */
export type OptionNames<T> = Readonly<Record<keyof T, unknown>>;

/** What the value of an option must be. */
export interface OptionKind {
  /** How a value reads that fits. */
  must: string;
  /** What to write in place of one that does not. */
  hintFor: (name: string, value: unknown) => string;
  accepts: (value: unknown) => boolean;
  /** That of the error; default: `CONFIG_INVALID`. */
  code?: ErrorCode;
}

export const MILLISECONDS: OptionKind = {
  must: "a number of milliseconds, 0 or more",
  hintFor: (name) => `For five seconds write ${name}: 5000.`,
  accepts: (value) => typeof value === "number" && value >= 0,
};

export const SIGNAL: OptionKind = {
  must: "an AbortSignal",
  hintFor: (name) => `Pass the signal of a controller (${name}: controller.signal), or AbortSignal.timeout(5000).`,
  accepts: (value) => hasFunction(value, "addEventListener"),
};

export const TEXTS: OptionKind = {
  must: "a list of texts",
  hintFor: (name, value) => `Write ${name}: [${typeof value === "string" ? shown(value) : '"…"'}].`,
  accepts: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
};

/** Whether a value is an object with a function of this name. */
export function hasFunction(value: unknown, name: string): boolean {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, name) === "function";
}

function isKind(value: unknown): value is OptionKind {
  return typeof value === "object" && value !== null && "accepts" in value;
}

/** A value of a program, in one short line. */
function shown(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) {
    return Array.isArray(value) ? "a list" : `an object${nameOfClass(value)}`;
  }
  return typeof value === "string" ? JSON.stringify(shorten(value, 50)) : String(value);
}

function nameOfClass(value: object): string {
  const { name } = value.constructor ?? {};
  return name === undefined || name === "Object" ? "" : ` (${name})`;
}

/**
 * Throws if there is an option that a function does not know, since it would be ignored and its caller would think that it
 * holds, or one that is not of its kind. `meant`: what others call an option.
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
    if (!Object.hasOwn(options, name)) continue;
    if (Object.hasOwn(names, name)) {
      const [kind, value]: [unknown, unknown] = [names[name], options[name]];
      if (value === undefined || value === null || !isKind(kind) || kind.accepts(value)) continue;
      const message = `"${name}" of ${where} must be ${kind.must}, not ${shown(value)}`;
      throw wrongOption(message, kind.hintFor(name, value), kind.code);
    }
    const near = Object.hasOwn(meant, name) ? meant[name] : nearestName(name, Object.keys(names));
    throw wrongOption(
      `"${name}" is not an option of ${where}`,
      near === undefined ? `Its options are: ${Object.keys(names).join(", ")}.` : `Did you mean "${near}"?`,
    );
  }
}

/** The error for options that cannot be used. */
export function wrongOption(message: string, hint: string, code: ErrorCode = "CONFIG_INVALID"): NexusError {
  return new NexusError(code, message, { phase: "config", hint, mayHaveReached: false });
}

function exampleOf(names: object): string {
  return Object.keys(names)[0] ?? "name";
}
