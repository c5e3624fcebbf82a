import { isRecord } from "../../json/is-record.ts";
import { maskUrl, maskWords } from "../../masking/mask-words.ts";
import { literalSecrets } from "../configure/literal-secrets.ts";

/**
 * A value in an entry that looks like a literal secret, as the end of a sentence; undefined if there is none. Stricter
 * than the advice about one's own entry: such an entry is not copied into another program's file.
 */
export function secretIn(entry: unknown): string | undefined {
  const [literal] = literalSecrets(entry);
  if (literal) return `${literal.where} looks like a secret`;
  if (!isRecord(entry)) return undefined;
  const { command, args, url, env, headers } = entry;
  const words = [command, args].flat().filter((word) => typeof word === "string");
  if (maskWords(words).some((word, index) => word !== words[index] || hasPassword(word))) {
    return "an argument looks like a secret";
  }
  if (typeof url === "string" && maskUrl(url) !== url) return "its URL may contain a key or a password";
  for (const [where, members] of Object.entries({ env, header: headers })) {
    for (const [name, value] of Object.entries(isRecord(members) ? members : {})) {
      if (typeof value === "string" && mayBeSecret(value)) return `${where} ${name} looks like a secret`;
    }
  }
  return undefined;
}

/** An address with a password, a default of a variable, or a random-looking text. */
function mayBeSecret(value: string): boolean {
  if (maskUrl(value) !== value || hasPassword(value)) return true;
  const words = withoutVariables(value).split(/[\s,;]+/);
  return words.some((word) => /^[\w+=.~-]{20,}$/.test(word) && /\d/.test(word) && /[A-Za-z]/.test(word));
}

/** As in URLs of databases. */
function hasPassword(text: string): boolean {
  return /[\w+.-]+:\/\/[^/\s@]*:[^/\s@]+@/.test(withoutVariables(text));
}

function withoutVariables(text: string): string {
  return text.replaceAll(/\$\{[^{}]*\}/g, "");
}
