import type { OperationFacts } from "../../api-facts.ts";
import type { Endpoint } from "../endpoints/endpoints.ts";
import type { Scopes } from "../endpoints/scopes.ts";
import { plainText } from "../outline.ts";
import { singularWords } from "../words.ts";

/** A sentence about the effect of requests. `owner`: the request in whose description it is. */
interface SaidEffect {
  sentence: string;
  effect: NonNullable<OperationFacts["effect"]>;
  owner?: Endpoint;
}

const MOST_EFFECTS = 500;
const READ =
  /\b(?:changes? nothing|read[- ]only|does not (?:change|modify|alter|write)|no side effects?|nothing is (?:changed|booked|reserved|created)|[äa]ndert nichts|may be repeated as often)\b/i;
const WRITE =
  /\b(?:is a write|creates? (?:a|an|the|new)\b|each (?:accepted )?(?:message|call|request) (?:is|creates) a new|is not idempotent|schreibend)/i;
const DESTRUCTIVE = /\b(?:cannot be undone|irreversibl\w*|permanently (?:deletes?|removes?)|unwiderruflich)\b/i;

/** What a sentence says about the effect of a request. */
function effectIn(text: string): OperationFacts["effect"] {
  if (DESTRUCTIVE.test(text)) return "destructive";
  if (READ.test(text)) return "read";
  return WRITE.test(text) ? "write" : undefined;
}

/** The sentences that say something about an effect. */
export function effectsIn(prose: readonly { text: string; index: number }[], scopes: Scopes): SaidEffect[] {
  return prose
    .flatMap(({ text, index }) => {
      if (effectIn(plainText(text)) === undefined) return [];
      const owner = scopes.ownerOf(index);
      return plainText(text)
        .split(/(?<=[.!?;])\s+/)
        .flatMap((sentence) => {
          const effect = effectIn(sentence);
          return effect === undefined ? [] : [{ sentence, effect, ...(owner ? { owner } : {}) }];
        });
    })
    .slice(0, MOST_EFFECTS);
}

/** What sentences say that name the endpoint, that are in its description, or that say what it is for. */
export function effectOf(endpoint: Endpoint, said: readonly SaidEffect[]): OperationFacts["effect"] {
  const { names, method, purpose = "" } = endpoint;
  const found = said.find(
    ({ sentence, effect, owner }) =>
      !(effect === "write" && method === "GET") &&
      (owner === endpoint || names.some((name) => name.length > 3 && sentence.includes(name))),
  );
  return found?.effect ?? effectIn(purpose) ?? actionEffect(endpoint);
}

const LOSING = /^(?:delete|remove|cancel|purge|revoke|terminate|destroy|wipe|erase|drop|l[öo]sch\w*)$/;
const CHANGING =
  /^(?:create|update|add|set|save|put|post|insert|upload|send|submit|start|stop|replace|patch|edit|import|book|order|reserve|change|move|write|register|enable|disable|activate|assign|switch|reset)$/;

/** Where an action is a parameter, the method says nothing about it: GET may delete. */
function actionEffect({ action, purpose = "" }: Endpoint): OperationFacts["effect"] {
  if (!action) return undefined;
  const words = singularWords(action.value);
  const verbs = [words[0] ?? "", words.at(-1) ?? "", singularWords(purpose)[0] ?? ""];
  if (verbs.some((verb) => LOSING.test(verb))) return "destructive";
  // The last word may be what it is about: `listOrder`.
  return CHANGING.test(verbs[0] ?? "") || CHANGING.test(verbs[2] ?? "") || isChangeAtEnd(action.value, verbs[1] ?? "")
    ? "write"
    : undefined;
}

/** `order.create`, but not `listOrder`. */
function isChangeAtEnd(value: string, last: string): boolean {
  return /[.:/_-]\w+$/.test(value) && CHANGING.test(last) && !/^(?:order|post|import|book)s?$/.test(last);
}
