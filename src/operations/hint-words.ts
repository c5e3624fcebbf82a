import { DEFAULT_TENANT } from "../auth/server-instance.ts";
import type { NexusError } from "../errors/nexus-error.ts";
import { quoteWord } from "../text/shell-words.ts";
import type { AnyOperation } from "./operation.ts";

type Values = Readonly<Record<string, unknown>>;

/** How a surface names operations, and members of their input, in hints. */
interface HintWords {
  /** `values`: the members of the request that failed, and those that the hint itself names; `flags`: those that it sets. */
  operation: (operation: AnyOperation, values: Values, flags: readonly string[]) => string;
  member: (name: string) => string;
}

/** `{listKeys}`, `{rollBackApi.to}`, or with values of members: `{getSet name=desk}`. */
const REFERENCE = /\{(\w+)(?:\.(\w+))?((?: \w+=[^\s{}]+)*)\}/g;

/**
 * Hints of operations, and of what they use, name operations by their ids: each surface writes them in its own words, so that
 * everything else of a hint is the same on all of them.
 */
async function withHintIn(error: NexusError, words: HintWords, values: Values): Promise<NexusError> {
  const { hint = "" } = error.details;
  if (!hint.includes("{")) return error;
  const { OPERATIONS } = await import("./operations.ts");
  return error.amended({
    hint: hint.replaceAll(REFERENCE, (whole, id: string, member: string | undefined, given: string) => {
      const operation = OPERATIONS.find((each) => each.id === id);
      if (!operation) return whole;
      const named = [...given.matchAll(/(\w+)=(\S+)/g)].map(([, name = "", value]) => [name, value] as const);
      return member === undefined
        ? words.operation(operation, { ...values, ...Object.fromEntries(named) }, flagsIn(named))
        : words.member(member);
    }),
  });
}

function flagsIn(named: readonly (readonly [string, string | undefined])[]): string[] {
  return named.flatMap(([name, value]) => (value === "true" ? [name] : []));
}

const PLACE = /\{(\w+)\}/g;

/** As REST asks for it: `GET /api/v1/tenants/shop/keys`. */
const REST_WORDS: HintWords = {
  operation: ({ http: { method, path } }, values, flags) =>
    [
      `${method} /api/v1${path.replaceAll(PLACE, (place, name: string) => pathPart(values[name], place))}`,
      ...flags.map((name) => ` with \`${name}\``),
    ].join(""),
  member: (name) => `\`${name}\``,
};

/** As a command does it: `nexus keys list --tenant shop`. */
function wordsOfCommands(again: string): HintWords {
  return {
    operation({ command = "", http: { path } }, values, flags) {
      const words = command.replaceAll(PLACE, (_place, name: string) =>
        quoteWord(textOf(values[name]) ?? name.toUpperCase()),
      );
      const tenant = textOf(values["tenant"]) ?? DEFAULT_TENANT;
      const isNamed = path.includes("{tenant}") && !command.includes("{tenant}") && tenant !== DEFAULT_TENANT;
      const given = [`nexus ${words}`, ...flags.map((name) => ` --${optionName(name)}`)].join("");
      return `${given}${isNamed ? ` --tenant ${quoteWord(tenant)}` : ""}${again}`;
    },
    member: (name) => `--${optionName(name)}`,
  };
}

/** `perDay` → `per-day` */
export function optionName(member: string): string {
  return member.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function pathPart(value: unknown, place: string): string {
  return typeof value === "string" ? encodeURIComponent(value) : place;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Sent by a client that writes hints in its own words. */
export const PLAIN_HINTS = { "nexus-hints": "plain" } as const;

/** A failure as a command tells it. `again`: the options that select the same gateway or database. */
export async function withCommandHint(error: NexusError, again: string, values: Values): Promise<NexusError> {
  return withHintIn(error, wordsOfCommands(again), values);
}

interface HttpCall {
  headers: Readonly<Record<string, unknown>>;
  params: Values;
}

/** A failure as REST tells it, unless the client writes hints itself. */
export async function withRestHint(error: NexusError, { headers, params }: HttpCall): Promise<NexusError> {
  const isPlain = Object.entries(PLAIN_HINTS).every(([name, value]) => headers[name] === value);
  return isPlain ? error : withHintIn(error, REST_WORDS, params);
}
