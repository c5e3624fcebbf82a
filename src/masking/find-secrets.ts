import { MASK, maskUrl } from "./mask-words.ts";
import { isSecretName, mayBeSecretName, partsOf } from "./secret-names.ts";

/** A part of a text that is secret. */
export interface Span {
  start: number;
  end: number;
}

/** Finds the secrets of one kind in a text. */
export type FindSecrets = (text: string) => Span[];

/**
 * What a pattern finds, without its group `lead`, where that is secret. The pattern is global; the group `name` says what
 * the value is called.
 */
export function secretsBy(
  pattern: RegExp,
  isSecret: (name: string, value: string, found: RegExpExecArray) => boolean,
): FindSecrets {
  return (text) => {
    const spans: Span[] = [];
    // One by one: a large document has very many words.
    for (const found of text.matchAll(pattern)) {
      const { lead = "", name = "" } = found.groups ?? {};
      if (!isSecret(name, found[0].slice(lead.length), found)) continue;
      spans.push({ start: found.index + lead.length, end: found.index + found[0].length });
    }
    return spans;
  };
}

/**
 * Values after names of secrets. `name` is global, with the name in its first group; `value` is sticky. A value is read only
 * where the name is secret, because it may have the next name in it.
 */
function secretsAfter(name: RegExp, value: RegExp, isSecretName: (name: string) => boolean): FindSecrets {
  return (text) => {
    const [names, values] = [new RegExp(name), new RegExp(value)];
    const spans: Span[] = [];
    for (let found = names.exec(text); found; found = names.exec(text)) {
      if (!isSecretName(found[1] ?? "")) continue;
      const start = (values.lastIndex = names.lastIndex);
      if (!values.test(text)) continue;
      names.lastIndex = values.lastIndex;
      spans.push({ start, end: values.lastIndex });
    }
    return spans;
  };
}

/** The text with a mark for each secret. One kind is searched after the other, in what is left by those before. */
export function maskFound(text: string, finders: readonly FindSecrets[], mark: string): string {
  return finders.reduce((shown, find) => replaceSpans(shown, find(shown), mark), text);
}

/** The text with a mark for each of these parts; one for those that overlap. */
export function replaceSpans(text: string, spans: readonly Span[], mark: string): string {
  if (spans.length === 0) return text;
  let shown = "";
  let done = 0;
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    if (start >= done) shown += text.slice(done, start) + mark;
    done = Math.max(done, end);
  }
  return shown + text.slice(done);
}

/** The beginnings of well-known tokens. */
const KNOWN =
  /^(?:bot\d{5,}:|eyJ[\w-]{8,}\.|sk[-_]|pk_|rk_|gh[opsur]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|ya29\.|SG\.|shp(?:at|ss)_|npm_|dop_v1_|Bearer\s|Basic\s)/;
const MIN_KNOWN = 12;

/** Whether a text begins as the tokens of a known service do, and is as long as one. */
export function isKnownToken(text: string): boolean {
  return text.length >= MIN_KNOWN && KNOWN.test(text);
}

/**
 * Whether a value is probably a credential: the token of a known service, or long and random. In a path also a shorter one, as
 * in addresses of webhooks and bots.
 */
export function looksSecret(value: string, where: "anywhere" | "path" = "anywhere"): boolean {
  if (where === "path" && isSecretStep(value)) return true;
  const text = value.trim();
  if (text.includes("{{") || /^<.*>$/.test(text)) return false;
  if (isKnownToken(text)) return true;
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(text)) return false;
  if (/^[0-9a-f]{32,}$/i.test(text)) return true;
  const isRandom = /^[\w+/=.:-]{32,}$/.test(text) && /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
  return isRandom && !text.includes("://");
}

function isSecretStep(text: string): boolean {
  if (/^\w{0,20}:[\w-]{20,}$/.test(text)) return true;
  if (!/^[\w-]{20,}$/.test(text)) return false;
  const changes = text.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])/g) ?? [];
  return /\d/.test(text) && changes.length >= text.length * 0.45;
}

/** With digits, after a word that announces it, or long with mixed letters and digits. */
const CREDENTIAL =
  /(?<lead>\b(?:Bearer|Basic)\s+)(?=[\w.~+/=-]{0,200}\d)[\w.~+/=-]{6,}|(?<![\w-])(?=[\w.-]{0,200}\d)(?=[\w.-]{0,200}[A-Za-z])[\w-]{24,}(?:\.[\w-]+)*/gi;
const WORD = /[^\s"'<>&,;()=]{12,4000}/g;
const NAME = /(?<![\w.-])([\w.-]{1,200})["']?\s*[=:]\s*["']?/g;
const NAMED_VALUE = /(?=[^\s"',;}]{0,200}\d)[^\s"',;}]{6,}/y;

/**
 * Masks what looks like a credential in a text from outside, where hiding too much spoils nothing. `isKnown`: words of that
 * form that are no credentials; it also gets the text before them.
 */
export function maskProse(text: string, isKnown = (_word: string, _before: string) => false): string {
  const isUnknown = (found: RegExpExecArray) =>
    !isKnown(found[0], found.input.slice(Math.max(0, found.index - 40), found.index));
  return maskFound(
    text.replaceAll(/\bhttps?:\/\/[^\s"'<>]+/gi, maskUrl),
    [
      secretsAfter(NAME, NAMED_VALUE, isSecretName),
      secretsBy(CREDENTIAL, (_name, _value, found) => isUnknown(found)),
      secretsBy(WORD, (_name, word, found) => isKnownToken(word) && /\d/.test(word) && isUnknown(found)),
    ],
    MASK,
  );
}

const SHOWN_NAME = /(?<![\w-])([\w-]{1,80})["']?[ \t]{0,4}[=:>][ \t]{0,4}["']?/g;
const SHOWN_VALUE = /[^\s"'<>&,;{}]{1,4000}/y;
/** What stands for a credential in an example. */
export const PLACEHOLDER = "<string>";

/** A text for people or of an unknown format without what is probably a credential. */
export function maskExample(text: string): string {
  return maskFound(
    text,
    [
      secretsBy(/(?<lead>\b(?:bearer|basic|token)[ \t]+)(?=[^\s"'<>]*[\d=_])[^\s"'<>]{6,4000}/gi, () => true),
      // Names that are too short to look for them in other texts; `<token> text` is a placeholder.
      secretsBy(
        /(?<lead><(?:[\w.-]{1,40}:)?(?<name>[\w-]{1,40})>)[^<>]{1,4000}/g,
        (name, _value, { index, input, 0: found }) =>
          mayBeSecretName(name) &&
          partsOf(name).length === 1 &&
          (!isSecretName(name) || input.startsWith("</", index + found.length)),
      ),
      secretsAfter(SHOWN_NAME, SHOWN_VALUE, isSecretName),
      secretsBy(WORD, (_name, word) => looksSecret(word)),
    ],
    PLACEHOLDER,
  );
}
