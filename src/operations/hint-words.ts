import type { NexusError } from "../errors/nexus-error.ts";
import type { AnyOperation } from "./operation.ts";

type Values = Readonly<Record<string, unknown>>;

/** How a surface names operations, and members of their input, in hints. */
export interface HintWords {
  /** `values`: the members of the request that failed, and those that the hint itself names. */
  operation: (operation: AnyOperation, values: Values) => string;
  member: (name: string) => string;
}

/** `{listKeys}`, `{rollBackApi.to}`, or with values of members: `{getSet name=desk}`. */
const REFERENCE = /\{(\w+)(?:\.(\w+))?((?: \w+=[^\s{}]+)*)\}/g;

/**
 * Hints of operations, and of what they use, name operations by their ids: each surface writes them in its own words, so that
 * everything else of a hint is the same on all of them.
 */
export async function withHintIn(error: NexusError, words: HintWords, values: Values): Promise<NexusError> {
  const { hint = "" } = error.details;
  if (!hint.includes("{")) return error;
  const { OPERATIONS } = await import("./operations.ts");
  return error.amended({
    hint: hint.replaceAll(REFERENCE, (whole, id: string, member: string | undefined, given: string) => {
      const operation = OPERATIONS.find((each) => each.id === id);
      if (!operation) return whole;
      const named = [...given.matchAll(/(\w+)=(\S+)/g)].map(([, name = "", value]) => [name, value] as const);
      return member === undefined
        ? words.operation(operation, { ...values, ...Object.fromEntries(named) })
        : words.member(member);
    }),
  });
}

/** A text with `{name}` for members; those without a value stay as they are. */
export function filledText(text: string, values: Values, write: (value: string) => string): string {
  return text.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
    const value = values[name];
    return typeof value === "string" ? write(value) : place;
  });
}

/** As REST asks for it: `GET /api/v1/tenants/shop/keys`. */
export const REST_WORDS: HintWords = {
  operation: ({ http: { method, path } }, values) => `${method} /api/v1${filledText(path, values, encodeURIComponent)}`,
  member: (name) => `\`${name}\``,
};

/** Sent by a client that writes hints in its own words. */
export const PLAIN_HINTS = { header: "nexus-hints", value: "plain" } as const;
