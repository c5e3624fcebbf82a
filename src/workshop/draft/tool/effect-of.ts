import type { OperationFacts } from "../../documents/api-facts.ts";
import type { Effect } from "../../file/model/tool-file.ts";
import { wordsOf } from "../names/words.ts";

/** Methods that change nothing, by the definition of HTTP. */
const SAFE = new Set(["GET", "HEAD", "OPTIONS", "QUERY"]);

/** Words that say that something is lost. */
const DESTRUCTIVE = words("delete remove cancel purge revoke terminate destroy wipe erase drop");

/** Words that say that something is only looked up. */
const READING = words("search query list lookup validate preview find get fetch count check");

/** Words that say that something is made or changed, whatever else the name says. */
const WRITING = words("create update add set save put post insert upload send start replace patch edit import");

/** Steps of a path that make or change something even if they are called with GET, as by gateways for messages. */
const ACTING = words("create update insert send submit");

/** Words that join two actions in one name. */
const JOINING = words("and or then");

/** The rules in the order in which they are applied, as docs/reference/import.md lists them. */
export const EFFECT_RULES: readonly { effect: Effect; when: string; is: (operation: Named) => boolean }[] = [
  { effect: "destructive", when: "the method is DELETE", is: ({ method }) => method === "DELETE" },
  {
    effect: "destructive",
    when: `the name begins with, or has after "and", "or" or "then", or the last fixed step of the path is or begins with, ${[...DESTRUCTIVE].join(", ")}`,
    is: ({ verbs, joined, acting }) => [...verbs, ...joined, acting].some((verb) => DESTRUCTIVE.has(verb)),
  },
  {
    effect: "destructive",
    when: `the method is not ${[...SAFE].join(", ")}, and the name ends with one of these words, without "can" before it`,
    is: ({ method, last, beforeLast }) => !SAFE.has(method) && DESTRUCTIVE.has(last) && beforeLast !== "can",
  },
  {
    effect: "write",
    when: `the last fixed step of the path is or begins with ${[...ACTING].join(", ")}`,
    is: ({ acting }) => ACTING.has(acting),
  },
  { effect: "read", when: `the method is ${[...SAFE].join(", ")}`, is: ({ method }) => SAFE.has(method) },
  {
    effect: "write",
    when: `the name begins with, or has after "and", "or" or "then", ${[...WRITING].join(", ")}`,
    is: ({ verbs: [first = ""], joined }) => [first, ...joined].some((verb) => WRITING.has(verb)),
  },
  {
    effect: "read",
    when: `the method is POST, and the name begins or ends with, or the path ends with, ${[...READING].join(", ")}`,
    is: ({ method, verbs, last }) => method === "POST" && [...verbs, last].some((verb) => READING.has(verb)),
  },
  { effect: "write", when: "none of these applies", is: () => true },
];

interface Named {
  method: string;
  /** The first word of the name, and the last step of the path if it is one word. */
  verbs: string[];
  /** The first word of the last step that is no parameter: `delete` of `/users/delete/{id}` and of `/deleteUser.php`. */
  acting: string;
  /** The words of the name that follow an "and": those of `getAndDelete`. */
  joined: string[];
  /** The last word of the name. */
  last: string;
  beforeLast: string;
}

/**
 * The effect of an operation as the document states it, otherwise by its method and its name. No document can state that
 * something is harmless whose method or name says that something is lost.
 */
export function effectOf(operation: OperationFacts): Effect {
  const { effect } = operation;
  const named = namedEffect(operation);
  return effect === undefined || named === "destructive" ? named : effect;
}

/** Whether neither the document nor a name says what an operation does. */
export function isEffectOpen(operation: OperationFacts): boolean {
  return operation.effect === undefined && ruleFor(operation) === EFFECT_RULES.at(-1);
}

function namedEffect(operation: OperationFacts): Effect {
  return ruleFor(operation)?.effect ?? "write";
}

function ruleFor({ method: sent, methodAssumed, id, path }: OperationFacts): (typeof EFFECT_RULES)[number] | undefined {
  const method = methodAssumed ? "POST" : sent;
  const named = id === undefined ? [] : wordsOf(id.replace(/^.*[.:/#](?=[A-Za-z])/, ""));
  const step = wordsOf(path.replace(/^.*[/.:]/, ""));
  const isParameter = /\{[^{}]*\}$/.test(path);
  const steps = step.length === 1 && !isParameter ? step : [];
  const verbs = [...named.slice(0, 1), ...steps];
  const facts: Named = {
    method: method.toUpperCase(),
    verbs,
    acting: actingWord(path),
    joined: named.filter((_, at) => JOINING.has(named[at - 1] ?? "")),
    last: named.at(-1) ?? "",
    beforeLast: named.at(-2) ?? "",
  };
  return EFFECT_RULES.find(({ is }) => is(facts));
}

/** Names of things, such as `/cancel-reasons`, are not written as one word with capitals, as names of functions are. */
function actingWord(path: string): string {
  const fixed = path.split(/[/:]/).findLast((step) => step !== "" && !step.includes("{")) ?? "";
  const step = fixed.replace(/\.(?:json|xml|php|aspx?|do|cgi|action)$/i, "").replace(/^.*\./, "");
  const [first = "", ...more] = wordsOf(step);
  return more.length === 0 || /^[A-Za-z][a-z]*(?:[A-Z_]|$)/.test(step) ? first : "";
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
