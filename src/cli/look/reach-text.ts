import { quoteWord } from "../../text/shell-words.ts";
import { maskValue, maskUrl, maskWords, MASK } from "../../masking/mask-words.ts";
import type { WrittenEntry } from "./written-entries.ts";

/** A server's command or URL as written, with unresolved variables and masked secrets. */
export function reachText(entry: WrittenEntry): string | undefined {
  const { command, args, url, api } = entry;
  if (typeof api === "string") return api;
  if (typeof url === "string") return maskUrl(url);
  const words = [command, args].flat().filter((word) => typeof word === "string");
  if (words.length === 0) return undefined;
  return maskWords(words)
    .map((word) => (/\s/.test(word) ? quoteWord(word) : word))
    .join(" ");
}

/** The same for programs, under the key of the entry. Also for an invalid entry. */
export function reachMember(entry: WrittenEntry): { command?: string; url?: string; api?: string } {
  const text = reachText(entry);
  if (text === undefined) return {};
  if (typeof entry["api"] === "string") return { api: text };
  return typeof entry["url"] === "string" ? { url: text } : { command: text };
}

/** `NAME=•••` for each member of `env` or `headers`, whose values may be secret. */
export function maskedMembers(members: unknown, separator: string): string[] {
  if (typeof members !== "object" || members === null) return [];
  return Object.entries(members).map(
    ([name, value]) => `${name}${separator}${typeof value === "string" ? maskValue(value) : MASK}`,
  );
}
